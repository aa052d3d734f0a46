"""vectorized_map: whole programs on all elements at once give what they give for each element, with their gradients."""

from __future__ import annotations

import logging
import time

import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops import vectorization

RNG = np.random.default_rng(3)
X = RNG.standard_normal((4, 3))
Y = RNG.standard_normal((4, 3))
W = td.constant(RNG.standard_normal((3, 5)))
V = td.Variable(RNG.standard_normal(3))
PLACES = np.array([0, 2, 1, -1], np.int32)
IMAGES = RNG.standard_normal((4, 1, 6, 6, 2))
FILTERS = td.constant(RNG.standard_normal((3, 3, 2, 4)))

# ---------------------------------------------------------------------- programs


def gradient_of(fn, source=None):
    """Per element the gradient of the sum of squares of what a function gives, with respect to the element or to ``source``."""

    def program(x):
        of = x if source is None else source
        with td.GradientTape() as tape:
            tape.watch(of)
            y = td.reduce_sum(fn(x) ** 2)
        return tape.gradient(y, of)

    return program


def dense(x):
    return td.tanh(td.linalg.matvec(W, x, transpose_a=True) + 0.5)


def network(x):
    hidden = td.nn.relu(td.nn.conv2d(x, FILTERS, 1, "SAME"))
    return td.nn.softmax(td.reshape(td.nn.max_pool2d(hidden, 2, 2, "VALID"), [-1]))


def shared_branch(x):
    return td.cond(td.reduce_sum(W) > 0, lambda: x * 2.0, lambda: td.sin(x))


def own_branch(x):
    return td.cond(x[0] > 0, lambda: td.exp(x) * W[0, 0], lambda: td.sin(x))


def one_sided_branch(x):
    return td.cond(x[0] > 1e9, lambda: td.exp(x), lambda: td.sin(x))


def shared_loop(x):
    return td.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, td.sin(a) * x), (0, x))[1]


def own_loop(x):
    return td.while_loop(lambda i, a: td.reduce_sum(a) < 3.0, lambda i, a: (i + 1, td.abs(a) + td.abs(x) + 0.1), (0, x))


def array_of_both(x):
    array = td.TensorArray(td.float64, size=3)
    return array.write(0, W[0, 0]).write(1, x[1]).write(2, x[0]).stack()


def scanned(x):
    return td.scan(lambda a, e: td.sin(a) * e, x)


def mapped(x):
    return td.map_fn(lambda e: td.sin(e) * td.reduce_sum(x), x)


def nested(x):
    return td.vectorized_map(lambda e: td.sin(e) * td.reduce_sum(x) + e * W[0, 0], x)


@td.custom_gradient
def own_gradient(x, w):
    return x * w, lambda g: (g * w * 5.0, td.reduce_sum(g * x) * 3.0)


@td.function
def function(x):
    return td.cond(td.reduce_sum(x) > 0, lambda: x * x, lambda: -x) * V[0]


def python_branch(x):
    if td.reduce_sum(x) > 0:
        return x * 2.0
    return x - 1.0


def second_derivatives(x):
    with td.GradientTape() as outer:
        outer.watch(x)
        with td.GradientTape() as inner:
            inner.watch(x)
            y = td.reduce_sum(x**3) * x[0]
        gradient = inner.gradient(y, x)
    return outer.jacobian(gradient, x)


def checked(x):
    td.debugging.assert_less(x, 1e9)
    td.debugging.Assert(td.reduce_sum(x) < 1e9, [x])
    return td.debugging.check_numerics(x, "x") * 2.0


PROGRAMS = {
    "dense": (dense, X),
    "structures": (lambda e: {"sum": e[0] + e[1], "pair": (td.reduce_sum(e[0]), td.cast(e[1], td.float32))}, (X, Y)),
    "gradient per example": (gradient_of(dense, W), X),
    "gradient per example of a Variable": (gradient_of(lambda x: td.sin(x * V), V), X),
    "gradient per example of a convolution": (gradient_of(network, FILTERS), IMAGES),
    "nested": (nested, X),
    "shared branch": (shared_branch, X),
    "own branch": (own_branch, X),
    "branch that no element takes": (one_sided_branch, X),
    "shared loop": (shared_loop, X),
    "own loop": (own_loop, X),
    "TensorArray": (array_of_both, X),
    "scan": (scanned, X),
    "map_fn": (mapped, X),
    "own gradient": (lambda x: own_gradient(x, W[0, 0]), X),
    "recompute_grad": (lambda x: td.recompute_grad(lambda e: td.sin(e) * e)(x), X),
    "function": (lambda x: function(x) + function(x * 2.0), X),
    "Python branch": (python_branch, X),
    "gradient of a branch": (gradient_of(own_branch), X),
    "gradient of a loop": (gradient_of(shared_loop), X),
    "gradient of a scan": (gradient_of(scanned), X),
    "gradient of map_fn": (gradient_of(mapped), X),
    "gradient of a function": (gradient_of(function), X),
    "index": (lambda e: e[0][e[1]] * W[e[1] % 3, 2], (X, PLACES)),
    "index of what is captured": (lambda e: W[e[0], e[1]], (PLACES, PLACES)),
    "gradient of an index": (lambda e: gradient_of(lambda x: x[e[1]] * x[::-1])(e[0]), (X, PLACES)),
    "slice": (lambda e: td.slice(e[0], [e[1] % 2], [2]), (X, PLACES)),
    "sizes": (lambda x: td.reshape(x, [-1, 1]) * td.cast(td.shape(x)[0] + td.size(x) * td.rank(x), td.float64), X),
    "what no element changes": (lambda x: W, X),
    "sizes that depend on values": (lambda x: td.reduce_sum(td.unique(td.cast(x * 2.0, td.int32))[0]), X),
    "sizes that depend on a branch": (lambda x: td.reduce_sum(td.cond(x[0] > 0, lambda: x[:2], lambda: x)), X),
    "sizes that depend on a loop": (
        lambda x: td.reduce_sum(td.while_loop(lambda a: td.reduce_sum(a**2) < 5.0, lambda a: (td.concat([a, a], 0),), (x,))[0]),
        X,
    ),
    "an op without a rule": (lambda x: td.reduce_sum(td.math.invert_permutation(td.argsort(x))) * 2, X),
    "broadcasting": (lambda e: e[0] * e[1] + W[:, 0], (X, X[:, 0])),
    "assertions": (checked, X),
}


@pytest.fixture(params=PROGRAMS)
def program(request):
    fn, elems = PROGRAMS[request.param]
    given = [td.constant(e) for e in elems] if isinstance(elems, tuple) else [td.constant(elems)]

    def all_at_once(*tensors):
        return td.vectorized_map(fn, tensors if isinstance(elems, tuple) else tensors[0], warn=False)

    def each_alone(*tensors):
        rows = zip(*map(td.unstack, tensors), strict=True)
        found = [fn(row if isinstance(elems, tuple) else row[0]) for row in rows]
        return td.nest.map_structure(lambda *column: td.stack(list(column)), *found)

    return all_at_once, each_alone, given


def ways(all_at_once, given):
    unknown = [td.TensorSpec([None] * t.shape.rank, t.dtype) for t in given]
    return {"eager": all_at_once, "traced": td.function(all_at_once), "unknown sizes": td.function(all_at_once, input_signature=unknown)}


def agree(got, want, what):
    td.nest.assert_same_structure(got, want)
    for a, b in zip(td.nest.flatten(got), td.nest.flatten(want), strict=True):
        assert a.dtype is b.dtype, what
        np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype is td.float32 else 1e-9, atol=1e-9, err_msg=what)


def test_all_at_once_is_as_each_alone(program):
    all_at_once, each_alone, given = program
    want = each_alone(*given)
    for what, way in ways(all_at_once, given).items():
        agree(way(*given), want, what)


def test_gradients_of_first_and_second_order_are_those_of_each_alone(program):
    all_at_once, each_alone, given = program
    sources = [t for t in given if t.dtype.is_floating]
    if not sources:
        sources, given = [W], given
    sources = [*sources, W, V]

    def gradients(fn):
        with td.GradientTape() as outer:
            outer.watch(sources)
            with td.GradientTape() as inner:
                inner.watch(sources)
                results = [td.cast(leaf, td.float64) for leaf in td.nest.flatten(fn(*given))]
                y = td.add_n([td.reduce_sum(td.sin(r)) for r in results])
            first = inner.gradient(y, sources, unconnected_gradients="zero")
            slope = td.add_n([td.reduce_sum(g**2) for g in first])
        return first, outer.gradient(slope, sources, unconnected_gradients="zero")

    want = gradients(each_alone)
    for what, way in ways(all_at_once, given).items():
        first, second = gradients(way)
        for got, expected in zip([*first, *second], [*want[0], *want[1]], strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-8, err_msg=what)


# ---------------------------------------------------------------------- jacobians


def test_rows_of_a_jacobian_are_gradients_for_unit_vectors():
    x = td.constant(X)
    with td.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = td.sin(td.matmul(x, W))
    seeds = td.reshape(td.eye(20, dtype=td.float64), [20, 4, 5])
    rows = td.vectorized_map(lambda seed: tape.gradient(y, x, seed), seeds, fallback_to_while_loop=False)
    np.testing.assert_allclose(td.reshape(rows, [4, 5, 4, 3]), tape.jacobian(y, x, experimental_use_pfor=False), rtol=1e-12)


@pytest.mark.parametrize("fn", [lambda x: td.tanh(td.matmul(x, W)), own_branch, shared_loop, scanned, lambda x: own_gradient(x, W[0, 0])])
def test_jacobians_swept_at_once_are_those_swept_one_by_one(fn):
    fn = fn if fn is not own_branch else lambda x: td.cond(x[0, 0] > 0, lambda: td.exp(x), lambda: td.sin(x))

    def both(x, at_once):
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = fn(x)
            first = tape.jacobian(y, [x, V], "zero", experimental_use_pfor=at_once)
            by_row = tape.batch_jacobian(y, x, experimental_use_pfor=at_once)
            slope = td.reduce_sum(first[0] ** 2)
        return first[0], by_row, outer.gradient(slope, x, unconnected_gradients="zero")

    x = td.constant(X)
    want = both(x, False)
    for way in (both, td.function(both, autograph=False)):
        for got, expected in zip(way(x, True), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)


# ---------------------------------------------------------------------- shapes


def test_what_is_known_of_shapes_is_kept():
    shapes = []

    @td.function(input_signature=[td.TensorSpec([None, 3]), td.TensorSpec([4, None])], autograph=False)
    def program(x, y):
        for e in (x, y):
            found = td.vectorized_map(lambda row: (row * 2.0, td.reduce_sum(row), row[None], W), e, fallback_to_while_loop=False)
            shapes.append([t.shape.as_list() for t in found])
        return x

    program(td.ones([2, 3]), td.ones([4, 1]))
    assert shapes == [[[None, 3], [None], [None, 1, 3], [None, 3, 5]], [[4, None], [4], [4, 1, None], [4, 3, 5]]]


def test_ranks_need_not_be_known():
    program = td.function(lambda x: td.vectorized_map(lambda row: td.sin(row) * 2.0, x), input_signature=[td.TensorSpec(None, td.float64)])
    np.testing.assert_allclose(program(td.constant(X)), np.sin(X) * 2, rtol=1e-12)


@pytest.mark.parametrize(
    "fn",
    [
        dense,
        lambda x: td.reshape(x, [-1, 1]),
        own_branch,
        lambda x: own_loop(x)[1],
        lambda x: td.linalg.inv(x[:, None] * td.ones([3, 3], td.float64)),
        lambda x: td.nn.conv2d(td.reshape(x, [1, 3, 1, 1]), td.reshape(x, [3, 1, 1, 1]), 1, "SAME"),
        lambda x: td.cast(td.searchsorted(x, x), td.float64),
    ],
)
def test_no_elements_give_no_results(fn):
    like = td.eval_shape(fn, td.TensorSpec([3], td.float64)).shape
    for way in (lambda x: td.vectorized_map(fn, x, fallback_to_while_loop=False), td.function(lambda x: td.vectorized_map(fn, x))):
        got = way(td.zeros([0, 3], td.float64))
        assert got.shape.as_list() == [0, *like.as_list()]


def test_one_element_stands_for_any_number(every_mode, check_gradient):
    def program(x, y):
        return td.vectorized_map(lambda e: (td.cast(td.reduce_sum(e[0]), td.float32), e[0] * e[1]), (x, y), warn=False)

    total, product = every_mode(program, X, Y[:1], rank=False)
    assert total.dtype == np.float32
    np.testing.assert_array_equal(product, X * Y[:1])
    check_gradient(lambda x, y: program(x, y)[1], X, Y[:1])


def test_what_is_no_batch_is_refused():
    for way in (td.vectorized_map, td.function(td.vectorized_map, autograph=False)):
        with pytest.raises(ShapeError, match="4 and 2"):
            way(lambda e: e[0] * e[1], (td.constant(X), td.constant(Y[:2])))
        with pytest.raises(ValueError, match="scalars"):
            way(lambda e: e, td.constant(1.0))
    with pytest.raises(TypeError, match="callable"):
        td.vectorized_map(3, td.constant(X))
    with pytest.raises(InvalidArgumentError):
        td.vectorized_map(checked, td.constant([[1.0, 2.0], [3.0, 1e10]], td.float64))


# ---------------------------------------------------------------------- random draws and effects


def drawn(x):
    return (
        td.random.normal([2]),
        td.random.truncated_normal([2]),
        td.random.uniform([], 0, x[0] ** 2 + 1.0, dtype=td.float64),
        td.random.uniform([4], 0, 1000, td.int32),
        td.random.gamma([2], td.cast(x**2 + 0.5, td.float32)),
        td.random.poisson([], x**2 * 100.0 + 50.0),
        td.random.shuffle(td.range(20)),
        td.random.categorical([[0.0] * 50], 4),
    )


@pytest.mark.parametrize("traced", [False, True])
def test_every_element_draws_numbers_of_its_own(traced):
    def run(x):
        return td.vectorized_map(drawn, x, fallback_to_while_loop=False)

    found = (td.function(run) if traced else run)(td.constant(X))
    for numbers, like in zip(found, drawn(td.constant(X[0])), strict=True):
        assert numbers.dtype is like.dtype and numbers.shape.as_list() == [4, *like.shape.as_list()]
        assert len({np.asarray(row).tobytes() for row in numbers}) == 4
    assert all(sorted(row.tolist()) == list(range(20)) for row in found[6].numpy())


def test_a_given_seed_is_that_of_every_element():
    def program(x):
        return td.random.stateless_normal([2], [1, 2]) * x[0], td.random.stateless_uniform([], [3, 4], 0, td.cast(x[1] + 9.0, td.int32), td.int32)

    got = td.vectorized_map(program, td.constant(X, td.float32), warn=False)
    for i, row in enumerate(X):
        for a, b in zip(got, program(td.constant(row, td.float32)), strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-6)


def test_dropout_draws_in_loops_and_branches_too():
    def program(x):
        kept = td.cond(x[0] > -9, lambda: td.nn.dropout(td.ones([50]), 0.5), lambda: td.ones([50]))
        return td.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a + td.random.normal([50])), (0, kept))[1]

    for way in (td.vectorized_map, td.function(td.vectorized_map, autograph=False)):
        assert len({np.asarray(row).tobytes() for row in way(program, td.constant(X))}) == 4


def test_effects_keep_the_order_of_a_loop(capsys):
    total = td.Variable(0.0)

    def running(x):
        total.assign_add(x)
        td.print(x)
        return total * 1.0

    for way in (td.vectorized_map, td.function(td.vectorized_map, autograph=False)):
        total.assign(0.0)
        assert way(running, td.constant([1.0, 2.0, 4.0]), warn=False).numpy().tolist() == [1, 3, 7]
    assert capsys.readouterr().err.split() == ["1", "2", "4"] * 2
    with pytest.raises(ValueError, match="op 'assign' does what must happen in the order of a loop"):
        td.vectorized_map(running, td.constant([1.0]), fallback_to_while_loop=False)


def told(name, total):
    """A function whose gradient prints, and adds to a Variable."""

    @td.custom_gradient
    def run(x):
        def back(d):
            td.print(name, "1")
            td.print(name, "2")
            total.assign(total * 2.0 + d)
            return d * 3.0

        return x * 1.0, back

    return run


@pytest.mark.parametrize("traced", [False, True])
def test_effects_in_gradients_of_the_users_keep_the_order_of_a_loop_too(traced, capsys):
    total = td.Variable(0.0, trainable=False)
    f, g = told("f", total), told("g", total)
    x = td.constant([1.0, 2.0])

    def slope(way):
        def program(x):
            with td.GradientTape() as tape:
                tape.watch(x)
                y = way(lambda e: td.cond(e > -1.0, lambda: f(g(e)), lambda: e), x) * [1.0, 10.0]
            return tape.gradient(y, x)

        total.assign(0.0)
        found = (td.function(program, autograph=False) if traced else program)(x).numpy()
        return found.tolist(), float(total), capsys.readouterr().err.split()

    by_row, at_once = slope(td.map_fn), slope(lambda fn, x: td.vectorized_map(fn, x, warn=False))
    assert by_row == at_once == ([9.0, 90.0], 10 * 8 + 30 * 4 + 1 * 2 + 3, ["f", "1", "f", "2", "g", "1", "g", "2"] * 2)


def test_what_has_an_effect_on_the_way_back_only_is_batched_where_nothing_goes_back():
    total = td.Variable(0.0, trainable=False)
    x = td.constant([1.0, 2.0])
    assert td.vectorized_map(told("f", total), x, fallback_to_while_loop=False).numpy().tolist() == [1.0, 2.0]
    with td.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(ValueError, match=r"vectorized_map of run \(.*test_vectorization.py:\d+\): op 'print' does what must happen in the order"):
            td.vectorized_map(told("f", total), x, fallback_to_while_loop=False)


@pytest.mark.parametrize("traced", [False, True])
def test_a_gradient_that_fails_does_so_when_it_is_asked_for(traced):
    @td.custom_gradient
    def one_way(x):
        def back(d):
            raise NotImplementedError("no way back")

        return x * 2.0, back

    def program(x, goes_back):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.vectorized_map(one_way, x)
        return tape.gradient(y, x) if goes_back else y

    run = td.function(program, autograph=False) if traced else program
    assert run(td.constant([1.0]), False).numpy().tolist() == [2.0]
    with pytest.raises(NotImplementedError, match="no way back"):
        run(td.constant([1.0]), True)


def test_an_effect_in_the_gradient_of_a_gradient_is_refused():
    inner = told("inner", td.Variable(0.0, trainable=False))

    @td.custom_gradient
    def outer(x):
        return x * 2.0, lambda d: inner(d) * 2.0

    x = td.constant([1.0, 2.0])
    with td.GradientTape() as second:
        second.watch(x)
        with td.GradientTape() as first:
            first.watch(x)
            y = td.vectorized_map(outer, x) * x
        slope = first.gradient(y, x)
    with pytest.raises(td.errors.UnimplementedError, match=r"op 'print', in the gradient of a td\.custom_gradient that was differentiated in turn"):
        second.gradient(slope, x)


# ---------------------------------------------------------------------- lines


TABLE = td.constant([1.0, 2.0, 3.0])


def picked(e):
    place = td.cast(e * 2.0, td.int32)
    found = td.gather(TABLE, place)
    return found + 1.0


def picked_in_a_branch(e):
    return td.cond(e > 0.0, lambda: picked(e), lambda: e)


def picked_in_a_loop(e):
    return td.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, picked(a)), (0, e))[1]


def picked_in_a_function(e):
    return PICKED(e)


PICKED = td.function(picked, autograph=False)
LINE = r"made at .*test_vectorization.py:\d+ `found = td.gather\(TABLE, place\)`"


@pytest.mark.parametrize("fn", [picked, picked_in_a_branch, picked_in_a_loop, picked_in_a_function])
@pytest.mark.parametrize("traced", [False, True])
def test_an_error_names_the_line_of_the_op_and_not_of_the_map(fn, traced):
    run = td.function(td.vectorized_map, autograph=False) if traced else td.vectorized_map
    with pytest.raises(InvalidArgumentError, match=LINE) as caught:
        run(fn, td.constant([0.5, 7.0]))
    assert str(caught.value).count("made at") == 1


def test_nodes_come_from_the_lines_of_what_they_stand_for():
    @td.function(autograph=False)
    def program(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.vectorized_map(lambda e: td.sin(e) * 2.0, x)
        return tape.gradient(y, x)

    nodes = list(program.get_concrete_function(td.constant([1.0])).graph.nodes)
    (sine,) = [n for n in nodes if n.op.name == "sin"]
    assert "td.sin(e)" in sine.source.text and not sine.source.gradient
    (cosine,) = [n for n in nodes if n.op.name == "cos"]
    assert "td.sin(e)" in cosine.source.text and cosine.source.gradient == "sin"


@pytest.mark.parametrize("traced", [False, True])
def test_a_check_of_numerics_names_the_line_once(traced):
    def logarithms(e):
        lower = e - 1.0
        return td.math.log(lower)

    run = td.function(td.vectorized_map, autograph=False) if traced else td.vectorized_map
    td.debugging.enable_check_numerics()
    try:
        with pytest.raises(InvalidArgumentError, match=r"op 'log' has 1 Inf.*return td.math.log\(lower\)") as caught:
            run(logarithms, td.constant([1.0, 2.0]))
        assert str(caught.value).count("test_vectorization.py") == 1
    finally:
        td.debugging.disable_check_numerics()


# ---------------------------------------------------------------------- falling back


def test_only_what_has_no_rule_runs_once_per_element_and_is_named_once(caplog, monkeypatch):
    monkeypatch.setattr(vectorization, "_said", set())
    calls = []

    @td.op
    def smallest_first(x):
        calls.append(x.shape)
        return np.sort(x)

    def program(x):
        return smallest_first(x * 2.0) + td.sin(x) + smallest_first(x)

    with caplog.at_level(logging.WARNING, "treadle"):
        for way in (td.vectorized_map, td.function(td.vectorized_map, autograph=False)):
            calls.clear()
            np.testing.assert_allclose(way(program, td.constant(X)), np.sort(X * 2) + np.sin(X) + np.sort(X), rtol=1e-12)
            assert calls.count((3,)) >= 8
    (said,) = [r.getMessage() for r in caplog.records]
    assert "smallest_first" in said and "test_vectorization.py" in said and "treadle.declare.batching" in said
    with pytest.raises(ValueError, match="smallest_first' has no batching rule"):
        td.vectorized_map(program, td.constant(X), fallback_to_while_loop=False)
    caplog.clear()
    td.vectorized_map(lambda x: smallest_first(x), td.constant(X), warn=False)
    assert not caplog.records

    @smallest_first.batching
    def _(op, x):
        return op(x.batched())

    np.testing.assert_allclose(td.vectorized_map(program, td.constant(X), fallback_to_while_loop=False)[0], program(td.constant(X[0])), rtol=1e-12)


def test_lists_that_cannot_be_put_together_make_the_function_run_once_per_element(caplog, monkeypatch):
    monkeypatch.setattr(vectorization, "_said", set())

    def program(x):
        array = td.TensorArray(td.float64, size=0, dynamic_size=True, infer_shape=False)
        return array.split(x, [1, 2]).concat()

    with caplog.at_level(logging.WARNING, "treadle"):
        np.testing.assert_array_equal(td.vectorized_map(program, td.constant(X)), X)
    assert "needs a list of tensors of its own for every element" in caplog.text


def test_a_layer_may_be_built_at_its_first_call():
    class Layer(td.Module):
        weights = None

        def __call__(self, x):
            if self.weights is None:
                self.weights = td.Variable(td.ones([3, 2], td.float64))
            return td.linalg.matvec(self.weights, x, transpose_a=True)

    layer = Layer()
    np.testing.assert_allclose(td.vectorized_map(layer, td.constant(X)), X.sum(1, keepdims=True) * [1, 1], rtol=1e-12)
    assert len(layer.trainable_variables) == 1


def test_a_dense_layer_is_far_faster_than_by_map_fn():
    x, w = td.random.normal([1000, 16]), td.random.normal([16, 8])

    def layer(row):
        return td.nn.relu(td.linalg.matvec(w, row, transpose_a=True) + 1.0)

    def least(run):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return min(times)

    td.vectorized_map(layer, x)
    for wrap in (lambda fn: fn, lambda fn: td.function(fn, autograph=False)):
        at_once, by_row = wrap(lambda e: td.vectorized_map(layer, e)), wrap(lambda e: td.map_fn(layer, e))
        np.testing.assert_allclose(at_once(x), by_row(x), rtol=1e-5)
        assert least(lambda run=by_row: run(x)) > 20 * least(lambda run=at_once: run(x))


def test_a_random_op_of_others_is_called_for_every_element():
    counter = iter(range(100))

    @td.op(effect="random", infer=lambda x: td.declare.Spec((), x.dtype))
    def counted(x):
        return x.dtype.type(next(counter))

    def program(x):
        return counted(W) + x[0] * 0.0

    for way in (td.vectorized_map, td.function(td.vectorized_map, autograph=False)):
        got = way(program, td.constant(X), warn=False).numpy()
        assert len(set(got.tolist())) == 4


@td.custom_gradient
def steep(a):
    return a**3, lambda g: g * 3.0 * a * a


PREDICATES = {"each its own": lambda a: td.reduce_sum(a) > 0, "one for all": lambda a: td.constant([True, False])[0]}


@pytest.mark.parametrize("name", PREDICATES)
@pytest.mark.parametrize("of", [steep, td.recompute_grad(lambda a: a**3), lambda a: steep(a * 1.0)], ids=["own", "recomputed", "of a product"])
def test_a_gradient_of_the_users_in_a_branch(name, of):
    x = td.constant([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
    predicate = PREDICATES[name]

    def slope(mapped, x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = mapped(lambda a: td.cond(predicate(a), lambda: of(a), lambda: a), x)
        return tape.gradient(y, x)

    want = slope(td.map_fn, x)
    np.testing.assert_allclose(slope(td.vectorized_map, x), want)
    np.testing.assert_allclose(td.function(lambda x: slope(td.vectorized_map, x))(x), want)
