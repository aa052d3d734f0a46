"""Random numbers: streams, seeds, distributions, generators and initializers."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import stats

import treadle as td
from treadle_array.counter_generators import Philox, Threefry
from treadle_cpu.numpy_philox import NumpyPhilox

SEED = [3, 7]
DRAWS = {
    "normal": lambda seed: td.random.stateless_normal([5, 3], seed),
    "truncated_normal": lambda seed: td.random.stateless_truncated_normal([5, 3], seed, dtype="float64"),
    "uniform": lambda seed: td.random.stateless_uniform([7], seed, -2.0, 3.0),
    "integers": lambda seed: td.random.stateless_uniform([7], seed, -20, 30, "int64"),
    "bits": lambda seed: td.random.stateless_uniform([7], seed, None, None, "uint32"),
    "gamma": lambda seed: td.random.stateless_gamma([4, 2], seed, [0.5, 3.0], 2.0),
    "poisson": lambda seed: td.random.stateless_poisson([4, 2], seed, [0.5, 30.0]),
    "binomial": lambda seed: td.random.stateless_binomial([4, 2], seed, [10.0, 1000.0], 0.3),
    "categorical": lambda seed: td.random.stateless_categorical([[0.0, 1.0, 2.0]], 6, seed),
    "parameterized": lambda seed: td.random.stateless_parameterized_truncated_normal([6], seed, 0.0, 1.0, 2.0, 3.0),
    "split": lambda seed: td.random.split(seed, 3),
    "fold_in": lambda seed: td.random.fold_in(seed, 4),
    "shuffle": lambda seed: td.random.experimental.stateless_shuffle(td.range(9), seed),
}


@pytest.fixture(autouse=True)
def _seeded():
    td.random.set_seed(11)


# ---------------------------------------------------------------------- generators of bits


def test_numpys_philox_gives_the_bits_of_the_array_version():
    for key in ((1, 2), (2**63 + 5, -1), (-5, 7)):
        for count in (0, 1, 5, 103):
            np.testing.assert_array_equal(NumpyPhilox().bits(key, count), Philox(np).bits(key, count))
        index = np.arange(40, dtype=np.uint64)
        for turn in (0, 3):
            fast = NumpyPhilox().blocks(key, index, turn)
            np.testing.assert_array_equal(fast, Philox(np).blocks(key, index, turn))
            np.testing.assert_array_equal([w[::3] for w in fast], NumpyPhilox().blocks(key, index[::3].copy(), turn))


def test_threefry_gives_the_published_numbers():
    np.testing.assert_array_equal(Threefry(np).bits((0, 0), 2), np.array([0xC2B6E3A8C2C69865, 0x6F81ED42F350084D], np.uint64))


# ---------------------------------------------------------------------- stateless functions


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_numbers_eagerly_and_traced_whatever_holds_it(name):
    draw = DRAWS[name]
    eager = draw(td.constant(SEED)).numpy()
    np.testing.assert_array_equal(draw(SEED).numpy(), eager)
    np.testing.assert_array_equal(draw(np.array(SEED)).numpy().astype(np.int64), eager.astype(np.int64)) if name == "shuffle" else None
    np.testing.assert_array_equal(td.function(draw)(td.constant(SEED)).numpy(), eager)
    np.testing.assert_array_equal(td.function(lambda: draw(SEED))().numpy(), eager)
    assert not np.array_equal(draw([3, 8]).numpy(), eager)
    assert not np.array_equal(draw([4, 7]).numpy(), eager)


@pytest.mark.parametrize("bad", [[1], [1, 2, 3], 5, [[1, 2]]])
def test_a_seed_is_two_numbers(bad):
    for draw in DRAWS.values():
        with pytest.raises((td.errors.InvalidArgumentError, ValueError, TypeError)):
            draw(td.constant(bad))
    with pytest.raises(ValueError, match=r"seed must have shape \[2\]"):
        td.function(lambda s: td.random.stateless_normal([2], s))(td.constant([1]))
    with pytest.raises(TypeError):
        td.random.stateless_normal([2], td.constant([1.0, 2.0]))


@pytest.mark.parametrize("alg", ["philox", "threefry", td.random.Algorithm.THREEFRY])
def test_both_algorithms_draw_uniformly(alg):
    drawn = td.random.stateless_uniform([20000], SEED, dtype="float64", alg=alg).numpy()
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
    with pytest.raises(ValueError, match="Unsupported algorithm"):
        td.random.stateless_uniform([2], SEED, alg="mersenne")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floating_dtypes_draw_their_distributions(dtype):
    drawn = td.random.stateless_normal([20001], SEED, dtype=dtype)
    assert drawn.dtype.name == dtype
    values = drawn.numpy().astype(np.float64)
    assert abs(values.mean()) < 0.03 and abs(values.std() - 1) < 0.03
    cut = td.random.stateless_truncated_normal([20001], SEED, dtype=dtype).numpy().astype(np.float64)
    assert abs(cut).max() <= 2 and abs(cut.std() - 0.8796) < 0.03
    unit = td.random.stateless_uniform([20001], SEED, 1.0, 2.0, dtype=dtype).numpy().astype(np.float64)
    assert unit.min() >= 1 and unit.max() < 2


def test_distributions_are_those_that_scipy_knows():
    count = 20000
    assert stats.kstest(td.random.stateless_normal([count], SEED, dtype="float64").numpy(), "norm").pvalue > 1e-4
    for alpha in (0.1, 1.0, 30.0):
        drawn = td.random.stateless_gamma([count], SEED, alpha, 2.0, "float64").numpy()
        assert stats.kstest(drawn, stats.gamma(alpha, scale=0.5).cdf).pvalue > 1e-4
    for rate in (0.7, 9.5, 200.0):
        drawn = td.random.stateless_poisson([count], SEED, rate).numpy()
        assert abs(drawn.mean() - rate) < 5 * np.sqrt(rate / count) and abs(drawn.var() / rate - 1) < 0.1
    for n, p in ((10.0, 0.9), (1000.0, 0.4)):
        drawn = td.random.stateless_binomial([count], SEED, n, p).numpy()
        assert abs(drawn.mean() - n * p) < 5 * np.sqrt(n * p * (1 - p) / count) and abs(drawn.var() / (n * p * (1 - p)) - 1) < 0.1
    for low, high in ((-0.5, 0.6), (5.0, np.inf), (-9.0, -8.0)):
        drawn = td.random.stateless_parameterized_truncated_normal([count], SEED, 1.0, 2.0, 1 + 2 * low, 1 + 2 * high).numpy()
        assert stats.kstest((drawn - 1) / 2, stats.truncnorm(low, high).cdf).pvalue > 1e-4


def test_counts_of_impossible_parameters_are_nan_or_0():
    assert np.isnan(td.random.stateless_poisson([1], SEED, -1.0, "float32").numpy()).all()
    assert td.random.stateless_poisson([1], SEED, 0.0).numpy() == [0]
    np.testing.assert_array_equal(td.random.stateless_binomial([3], SEED, 5.0, [0.0, 1.0, 1.0]).numpy(), [0, 5, 5])
    with pytest.raises(td.errors.InvalidArgumentError, match="stddevs must be positive"):
        td.random.stateless_parameterized_truncated_normal([2], SEED, stddevs=-1.0)


def test_integers_cover_their_range_and_no_more():
    drawn = td.random.stateless_uniform([3000], SEED, -3, 4, "int32").numpy()
    np.testing.assert_array_equal(np.unique(drawn), np.arange(-3, 4))
    wide = td.random.stateless_uniform([100], SEED, -(2**63), 2**63 - 1, "int64").numpy()
    assert wide.min() < -(2**61) and wide.max() > 2**61
    with pytest.raises(td.errors.InvalidArgumentError, match="less than maxval"):
        td.random.stateless_uniform([2], SEED, 3, 3, "int32")
    with pytest.raises(ValueError, match="both None"):
        td.random.stateless_uniform([2], SEED, 0, None, "int32")
    with pytest.raises(ValueError, match="maxval"):
        td.random.uniform([2], dtype="int32")


def test_categories_without_weight_are_never_drawn():
    logits = np.log(
        np.array([[0.0, 0.3, 0.7, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]], np.float32),
        where=[[False, True, True, False], [False] * 3 + [True], [True] + [False] * 3],
        out=np.full((3, 4), -np.inf, np.float32),
    )
    drawn = td.random.stateless_categorical(logits, 4000, SEED).numpy()
    assert abs((drawn[0] == 2).mean() - 0.7) < 0.04 and set(drawn[0]) == {1, 2}
    assert set(drawn[1]) == {3} and set(drawn[2]) == {0}
    assert td.random.categorical(td.zeros([0, 3]), 2).shape == (0, 2)
    assert td.random.categorical(td.zeros([2, 3], "bfloat16"), 0, "int32").dtype == td.int32
    with pytest.raises(td.errors.InvalidArgumentError):
        td.random.categorical(td.zeros([2, 0]), 1)
    with pytest.raises(td.errors.InvalidArgumentError):
        td.random.categorical(td.zeros([2, 3]), -1)


# ---------------------------------------------------------------------- shapes


def test_shapes_may_be_tensors_known_or_not_while_tracing():
    assert td.random.normal(td.constant([2, 3])).shape == (2, 3)
    assert td.random.gamma([2], [1.0, 2.0, 3.0], [[1.0], [2.0]]).shape == (2, 2, 3)
    assert td.random.poisson([], [1.0, 2.0]).shape == (2,)
    assert td.random.poisson([2], 3.0, "int32").dtype == td.int32

    @td.function(input_signature=[td.TensorSpec([None, 3]), td.TensorSpec([], td.int32)])
    def draw(x, n):
        a = td.random.normal(td.shape(x))
        b = td.random.poisson([2], x)
        c = td.random.uniform([n, 2])
        d = td.random.categorical(x, n)
        assert (a.shape.as_list(), b.shape.as_list(), c.shape.rank) == ([None, 3], [2, None, 3], 2)
        return a, b, c, d, td.random.shuffle(x)

    a, b, c, d, e = draw(td.ones([4, 3]), 5)
    assert (a.shape, b.shape, c.shape, d.shape, e.shape) == ((4, 3), (2, 4, 3), (5, 2), (4, 5), (4, 3))


def test_a_parameter_must_broadcast_to_the_shape():
    for call in (
        lambda: td.random.stateless_gamma([2], SEED, [1.0, 2.0, 3.0]),
        lambda: td.random.stateless_poisson([3], SEED, [[1.0], [2.0]]),
        lambda: td.random.stateless_binomial([2, 3], SEED, [1.0, 2.0], 0.5),
    ):
        with pytest.raises(td.errors.InvalidArgumentError, match="does not broadcast"):
            call()
        with pytest.raises(ValueError, match="does not broadcast"):
            td.function(call)()


def test_a_shuffle_is_a_permutation_of_rows():
    x = np.arange(40.0).reshape(20, 2)
    shuffled = td.random.shuffle(x, seed=1).numpy()
    assert not np.array_equal(shuffled, x)
    np.testing.assert_array_equal(shuffled[np.argsort(shuffled[:, 0])], x)
    assert td.random.shuffle(td.constant(3)).numpy() == 3


# ---------------------------------------------------------------------- streams


def test_draws_differ_and_a_seed_starts_them_again_without_a_trace():
    traces = []

    @td.function
    def draw():
        traces.append(1)
        return td.random.normal([3]), td.random.normal([3], seed=5), td.random.uniform([3], seed=5)

    td.random.set_seed(42)
    first = [np.stack([t.numpy() for t in draw()]) for _ in range(2)]
    td.random.set_seed(42)
    again = [np.stack([t.numpy() for t in draw()]) for _ in range(2)]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(*first) and len(traces) == 1
    td.random.set_seed(42)
    eager = np.stack([td.random.normal([3]), td.random.normal([3], seed=5), td.random.uniform([3], seed=5)])
    np.testing.assert_array_equal(eager, first[0])


def test_streams_of_op_seeds_do_not_move_the_global_one():
    td.random.set_seed(1)
    a = td.random.normal([4]).numpy()
    td.random.set_seed(1)
    td.random.normal([4], seed=9)
    np.testing.assert_array_equal(td.random.normal([4]).numpy(), a)


def test_an_op_seed_alone_is_the_same_in_every_process():
    from treadle_ops.random_state import RandomState

    assert RandomState().next_key(7) == RandomState().next_key(7) != RandomState().next_key(8)
    assert RandomState().next_key(None) != RandomState().next_key(None)


def test_streams_begun_anew_are_those_of_the_seeds_and_others_where_there_is_none():
    from treadle_ops.random_state import RandomState

    unseeded, seeded = RandomState(), RandomState()
    seeded.set_seed(5)
    for state in (unseeded, seeded):
        begun = [state.next_key(7), state.next_key(None)]
        again = state.begun_anew()
        assert again.next_key(7) == begun[0]
        assert (again.next_key(None) == begun[1]) is (state is seeded)


def test_gradients_reach_the_parameters():
    mean, scale = td.constant([1.0, 2.0]), td.constant(3.0)
    for draw in (
        lambda: td.random.stateless_normal([4, 2], SEED, mean, scale),
        td.function(lambda: td.random.stateless_normal([4, 2], SEED, mean, scale)),
    ):
        with td.GradientTape() as tape:
            tape.watch([mean, scale])
            x = draw()
        of_mean, of_scale = tape.gradient(x, [mean, scale])
        np.testing.assert_allclose(of_mean.numpy(), [4.0, 4.0])
        np.testing.assert_allclose(of_scale.numpy(), td.random.stateless_normal([4, 2], SEED).numpy().sum(), rtol=1e-5)


# ---------------------------------------------------------------------- generators


def test_a_generator_moves_on_and_can_be_reset():
    g = td.random.Generator.from_seed(1234)
    np.testing.assert_array_equal(g.state.numpy(), [1234, 0, 0])
    a = g.normal([3]).numpy()
    np.testing.assert_array_equal(g.state.numpy(), [2002, 0, 0])
    b = g.normal([3]).numpy()
    assert not np.array_equal(a, b)
    g.reset_from_seed(1234)
    np.testing.assert_array_equal(g.normal([3]).numpy(), a)
    g.reset([1234, 0, 0])
    g.skip(3)
    np.testing.assert_array_equal(g.normal([3]).numpy(), b)
    twin = copy.deepcopy(g)
    np.testing.assert_array_equal(twin.uniform([2]).numpy(), g.uniform([2]).numpy())
    assert g.algorithm == 1 and td.random.Generator.from_seed(1, "threefry").algorithm == 2


def test_a_generator_draws_the_same_traced_and_writes_its_state():
    eager = td.random.Generator.from_seed(5)
    wanted = [eager.normal([2, 3], 1.0, 2.0).numpy(), eager.uniform([4], 0, 9, "int32").numpy(), eager.truncated_normal([2]).numpy()]
    g = td.random.Generator.from_seed(5)

    @td.function
    def draw(n):
        return g.normal([n, 3], 1.0, 2.0), g.uniform([4], 0, 9, "int32"), g.truncated_normal([2])

    for got, want in zip(draw(td.constant(2)), wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), want)
    np.testing.assert_array_equal(g.state.numpy(), eager.state.numpy())
    assert not np.array_equal(draw(td.constant(2))[0].numpy(), wanted[0])


def test_the_counter_carries_into_its_high_word():
    g = td.random.Generator.from_state([-1, 7, 3], "philox")
    g.skip(1)
    np.testing.assert_array_equal(g.state.numpy(), [255, 8, 3])
    assert int(g.key) == 3


@pytest.mark.parametrize("alg", ["philox", "threefry"])
def test_generators_split_into_different_ones(alg):
    g = td.random.Generator.from_key_counter(5, [1, 2] if alg == "philox" else [1], alg)
    parts = g.split(3)
    drawn = [p.uniform_full_int([4], "uint64").numpy() for p in (g, *parts)]
    assert len({tuple(d) for d in drawn}) == 4
    assert g.make_seeds(2).shape == (2, 2) and g.make_seeds(2).dtype == td.int64
    assert g.binomial([2], 5.0, 0.5).dtype == td.int32
    assert g.uniform([2], None, None, "uint32").dtype == td.uint32


def test_states_are_made_of_seeds_as_tensorflow_makes_them():
    state = td.random.create_rng_state
    np.testing.assert_array_equal(state(2**65 + 7, "philox").numpy(), [7, 2, 0])
    np.testing.assert_array_equal(state([9], "philox").numpy(), [0, 0, 9])
    np.testing.assert_array_equal(state([1, 2, 3, 4], "philox").numpy(), [1, 2, 3])
    np.testing.assert_array_equal(state([2**64 - 1, 1], "threefry").numpy(), [-1, 1])
    with pytest.raises(ValueError, match=r"shape \[3\]"):
        td.random.Generator.from_state([1, 2], "philox")


def test_the_global_generator_can_be_replaced():
    g = td.random.Generator.from_seed(3)
    td.random.set_global_generator(g)
    assert td.random.get_global_generator() is g
    assert td.function(lambda: td.random.get_global_generator().normal([2]))().shape == (2,)


# ---------------------------------------------------------------------- initializers


def test_initializers_with_a_seed_repeat_themselves_and_say_how_they_are_made():
    first = td.random_normal_initializer(1.0, 0.1, seed=3)
    np.testing.assert_array_equal(first([4]).numpy(), first([4]).numpy())
    again = td.random_normal_initializer.from_config(first.get_config())
    np.testing.assert_array_equal(first([4]).numpy(), again([4]).numpy())
    uniform = td.random_uniform_initializer(-1, 5)
    assert not np.array_equal(uniform([50]).numpy(), uniform([50]).numpy())
    whole = uniform([50], td.int32).numpy()
    assert whole.min() >= -1 and whole.max() < 5
    with pytest.raises(ValueError, match="floating"):
        first([2], td.int32)
    with pytest.raises(TypeError, match="Unknown"):
        first([2], colour=1)
