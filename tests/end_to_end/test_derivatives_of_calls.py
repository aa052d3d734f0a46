"""Derivatives of any order through traced functions, branches and loops are those of eager code, and so is all that happens on the way.

Effects of the first call happen once, whatever is differentiated later; those of a gradient happen when it is computed; and gradients that the user
wrote may read what lies around them, wherever they are called.
"""

from __future__ import annotations

import pytest

import treadle as td

X = td.constant(1.1)


def first(f, x):
    with td.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def second(f, x):
    with td.GradientTape() as outer:
        outer.watch(x)
        g = first(f, x)
    return outer.gradient(g, x)


def third(f, x):
    with td.GradientTape() as outer:
        outer.watch(x)
        g = second(f, x)
    return outer.gradient(g, x)


def ways(derivative, f):
    """The derivative of a function in all ways of tracing it."""
    traced = td.function(f)
    return {
        "call": lambda x: derivative(traced, x),
        "tape inside": td.function(lambda x: derivative(f, x)),
        "both": td.function(lambda x: derivative(traced, x)),
        "call inside a call": lambda x: derivative(td.function(lambda z: traced(z) * 1.0), x),
    }


# ---------------------------------------------------------------------- effects of the first call


@pytest.fixture
def v():
    return td.Variable(3.0, trainable=False)


def effects(v):
    def straight(x):
        v.assign_add(1.0)
        return x**3 * v

    def in_a_loop(x):
        def body(i, y):
            v.assign_add(1.0)
            return i + 1, y * x * v

        return td.while_loop(lambda i, y: i < 3, body, (0, td.constant(1.0)))[1]

    def in_a_branch(x):
        return td.cond(x > 0, lambda: x**3 * v.assign_add(1.0), lambda: x)

    def in_a_scan(x):
        return td.scan(lambda total, row: total + row**3 * v.assign_add(1.0), td.stack([x, x]))[1]

    def read_twice(x):
        before = v * x**2
        v.assign(10.0)
        return before + v * x**3

    return [straight, in_a_loop, in_a_branch, in_a_scan, read_twice]


@pytest.mark.parametrize("which", range(5), ids=lambda i: effects(None)[i].__name__)
@pytest.mark.parametrize("derivative", [first, second, third])
def test_effects_of_the_first_call_happen_once(v, which, derivative):
    f = effects(v)[which]

    def run(way):
        v.assign(3.0)
        return float(way(X)), float(v)

    want = run(lambda x: derivative(f, x))
    for name, way in ways(derivative, f).items():
        assert run(way) == pytest.approx(want, rel=1e-4), name


def test_variables_are_as_they_were_at_the_first_call(v):
    def change_between(f):
        v.assign(3.0)
        with td.GradientTape() as outer:
            outer.watch(X)
            g = first(f, X)
        v.assign(100.0)
        return float(outer.gradient(g, X))

    def f(x):
        return td.sin(x * v)

    assert change_between(td.function(f)) == pytest.approx(change_between(f), rel=1e-5)


@pytest.mark.parametrize("derivative", [first, second, third])
def test_random_draws_are_those_of_the_first_call(derivative):
    def f(x):
        return td.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x * td.random.normal([])), (0, x))[1] * td.random.uniform([])

    def run(way):
        td.random.set_seed(1)
        return float(way(X)), float(td.random.uniform([]))

    want = run(lambda x: derivative(f, x))
    for way in (lambda x: derivative(td.function(f), x), lambda x: derivative(td.function(lambda z: td.function(f)(z)), x)):
        assert run(way) == pytest.approx(want, rel=1e-4)


def test_one_persistent_tape_differentiates_its_own_gradient(v):
    def f(x):
        v.assign_add(1.0)
        return x**3 * v

    def slopes(f):
        v.assign(3.0)
        with td.GradientTape(persistent=True) as tape:
            tape.watch(X)
            y = f(X)
            g = tape.gradient(y, X)
        return float(g), float(tape.gradient(g, X)), float(v)

    assert slopes(td.function(f)) == pytest.approx(slopes(f), rel=1e-5)


def test_an_order_that_no_tape_asked_for_is_refused_by_name():
    @td.function
    def looping(x):
        return td.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * td.sin(x * y)), (0, x))[1]

    with td.GradientTape(persistent=True) as tape:
        tape.watch(X)
        g = looping(X)
        for _ in range(2):
            g = tape.gradient(g, X)
        with pytest.raises(NotImplementedError, match=r"looping: a derivative of order 3 .*Let one more GradientTape enclose the call"):
            tape.gradient(g, X)


# ---------------------------------------------------------------------- effects on the way back


def test_effects_of_a_gradient_happen_wherever_it_is(v):
    @td.custom_gradient
    def noted(z):
        def back(g):
            v.assign_add(g)
            return g * 2.0

        return z * 3.0, back

    functions = [
        noted,
        lambda x: td.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, noted(y)), (0, x))[1],
        lambda x: td.cond(x > 0, lambda: noted(x), lambda: x),
        lambda x: td.reduce_sum(td.map_fn(noted, td.stack([x, x]))),
        lambda x: td.scan(lambda total, row: total + noted(row), td.stack([x, x]))[1],
    ]
    for f in functions:
        v.assign(0.0)
        want = float(first(f, X)), float(v)
        for name, way in ways(first, f).items():
            v.assign(0.0)
            assert (float(way(X)), float(v)) == want, name


def test_an_assertion_of_a_gradient_is_not_dropped():
    @td.custom_gradient
    def guarded(z):
        def back(g):
            td.debugging.assert_less(g, 0.5)
            return g

        return z * 3.0, back

    for way in ways(first, guarded).values():
        with pytest.raises(td.errors.InvalidArgumentError, match="did not hold"):
            way(X)


# ---------------------------------------------------------------------- gradients that the user wrote


@td.custom_gradient
def cube(x):
    def back(g):
        return g * 3.0 * x * x

    return x * x * x, back


W = td.Variable(2.0)


@td.custom_gradient
def weighted_cube(x):
    def back(g, variables=None):
        return g * 3.0 * x * x * W, [g * x * x * x]

    return x * x * x * W, back


def reading_around(x):
    """A function of one tensor whose gradient reads a tensor from around it."""
    w = x * 2.0

    @td.custom_gradient
    def scaled(z):
        return z * 3.0, lambda g: g * w

    return scaled


def in_a_branch(x):
    return td.cond(x > 0, lambda: cube(x), lambda: x)


def by_autograph(x):
    total = x
    for _ in td.range(3):
        if total > 0.0:
            total = total + cube(x)
    return total


def in_a_loop(x):
    return td.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * cube(x)), (0, x))[1]


def in_a_map(x):
    return td.reduce_sum(td.map_fn(lambda row: cube(x) * row, td.stack([x, x])))


def in_a_scan(x):
    return td.scan(lambda total, row: total + cube(x) * row, td.stack([x, x]))[1]


def vectorized(x):
    return td.vectorized_map(lambda row: cube(x) * row, td.stack([x, x]))[0]


def captured_by_a_function(x):
    return td.function(lambda: cube(x))() * x


def with_a_variable(x):
    return td.cond(x > 0, lambda: weighted_cube(x), lambda: x)


def around_a_branch(x):
    scaled = reading_around(x)
    return td.cond(x > 0, lambda: scaled(x * 1.0), lambda: x)


def around_a_function(x):
    scaled = reading_around(x)
    return td.function(lambda q: scaled(q * 1.0))(x)


def around_a_branch_called_twice(x):
    traced = td.function(around_a_branch)
    return traced(x) * traced(x * 2)


def recomputed_in_a_branch(x):
    again = td.recompute_grad(lambda z: z * z * x)
    return td.cond(x > 0, lambda: again(x), lambda: x)


def recomputed_in_a_loop(x):
    w = x * 2.0
    again = td.recompute_grad(lambda z: z * z * w)
    return td.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * again(s)), (0, x))[1]


def recomputed_loop(x):
    return td.recompute_grad(lambda z: td.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * z), (0, z))[1])(x)


def recomputed_branch(x):
    return td.recompute_grad(lambda z: td.cond(z > 0, lambda: z * z, lambda: z))(x)


def recomputed_map(x):
    return td.reduce_sum(td.recompute_grad(lambda z: td.map_fn(lambda q: q * z, td.stack([z, z])))(x))


def recomputed_call(x):
    return td.recompute_grad(lambda z: td.function(lambda: z * z * z)())(x)


def recomputed_twice(x):
    return td.recompute_grad(lambda z: td.recompute_grad(lambda w: w * w * w)(z) * z)(x)


@td.custom_gradient
def square(x):
    return x * x, lambda g: g * 2.0 * x


@td.custom_gradient
def cube_by_square(x):
    return x * x * x, lambda g: g * 3.0 * square(x)


def gradient_of_a_gradient(x):
    return cube_by_square(x)


def gradient_of_a_gradient_in_a_branch(x):
    return td.cond(x > 0, lambda: cube_by_square(x), lambda: x)


def recomputed_with_a_variable(x):
    return td.recompute_grad(lambda z: weighted_cube(z) * z)(x)


PLACES = [
    recomputed_loop,
    recomputed_branch,
    recomputed_map,
    recomputed_call,
    recomputed_twice,
    gradient_of_a_gradient,
    gradient_of_a_gradient_in_a_branch,
    recomputed_with_a_variable,
    in_a_branch,
    by_autograph,
    in_a_loop,
    in_a_map,
    in_a_scan,
    vectorized,
    captured_by_a_function,
    with_a_variable,
    around_a_branch,
    around_a_function,
    around_a_branch_called_twice,
    recomputed_in_a_branch,
    recomputed_in_a_loop,
]


@pytest.mark.parametrize("derivative", [first, second])
@pytest.mark.parametrize("f", PLACES, ids=lambda f: f.__name__)
def test_a_gradient_that_the_user_wrote_works_in_every_place(f, derivative):
    want = float(derivative(f, X))
    for name, way in ways(derivative, f).items():
        assert float(way(X)) == pytest.approx(want, rel=1e-4), name


@pytest.mark.parametrize("f", [lambda q: cube(X), lambda q: cube(X) * X], ids=["alone", "with more"])
def test_it_reads_a_captured_constant_that_is_watched(f):
    want = float(second(f, X))
    assert want == pytest.approx(6.6 if f(X) == cube(X) else 14.52, rel=1e-4)
    assert float(second(td.function(f), X)) == pytest.approx(want, rel=1e-4)
