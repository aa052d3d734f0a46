"""Train a small network to tell two interleaved spirals apart, with the training step traced by ``td.function``.

Remove the decorator and the program does the same, only slower: the traced step runs the same ops on the same numbers.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

import treadle as td

HIDDEN = 32
BATCH = 64


def make_spirals(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of two spirals, and which of them each belongs to."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 2, count).astype(np.int32)
    angle = rng.uniform(0.3, 1.0, count) * 2.5 * np.pi
    radius = angle / (2.5 * np.pi)
    turned = angle + np.pi * which
    points = np.stack([radius * np.cos(turned), radius * np.sin(turned)], axis=1) + rng.normal(0, 0.02, (count, 2))
    return points.astype(np.float32), which


class Classifier(td.Module):
    """2 coordinates -> two hidden layers -> 2 spirals."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)
        sizes = [2, HIDDEN, HIDDEN, 2]
        self.weights = [td.Variable(rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32)) for a, b in pairwise(sizes)]
        self.biases = [td.Variable(np.zeros(b, np.float32)) for b in sizes[1:]]

    def logits(self, points: td.Tensor) -> td.Tensor:
        """How much each point looks like each spiral."""
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            points = points @ weight + bias
            if i < last:  # a Python number decides this, so the trace has the layers one after the other and no branch
                points = td.tanh(points)
        return points


class Trainer:
    """Stochastic gradient descent with momentum."""

    def __init__(self, model: Classifier, rate: float = 0.1, momentum: float = 0.9) -> None:
        self.model = model
        self.rate, self.momentum = rate, momentum
        self.velocities = [td.Variable(td.zeros_like(v), trainable=False) for v in model.trainable_variables]

    @td.function
    def step(self, points: td.Tensor, which: td.Tensor) -> td.Tensor:
        """Learn from one batch; the loss on it."""
        variables = self.model.trainable_variables
        with td.GradientTape() as tape:
            losses = td.nn.sparse_softmax_cross_entropy_with_logits(labels=which, logits=self.model.logits(points))
            loss = td.reduce_mean(losses)
        for variable, velocity, gradient in zip(variables, self.velocities, tape.gradient(loss, variables), strict=True):
            velocity.assign(self.momentum * velocity - self.rate * gradient)
            variable.assign_add(velocity)
        return loss


def accuracy(model: Classifier, points: np.ndarray, which: np.ndarray) -> float:
    """The share of the points that are told right."""
    return float(np.mean(model.logits(td.constant(points)).numpy().argmax(axis=1) == which))


def main() -> None:
    """Train, and print how well points are told that the model has not seen."""
    points, which = make_spirals(2048, seed=1)
    unseen = make_spirals(512, seed=2)
    model = Classifier(seed=0)
    trainer = Trainer(model)
    rng = np.random.default_rng(3)
    start = time.perf_counter()
    for epoch in range(1, 31):
        loss = td.constant(0.0)
        for rows in rng.permutation(len(which)).reshape(-1, BATCH):
            loss = trainer.step(td.constant(points[rows]), td.constant(which[rows]))
        if epoch % 10 == 0:
            print(f"epoch {epoch:3}: loss {float(loss):.4f}, accuracy on unseen points {accuracy(model, *unseen):.1%}")
    print(f"{time.perf_counter() - start:.1f} s; the step was traced {trainer.step.experimental_get_tracing_count()} time(s)")
    assert accuracy(model, *unseen) > 0.95


if __name__ == "__main__":
    main()
