"""``@td.op``: ops of a user's own module run eagerly, traced and folded, and in gradients; what they give and get is kept safe."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import treadle as td
from treadle.declare import HostSpec, Spec
from treadle.errors import DTypeError, InvalidArgumentError, PluginError
from treadle.testing import Checks, check_op

fresh = (f"custom.op{n}" for n in itertools.count())
X = np.float32([[1, 2, 3], [4, 5, 6]])


@td.op
def cubed(x):
    """x to the third."""
    return x**3


@cubed.gradient
def _(ctx, g):
    return g * 3 * td.math.conj(ctx.inputs[0]) ** 2 if g.dtype.is_complex else g * 3 * ctx.inputs[0] ** 2


def test_an_op_in_a_few_lines_keeps_every_promise():
    report = check_op(cubed, X)
    assert report.done["gradient of order 2 is the derivative"]


def test_its_name_is_that_of_module_and_function_and_it_is_an_op_like_others():
    assert cubed.op.name == f"{__name__.rpartition('.')[2]}.cubed"
    assert cubed.__doc__ == "x to the third."
    f = td.function(lambda x: cubed(x) + 1.0)
    assert f(td.constant(2.0)).numpy() == 9.0
    assert cubed.op in [node.op for node in f.get_concrete_function(td.constant(2.0)).atomic.graph.nodes]


def test_it_is_folded():
    calls = []

    @td.op(next(fresh))
    def counted(x):
        calls.append(1)
        return x + 1

    f = td.function(lambda: counted(td.constant([1.0, 2.0])))
    assert f().numpy().tolist() == [2.0, 3.0]
    before = len(calls)
    f()
    assert len(calls) == before


def test_shapes_are_inferred_by_running_where_they_are_known():
    @td.op(next(fresh))
    def halves(x, *, at: int = 1) -> tuple[Spec, Spec]:
        return x[:at], x[at:]

    a, b = halves(td.constant([1, 2, 3]), at=2)
    assert (a.numpy().tolist(), b.numpy().tolist()) == ([1, 2], [3])
    shapes = td.eval_shape(lambda x: halves(x), td.TensorSpec([3], td.float32))
    assert [s.shape.as_list() for s in shapes] == [[1], [2]]
    shapes = td.eval_shape(lambda x: halves(x), td.TensorSpec([None], td.int64))
    assert [(s.shape.rank, s.dtype) for s in shapes] == [(None, td.int64)] * 2
    check_op(halves, np.float32([1, 2, 3]), checks=Checks(shapes=False))


def test_an_elementwise_op_keeps_symbolic_sizes():
    @td.op(next(fresh), elementwise=True)
    def weighted(x, y):
        return x + 2 * y

    spec = td.eval_shape(lambda x, y: weighted(x, y), td.TensorSpec([None, 3], td.float32), td.TensorSpec([3], td.float32))
    assert spec.shape.as_list() == [None, 3]
    check_op(weighted, X, X[0], checks=Checks(dtypes=("int32", "float64")))


def test_an_inference_can_be_given():
    @td.op(next(fresh), infer=lambda x: x)
    def same(x):
        return x * 1

    assert td.eval_shape(lambda x: same(x), td.TensorSpec([None, 3], td.float32)).shape.as_list() == [None, 3]

    @td.op(next(fresh))
    def total(x):
        return x.sum(dtype=x.dtype)

    @total.infer
    def _(x):
        return Spec((), x.dtype)

    assert td.eval_shape(lambda x: total(x), td.TensorSpec(None, td.float32)).shape.as_list() == []
    check_op(total, X, checks=Checks(dtypes=("int32",)))
    check_op(same, np.int32([3, 1]), checks=Checks(dtypes=()))


def test_inputs_can_be_lists_and_host_values():
    @td.op(next(fresh))
    def spread(xs: Sequence[Spec], shape: HostSpec):
        return np.broadcast_to(sum(xs), shape)

    x = td.constant([1.0, 2.0])
    assert spread([x, x], (2, 2)).numpy().tolist() == [[2.0, 4.0]] * 2
    assert td.function(lambda x, s: spread([x, x], s))(x, td.constant([2, 2])).numpy().tolist() == [[2.0, 4.0]] * 2
    check_op(spread, [X[0], X[0]], (2, 3), checks=Checks(dtypes=("float64",)))


def test_what_a_kernel_gives_is_made_into_a_result_of_its_own():
    kept = np.zeros(2, np.float32)

    @td.op(next(fresh), outputs=3)
    def careless(x):
        return kept, x, np.asfortranarray(np.ones((2, 2), np.float32)).T[::-1]

    x = td.constant([1.0, 2.0])
    first = careless(x)
    assert not any(np.shares_memory(first[0]._buffer, other) for other in (kept, careless(x)[0]._buffer))
    assert not np.shares_memory(first[1]._buffer, x._buffer)
    assert first[2]._buffer.flags.c_contiguous


def test_inputs_cannot_be_written():
    @td.op(next(fresh))
    def writes(x):
        x += 1
        return x

    x = td.constant([1.0])
    with pytest.raises(InvalidArgumentError, match="read-only"):
        writes(x)
    assert x.numpy() == [1.0]


def test_a_dtype_that_depends_on_values_is_refused():
    @td.op(next(fresh))
    def whimsical(x):
        return x if x[0] == 1 else x.astype(np.float64)

    assert whimsical(td.constant([1.0])).dtype is td.float32
    with pytest.raises(DTypeError, match=r"float64.*float32"):
        whimsical(td.constant([2.0]))


def test_an_error_of_the_kernel_names_the_op_and_the_inputs():
    @td.op("custom.picky")
    def picky(x):
        if x.ndim and x[0] > 5:
            raise ValueError("too large")
        return x

    with pytest.raises(InvalidArgumentError, match=r"custom\.picky: too large.*float32\[1\]"):
        picky(td.constant([7.0]))
    with pytest.raises(InvalidArgumentError, match=r"custom\.picky.*too large"):
        td.function(lambda x: picky(x))(td.constant([7.0]))


def test_a_kernel_that_fails_for_every_size_asks_for_an_inference():
    @td.op(next(fresh))
    def needs_five(x):
        return x.reshape(5)

    assert needs_five(td.zeros([5])).shape == [5]
    with pytest.raises(InvalidArgumentError, match="give the op an inference"):
        td.eval_shape(lambda x: needs_five(x), td.TensorSpec([None], td.float32))


def test_a_kernel_that_does_not_take_ones_is_tried_on_other_examples():
    @td.op(next(fresh))
    def root(x):
        return np.linalg.cholesky(x)

    assert root(td.constant([[4.0, 0.0], [0.0, 9.0]])).numpy().tolist() == [[2.0, 0.0], [0.0, 3.0]]


def test_a_kernel_may_use_tensors():
    @td.op(next(fresh))
    def roundabout(x):
        return (td.constant(x) * 2.0).numpy()

    x = td.constant([1.0, 2.0])
    assert roundabout(x).numpy().tolist() == [2.0, 4.0]
    assert td.function(lambda x: roundabout(x))(x).numpy().tolist() == [2.0, 4.0]


def test_defining_an_op_again_replaces_it_and_a_plugins_name_is_refused():
    def define(factor):
        @td.op("custom.again")
        def again(x):
            return x * factor

        return again

    define(2)
    assert define(3)(td.constant(1.0)).numpy() == 3.0
    td.add(1, 2)
    with pytest.raises(PluginError, match="core"):
        td.op("add")(lambda x: x)


def test_parameters_that_are_neither_inputs_nor_attributes_are_refused():
    with pytest.raises(PluginError, match="keyword-only"):
        td.op("custom.bad")(lambda x, axis=0: x)
    with pytest.raises(PluginError, match="keyword-only"):
        td.op("custom.bad")(lambda *xs: xs)


def test_an_op_without_a_gradient_gives_none():
    @td.op(next(fresh))
    def plain(x):
        return x * 2

    x = td.constant([1.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = plain(x)
    assert tape.gradient(y, x) is None


def gradient_of(function, x):
    with td.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    ("wrong", "found", "expected"),
    [
        (lambda g: 1.5, r"1\.5 \(float\)", "a tensor, or None"),
        (lambda g: np.ones(2, np.float32), r"ndarray", "a tensor, or None"),
        (lambda g: td.cast(g, td.float64), r"float64 of shape \(2,\)", r"float32 of shape \(2,\)"),
        (lambda g: td.ones([3]), r"float32 of shape \(3,\)", r"float32 of shape \(2,\)"),
    ],
    ids=["float", "array", "dtype", "shape"],
)
@pytest.mark.parametrize("traced", [False, True])
def test_a_gradient_that_does_not_fit_its_input_is_refused(wrong, found, expected, traced):
    @td.op(name=next(fresh), gradient=lambda ctx, g: wrong(g))
    def halved(x):
        return x / 2

    call = td.function(halved) if traced else halved
    with pytest.raises(PluginError, match=rf"the gradient of op .* gives .*{found}.* for input 0; expected {expected}"):
        gradient_of(call, td.constant([1.0, 2.0]))
