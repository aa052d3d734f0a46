"""``treadle demo``: one training step of a small network on real handwritten digits, run eagerly and traced, and what the difference is.

Both runs start from the same weights and see the same batches, so they end with the same weights to the last bit. No network is needed
but the one that is trained.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

import treadle as td
from treadle import devices
from treadle.contracts.passes import PassReport
from treadle.errors import DeviceError
from treadle_cli.console import console, duration, plain, plural, rewrites_text, table
from treadle_cli.failures import CommandError

SEED = 1998
HELD_OUT = 360
HIDDEN = 64
BATCH = 32
EPOCHS = 50
LEARNING_RATE = 0.05
MOMENTUM = 0.9
ENOUGH = 0.95
"""The held-out accuracy below which something is wrong."""

NUMBERS = ("held-out accuracy", "last loss", "first step", "steps/s", "steps", "traces")
SOURCE = "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository, CC BY 4.0"


class Digits(NamedTuple):
    """Images as rows of 64 numbers with mean 0, and what they show."""

    images: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    held_out_images: np.ndarray[Any, Any]
    held_out_labels: np.ndarray[Any, Any]


def load_digits() -> Digits:
    """The digits in an order of their own, normalised by the mean and deviation of those to learn from."""
    with resources.files("treadle_cli").joinpath("digits.npz").open("rb") as file, np.load(file) as stored:
        pixels, labels = stored["pixels"], stored["labels"]
    order = np.random.default_rng(SEED).permutation(len(labels))
    images, labels = pixels.reshape(-1, 64)[order].astype(np.float32), labels[order].astype(np.int32)
    known = images[HELD_OUT:]
    images = (images - known.mean(axis=0)) / (known.std(axis=0) + 1)  # some pixels are 0 in every image
    return Digits(images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT])


def require_plugins() -> None:
    """See that ops and a device are there, before anything is shown.

    Raises:
        CommandError: they are not; the message says why and what to install.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.plugins.PluginWarning)
        record = td.plugins.host.load_ops()
        if record is None or not record.loaded:
            why = td.plugins.host.failures("treadle.ops") or "No plugin 'core' is installed."
            raise CommandError(f"the demo needs the ops of treadle-ops (`pip install treadle-ops`). {why}")
        try:
            devices.default()
        except DeviceError as error:
            raise CommandError(f"the demo needs a device, such as that of treadle-cpu (`pip install treadle-cpu`): {error}") from None


class Network:
    """64 pixels -> hidden relu units -> 10 digits, with stochastic gradient descent and momentum."""

    def __init__(self) -> None:
        rng = np.random.default_rng(SEED)

        def weights(inputs: int, outputs: int) -> Any:
            return td.Variable((rng.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)).astype(np.float32))

        self.w1, self.b1 = weights(64, HIDDEN), td.Variable(np.zeros(HIDDEN, np.float32))
        self.w2, self.b2 = weights(HIDDEN, 10), td.Variable(np.zeros(10, np.float32))
        self.parameters = [self.w1, self.b1, self.w2, self.b2]
        self.velocities = [td.Variable(np.zeros(p.shape, np.float32), trainable=False) for p in self.parameters]

    def logits(self, images: Any) -> Any:
        """How much each image looks like each digit."""
        hidden = td.nn.relu(images @ self.w1 + self.b1)
        return hidden @ self.w2 + self.b2

    def step(self, images: Any, labels: Any) -> Any:
        """Learn from one batch; the loss on it."""
        with td.GradientTape() as tape:
            losses = td.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self.logits(images))
            loss = td.reduce_mean(losses)
        gradients = tape.gradient(loss, self.parameters)
        for parameter, velocity, gradient in zip(self.parameters, self.velocities, gradients, strict=True):
            velocity.assign(MOMENTUM * velocity - LEARNING_RATE * gradient)
            parameter.assign_add(velocity)
        return loss

    def accuracy(self, images: Any, labels: Any) -> float:
        """The share of the images that are read correctly."""
        return float(np.mean(self.logits(td.constant(images)).numpy().argmax(axis=1) == labels))


class Run(NamedTuple):
    """How one way of running the step went."""

    name: str
    network: Network
    steps: int
    seconds: float
    first: float
    """Seconds of the first step, which are not among ``seconds``: a traced one is traced, optimised and compiled then."""
    accuracy: float
    loss: float

    @property
    def rate(self) -> float:
        """Steps per second, the first one left out."""
        return (self.steps - 1) / self.seconds


def train(name: str, network: Network, step: Any, digits: Digits, progress: Progress) -> Run:
    """Run ``step`` over all batches of all epochs; only the steps are timed."""
    rng = np.random.default_rng(SEED)
    bar = progress.add_task(name, total=EPOCHS, rate="")
    times: list[float] = []
    loss: Any = None
    for epoch in range(1, EPOCHS + 1):
        order = rng.permutation(len(digits.labels))
        batches = [
            (td.constant(digits.images[rows]), td.constant(digits.labels[rows]))
            for rows in (order[i : i + BATCH] for i in range(0, len(order) - BATCH + 1, BATCH))
        ]
        if epoch == 1:
            start = time.perf_counter()
            loss = step(*batches.pop(0))
            first = time.perf_counter() - start
            steps = 1
        start = time.perf_counter()
        for images, labels in batches:
            loss = step(images, labels)
        times.append(time.perf_counter() - start)
        steps += len(batches)
        progress.update(bar, advance=1, rate=f"{(steps - 1) / sum(times):,.0f} steps/s", refresh=True)
    return Run(name, network, steps, sum(times), first, network.accuracy(digits.held_out_images, digits.held_out_labels), float(loss))


def show() -> int:
    """Train twice and compare; the exit code is 0 if both runs learned, and the same."""
    require_plugins()
    out = console()
    digits = load_digits()
    count = len(digits.labels)
    out.print(plain(f"{count + HELD_OUT:,} handwritten digits of 8 x 8 pixels: {count:,} to learn from, {HELD_OUT} held out", "bold"))
    out.print(plain(SOURCE, "dim"))
    out.print(plain(f"A network of 64 pixels, {HIDDEN} hidden units and 10 digits; {EPOCHS} epochs in batches of {BATCH}, momentum {MOMENTUM}"))
    out.print()
    head, rate = TextColumn("{task.description:<7}"), TextColumn("{task.fields[rate]:>16}")
    with Progress(head, BarColumn(bar_width=None), MofNCompleteColumn(), TextColumn("epochs"), rate, console=out, auto_refresh=False) as progress:
        network = Network()
        eager = train("eager", network, network.step, digits, progress)
        network = Network()
        step = td.function(network.step)
        traced = train("traced", network, step, digits, progress)
    rows = table("", *NUMBERS, right=NUMBERS)
    for run, traces in ((eager, "-"), (traced, str(step.experimental_get_tracing_count()))):
        rows.add_row(run.name, f"{run.accuracy:.1%}", f"{run.loss:.6f}", duration(run.first), f"{run.rate:,.0f}", f"{run.steps:,}", traces)
    out.print(rows)
    is_same = all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(eager.network.parameters, traced.network.parameters, strict=True))
    is_good = is_same and eager.accuracy == traced.accuracy and traced.accuracy >= ENOUGH
    out.print(plain(f"The traced step is {traced.rate / eager.rate:.1f} times as fast, ", "bold") + _verdict(is_same))
    if not is_good and is_same:
        out.print(plain(f"The accuracy should have been {ENOUGH:.0%} or more: something is wrong.", "bold red"))
    print_reports(out, step)
    return 0 if is_good else 1


def _verdict(is_same: bool) -> Any:
    if is_same:
        return plain("and both runs end with the same weights, bit for bit.", "bold")
    return plain("but the two runs end with different weights: something is wrong.", "bold red")


def print_reports(out: Console, step: Any) -> None:
    """What each pass did to the step's graph."""
    (concrete,) = step.concrete_functions()
    reports: list[PassReport] = concrete.atomic.executable().reports
    out.print()
    out.print(plain("What the optimizer did to the step", "bold"))
    rows = table("pass", "runs", "nodes", "time", "rewrites by rule~", right=("runs", "nodes", "time"))
    for name in dict.fromkeys(report.name for report in reports):
        mine = [report for report in reports if report.name == name]
        rules = sum((Counter(report.rewrites) for report in mine), Counter[str]())
        nodes = sum(report.nodes_after - report.nodes_before for report in mine)
        times = duration(sum(report.seconds for report in mine))
        rows.add_row(plain(name), str(len(mine)), f"{nodes:+d}" if nodes else "-", times, plain(rewrites_text(rules)))
    out.print(rows)
    if reports:
        rounds = plural(max(report.round for report in reports), "round")
        out.print(plain(f"{reports[0].nodes_before} nodes became {reports[-1].nodes_after} in {rounds}. More: treadle explain FILE.py:FUNCTION"))
    else:
        out.print(plain("No pass is scheduled: `treadle passes` shows the schedule in force."))
