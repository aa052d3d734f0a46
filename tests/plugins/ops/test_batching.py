"""Every op of the plugin ``core`` gives under vectorized_map what it gives for each element alone; which ops have no batching rule is known."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle.contracts.batching import rule_of
from treadle.declare import batching
from treadle.errors import PluginError
from treadle.plugins import host
from treadle.registry import registry
from treadle.testing.samples import case_of
from treadle_ops import batching as _rules  # noqa: F401 - declares the rules


def _load(name):
    spec = importlib.util.spec_from_file_location(f"treadle_batching_test_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


host.load_ops()
SAMPLES = _load("samples")
OPS = sorted(name for name, entry in registry.ops.items() if entry.plugin == "core")
TRIED = [name for name in OPS if not name.startswith(SAMPLES.LISTS) and registry.op(name).effect in ("pure", "writes")]
COUNT = 3

WITHOUT_RULE = {
    "sizes of results depend on values": "dynamic_partition dynamic_partition_grad dynamic_stitch nonzero unique unique_with_counts class_count",
    "axes or ranks are known only when the graph runs": "axes_of_rows axis_from_back axis_from_front axis_to_back "
    "axis_to_front image_batch rows_of_axes transpose_back transpose_by without_batch",
    "parts of ops on segments, counts and boxes": "box_batches confusion_places continues_segment known_places mean_of_segment_ties "
    "non_max_suppression_overlaps share_among_segment_ties",
    "one matrix, vector or state at a time": "dilation2d_backprop_filter eigh_tridiagonal eigvalsh_tridiagonal equal_or_false generator_key "
    "generator_skip invert_permutation is_non_decreasing is_strictly_increasing not_equal_or_true",
    "only host inputs, which all elements share": "broadcast_dynamic_shape cosine_scales eye mel_weights ones raised_cosine_window range "
    "reduced_shape spectrum_weights window_positions zeros",
    "effects in the order of a loop": "assert_rank assert_shapes numpy_function print py_function py_function_gradient random_key",
    "lists of tensors of different sizes": "tensor_list_concat tensor_list_reserve tensor_list_split",
}
"""Ops that have no rule, and why; they run once per element where elements differ."""


def leaves(result):
    """Results in a flat list."""
    return [] if result is None else [leaf for item in result for leaf in leaves(item)] if isinstance(result, list | tuple) else [result]


def variants(array):
    """An array for each element; floats differ."""
    scale = array.dtype.type(0.9) if array.dtype.kind in "fc" else None
    return np.stack([array, array if scale is None else (array * scale).astype(array.dtype), array])


def program_of(case, chosen):
    """The op as a function of the inputs that are ``chosen``, the others being constants."""

    def program(row):
        inputs = [list(given) if isinstance(given, list) else given for given in case.inputs]
        for (i, j), tensor in zip(chosen, row, strict=True):
            if j is None:
                inputs[i] = tensor
            else:
                inputs[i][j] = tensor
        return leaves(case.op.entry(*inputs, **case.attrs)) or [row[0]]

    return program


def choices(case):
    """Which inputs differ between elements: all, or one alone."""
    slots = [
        (i, j)
        for i, (declared, given) in enumerate(zip(case.op.inputs, case.inputs, strict=True))
        if declared.kind != "host"
        for j in (range(len(given)) if isinstance(given, list) else [None])
    ]
    return [slots, *([slot] for slot in slots if len(slots) > 1)] if slots else []


@pytest.mark.parametrize("name", TRIED)
def test_an_op_gives_the_same_for_all_elements_as_for_each(name):
    for given in SAMPLES.samples_of(name):
        case = case_of(registry.op(name), given)
        for chosen in choices(case):
            rows = [variants(np.asarray(case.inputs[i] if j is None else case.inputs[i][j])) for i, j in chosen]
            program = program_of(case, chosen)
            try:
                alone = [[np.asarray(t) for t in program([td.constant(row[n]) for row in rows])] for n in range(COUNT)]
            except (ValueError, TypeError):
                continue  # what is smaller by a tenth is refused
            if any(a.shape != b.shape for results in alone for a, b in zip(results, alone[0], strict=True)):
                continue  # such results cannot be stacked
            check(program, rows, [np.stack(column) for column in zip(*alone, strict=True)], f"{case}, differing: {chosen}")


def check(program, rows, want, what):
    def run(*elems):
        return td.vectorized_map(program, list(elems), warn=False)

    unknown = [td.TensorSpec([None] * row.ndim, td.constant(row).dtype) for row in rows]
    for way in (run, td.function(run, autograph=False), td.function(run, input_signature=unknown, autograph=False)):
        for got, expected in zip(way(*map(td.constant, rows)), want, strict=True):
            assert got.dtype == expected.dtype, what
            if expected.dtype.kind in "biu":
                np.testing.assert_array_equal(got, expected, err_msg=what, strict=True)
            else:
                wide = np.complex128 if expected.dtype.kind == "c" else np.float64
                np.testing.assert_allclose(np.asarray(got).astype(wide), expected.astype(wide), rtol=2e-5, atol=1e-6, err_msg=what, strict=True)


def test_every_op_has_a_rule_or_a_reason():
    without = {name for name in OPS if rule_of(registry.op(name)) is None and not registry.op(name).elementwise}
    assert without == {name for names in WITHOUT_RULE.values() for name in names.split()}


def test_rules_are_of_ops_that_exist():
    from treadle.contracts import batching as rules

    assert set(rules._by_name) <= set(OPS)


# ---------------------------------------------------------------------- rules of others


@td.op
def doubled_rows(x):
    return x + x[::-1]


@td.op
def ended(x, *, ends: int):
    return x[..., :ends]


def test_an_op_of_others_brings_its_own_rule():
    assert rule_of(doubled_rows.op) is None

    @batching(ended)
    def _(op, x, *, ends):
        assert x.is_batched and x.rank == 1 and x.count == 2
        return op(x.batched(), ends=ends)

    x = td.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    got = td.vectorized_map(lambda row: ended(row, ends=2) + 1.0, x, fallback_to_while_loop=False)
    assert got.numpy().tolist() == [[2, 3], [5, 6]]
    with pytest.raises(PluginError, match="already has a batching rule"):
        batching(ended)(lambda op, x, *, ends: NotImplemented)
    with pytest.raises(PluginError, match="already has a batching rule"):
        batching("matmul")(lambda op, a, b: NotImplemented)
