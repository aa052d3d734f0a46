#!/usr/bin/env python
"""Check treadle on a real card: golden vectors against the CPU, timings and memory figures. Installs nothing.

    python tests/plugins_gpu/run_on_card.py [--device /GPU:0] [--per-op N] [--traced] [--repeat N] [--json FILE]

Exit status: 0 if all agrees, 1 if something does not, 2 if there is no card to run on.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import itertools
import json
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden"
REFUSED = ("bfloat16",)
"""Dtypes that CuPy lacks; a case that has one must be refused by name."""

WITHOUT_KERNEL = {"dawsn", "eig", "eigvals", "fresnel_cos", "fresnel_sin", "igamma_derivative", "logm", "spence", "sqrtm"}
"""Ops that have no kernel on a GPU (``eig`` and ``eigvals``: before CuPy 14)."""


def golden() -> Any:
    """The checker of the golden vectors."""
    if "treadle_golden_check" not in sys.modules:
        spec = importlib.util.spec_from_file_location("treadle_golden_check", GOLDEN / "check.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["treadle_golden_check"]


def sampled(cases: list[Any], per_op: int) -> list[Any]:
    """The first and last cases of each op, so many; 0 for all."""
    by_op = collections.defaultdict(list)
    for case in cases:
        by_op[case["op"]].append(case)
    return [case for group in by_op.values() for case in (group if not per_op or len(group) <= per_op else [*group[: per_op - 1], group[-1]])]


def compare(td: Any, device: str, per_op: int = 0, traced: bool = False) -> dict[str, list[str]]:
    """Cases that the CPU passes, on a device: outcome to lines. Outcomes: passed, refused (a dtype), without kernel, wrong."""
    check = golden()
    index, files = check.load(GOLDEN)
    found: dict[str, list[str]] = {"passed": [], "refused": [], "without kernel": [], "wrong": []}
    with ExitStack() as opened:
        for file in files.values():
            opened.enter_context(file)
        for case in sampled(index["cases"], per_op):
            if traced and case.get("eager_only"):
                continue
            arrays = files[case["group"]]
            if check.check_case(td, index, case, arrays, traced)[0] != "passed":
                continue  # for the tests of the CPU to tell
            with td.device(device):
                status, detail = check.check_case(td, index, case, arrays, traced)
            line = case["id"] if status == "passed" else f"{case['id']}: {detail}"
            found[outcome(status, detail)].append(line)
    return found


def outcome(status: str, detail: str) -> str:
    """What a case came to."""
    if status == "passed":
        return "passed"
    if any(f"has no {dtype}: CuPy" in detail for dtype in REFUSED):
        return "refused"
    if "KernelNotFoundError" in detail and any(f"no kernel for op '{op}' on" in detail for op in WITHOUT_KERNEL):
        return "without kernel"
    return "wrong"


# ---------------------------------------------------------------------- timings


def programs(td: Any) -> dict[str, Any]:
    """What is timed, made inside a device scope: name to a function without arguments."""
    rng = np.random.default_rng(1)
    big = [td.constant(rng.standard_normal(1_000_000), td.float32) for _ in range(2)]
    square = [td.constant(rng.standard_normal((1024, 1024)), td.float32) for _ in range(2)]
    return {"add 1M": lambda: td.add(*big), "matmul 1024": lambda: td.matmul(*square), "MLP step": mlp_step(td)}


def mlp_step(td: Any, sizes: tuple[int, ...] = (784, 256, 10), batch: int = 128) -> Any:
    """A traced training step of a small network; it gives the loss."""
    rng = np.random.default_rng(2)
    weights = [td.Variable((rng.standard_normal((a, b)) / a**0.5).astype("float32")) for a, b in itertools.pairwise(sizes)]
    biases = [td.Variable(td.zeros([b])) for b in sizes[1:]]
    x = td.constant(rng.standard_normal((batch, sizes[0])), td.float32)
    labels = td.constant(rng.integers(0, sizes[-1], batch), td.int32)

    def step(x: Any, labels: Any) -> Any:
        with td.GradientTape() as tape:
            h = x
            for w, b in zip(weights[:-1], biases[:-1], strict=True):
                h = td.nn.relu(td.matmul(h, w) + b)
            logits = td.matmul(h, weights[-1]) + biases[-1]
            loss = td.reduce_mean(td.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        for v, g in zip([*weights, *biases], tape.gradient(loss, [*weights, *biases]), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    traced = td.function(step, autograph=False)
    return lambda: traced(x, labels)


def event_times(device: Any, run: Any, repeat: int) -> tuple[float, float]:
    """Median milliseconds of a call by the card's events, and by the host's clock with a wait at the end."""
    import cupy

    run()
    device.synchronize()
    on_card, on_host = [], []
    for _ in range(repeat):
        with device.active():
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(device.stream)
        began = time.perf_counter()
        run()
        with device.active():
            end.record(device.stream)
            end.synchronize()
            on_card.append(cupy.cuda.get_elapsed_time(start, end))
        on_host.append((time.perf_counter() - began) * 1000)
    return statistics.median(on_card), statistics.median(on_host)


def host_time(run: Any, repeat: int) -> float:
    """Median milliseconds of a call on the CPU."""
    run()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        run()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def memory(td: Any, device: Any) -> dict[str, int]:
    """Bytes in use before, with and after a tensor of 4 MB, and at the highest."""
    import gc

    gc.collect()
    device.reset_memory_stats()
    before = device.memory_info().current
    with td.device(device.name):
        tensor = td.zeros([1024, 1024])
    held = device.memory_info().current
    del tensor
    gc.collect()
    return {"before": before, "held": held, "after": device.memory_info().current, "peak": device.memory_info().peak}


# ---------------------------------------------------------------------- the command


def main(argv: list[str] | None = None) -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="/GPU:0")
    parser.add_argument("--per-op", type=int, default=0, help="golden cases per op; 0 for all")
    parser.add_argument("--traced", action="store_true", help="the cases inside td.function too")
    parser.add_argument("--repeat", type=int, default=50, help="calls per timing")
    parser.add_argument("--json", help="write the findings to this file")
    args = parser.parse_args(argv)
    np.seterr(all="ignore")

    import treadle as td
    from treadle import devices
    from treadle_cuda.device import GpuDevice

    available = GpuDevice.probe()
    print(f"probe: {available.count} card(s) {available.reason}")
    if not available.count:
        return 2
    device = devices.find(args.device)
    print(f"{device.name}: {device.details()}")
    report: dict[str, Any] = {"device": device.details(), "cases": {}, "milliseconds": {}}
    ok = True
    for traced in (False, True)[: 1 + args.traced]:
        mode, began = "traced" if traced else "eager", time.perf_counter()
        found = compare(td, device.name, args.per_op, traced)
        counts = report["cases"][mode] = {name: len(lines) for name, lines in found.items()}
        print(f"golden vectors, {mode}: {counts} in {time.perf_counter() - began:.1f} s")
        for line in found["wrong"]:
            print(f"  WRONG {line}")
        ok = ok and bool(found["passed"]) and not found["wrong"]

    print(f"{'':14s}{'card, ms':>10s}{'with host':>11s}{'CPU':>10s}")
    for name in programs_of(td, "/CPU:0"):
        with td.device(device.name):
            card, host = event_times(device, programs_of(td, device.name)[name], args.repeat)
        with td.device("/CPU:0"):
            cpu = host_time(programs_of(td, "/CPU:0")[name], args.repeat)
        report["milliseconds"][name] = {"card": card, "with host": host, "cpu": cpu}
        print(f"{name:14s}{card:10.3f}{host:11.3f}{cpu:10.3f}")

    figures = report["memory"] = memory(td, device)
    print(f"memory in bytes: {figures}")
    if figures["held"] - figures["before"] < 4 << 20 or figures["after"] > figures["before"] or figures["peak"] < figures["held"]:
        print("  WRONG these figures do not fit a tensor of 4 MB that was made and dropped")
        ok = False
    if args.json:
        Path(args.json).write_text(json.dumps(report, indent=1))
    print("all agrees" if ok else "NOT all agrees")
    return 0 if ok else 1


_programs: dict[str, dict[str, Any]] = {}


def programs_of(td: Any, device: str) -> dict[str, Any]:
    """The programs with their inputs on a device, made once."""
    if device not in _programs:
        with td.device(device):
            _programs[device] = programs(td)
    return _programs[device]


if __name__ == "__main__":
    sys.exit(main())
