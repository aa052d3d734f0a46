"""Every recorded call with one argument made bad: eagerly and traced the same is refused, by an error of ours that names the function or its op."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import check
import numpy as np
import pytest

import treadle as td
from treadle.plugins import host
from treadle.registry import registry

INDEX, FILES = check.load(Path(__file__).parent)
WHOLE_PROGRAMS = ("operator", "map_fn", "scan", "fold", "vectorized", "while_loop", "cond", "case", "switch_case")
"""Beginnings of names whose arguments are functions, or that are no function of ours."""

NAMELESS = {
    "constant": "its messages are TensorFlow's",
    "convert_to_tensor": "its messages are TensorFlow's",
    "nn.compute_average_loss": "an assertion with a message of its own",
}
DTYPES = ("bool", "int32", "float64", "complex64")


def first_cases():
    """A recorded call of each op that works and gives tensors."""
    found = {}
    for case in INDEX["cases"]:
        works = not (case["raises"] or case["raises_traced"] or case.get("eager_only"))
        if works and case["group"] != "control" and not case["op"].startswith(WHOLE_PROGRAMS):
            found.setdefault(case["op"], case)
    return found


host.load_ops()
CASES = first_cases()
NAMES = {path.rpartition(".")[2] for path in (*registry.ops, *registry.names)}


def bad_arrays(a):
    """Other ranks, dtypes and sizes, indices out of range, and what is no tensor."""
    yield a.reshape(-1)[0] if a.size else np.zeros((), a.dtype)
    yield a[None]
    for dtype in DTYPES:
        if a.dtype.name != dtype:
            yield (a.real if a.dtype.kind == "c" else a).astype(dtype)
    if a.ndim:
        yield from (a[:0], a[..., :0], np.concatenate([a, a], 0), np.concatenate([a, a], -1))
    if a.dtype.kind == "i":
        yield from (a + np.array(99, a.dtype), a - np.array(99, a.dtype))
    yield from (None, "bogus", object())


def bad_values(value):
    """What a Python argument may be given instead."""
    if isinstance(value, np.ndarray):
        yield from bad_arrays(value)
    elif isinstance(value, bool):
        yield "bogus"
    elif isinstance(value, int):
        yield from (-7, 99, 2.5, "x", [value], None)
    elif isinstance(value, float):
        yield from ("x", [value, value], None, -7.5, float("nan"))
    elif isinstance(value, str):
        yield from ("bogus", None, 7)
    elif isinstance(value, list | tuple):
        kind = type(value)
        yield from (kind(), kind(value[:-1]), kind([*value, *(value[-1:] or [1])]), None, "bogus")
        for i, item in enumerate(value):
            for other in bad_values(item):
                yield kind([*value[:i], other, *value[i + 1 :]])


def as_tensors(value):
    """The arrays of an argument as tensors."""
    if isinstance(value, np.ndarray | np.generic):
        return td.constant(value)
    return type(value)(map(as_tensors, value)) if type(value) in (list, tuple) else value


def bad_calls(case):
    """The arguments of a case with one of them made bad, and which and how."""
    inputs = [check.from_stored(FILES[case["group"]][f"{case['id']}/in{i}"], d) for i, d in enumerate(case["in_dtypes"])]
    args = check.decode(td, case["args"], inputs, inputs)
    kwargs = {k: check.decode(td, v, inputs, inputs) for k, v in case["kwargs"].items()}
    for slot in [*range(len(args)), *kwargs]:
        value = args[slot] if isinstance(slot, int) else kwargs[slot]
        for other in bad_values(value):
            changed = [other if slot == i else a for i, a in enumerate(args)], {k: other if slot == k else v for k, v in kwargs.items()}
            try:
                yield f"argument {slot} = {other!r}", as_tensors(changed[0]), {k: as_tensors(v) for k, v in changed[1].items()}, inputs
            except (TypeError, ValueError):  # no tensor can be made of it, so the call would not be reached
                continue


def outcome(function, *tensors):
    """What a call raises; None if nothing."""
    try:
        function(*tensors)
    except Exception as error:
        return error
    return None


def both_ways(case, args, kwargs, inputs):
    """What a call raises eagerly, and in a trace that does not know sizes."""
    target = check.resolve(td, case["op"])

    def call(*tensors):
        given = iter(tensors)
        result = target(
            *[next(given) if isinstance(a, td.Tensor) else a for a in args],
            **{k: next(given) if isinstance(v, td.Tensor) else v for k, v in kwargs.items()},
        )
        if "then" in case:
            result = result(*check.decode(td, case["then"], [td.constant(x) for x in inputs], inputs))
        return [leaf for leaf in check.leaves(result) if isinstance(leaf, td.Tensor)]

    tensors = [a for a in [*args, *kwargs.values()] if isinstance(a, td.Tensor)]
    signature = [td.TensorSpec([None] * t.shape.rank, t.dtype) for t in tensors]
    return outcome(call, *tensors), outcome(td.function(call, input_signature=signature, autograph=False), *tensors)


def is_ours(error):
    """A class of treadle's, or a TypeError or ValueError that it raises itself."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    raises = "treadle" in last.filename and "raise" in (last.line or "")
    return type(error).__module__.startswith("treadle") or (isinstance(error, TypeError | ValueError) and raises)


def is_named(op, error):
    """Whether the message names the function, or an op or another function that it calls."""
    text = str(error)
    first = re.match(r"[\w.]*", text)[0]
    return op.rpartition(".")[2] in text or "in op '" in text or first.rpartition(".")[2] in NAMES


@pytest.fixture
def whole_tracebacks():
    """``is_ours`` looks at the line that raises."""
    td.debugging.disable_traceback_filtering()
    yield
    td.debugging.enable_traceback_filtering()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("whole_tracebacks")
@pytest.mark.parametrize("op", CASES)
def test_bad_arguments_are_refused_alike_and_by_name(op):
    problems = []
    with np.errstate(all="ignore"):
        for what, args, kwargs, inputs in bad_calls(CASES[op]):
            eager, traced = both_ways(CASES[op], args, kwargs, inputs)
            for way, error in (("eagerly", eager), ("traced", traced)):
                if error is not None and not (is_ours(error) and (op in NAMELESS or is_named(op, error))):
                    problems.append(f"{what}, {way}: {type(error).__name__}: {str(error)[:200]}")
            if (eager is None) != (traced is None) and "not known while tracing" not in str(traced):
                problems.append(f"{what}: eagerly {eager!r}, traced {traced!r}")
    assert not problems, "\n".join(problems)
