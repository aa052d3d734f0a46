"""Every op that has a kernel for arrays or for GPUs runs on the stand-in and agrees with the CPU; those that have none are listed here."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from treadle.errors import IndexOutOfRangeError, InvalidArgumentError, KernelNotFoundError
from treadle.registry import registry

NO_KERNEL = {"dawsn", "fresnel_cos", "fresnel_sin", "igamma_derivative", "logm", "spence", "sqrtm"}
"""Ops that a GPU has no kernel for."""

NOT_REACHED = {"eig", "eigvals"}
"""Ops with a kernel that nothing below runs: CuPy 13 has no ``eig``."""


@pytest.fixture(scope="module")
def bound(td):
    """The kernels that were bound to a card since the module began, as the functions that declare them."""
    from treadle_cuda.device import GpuDevice

    found, bind = set(), GpuDevice.bind

    def noting(self, factory):
        found.add(factory)
        return bind(self, factory)

    GpuDevice.bind = noting
    yield found
    GpuDevice.bind = bind


@pytest.fixture(scope="module")
def golden(td, bound, run_on_card):
    """What the golden vectors came to, eager and traced."""
    import cupy

    cupy.cuda.violations.clear()
    found = {"eager": run_on_card.compare(td, "/GPU:0", per_op=5), "traced": run_on_card.compare(td, "/GPU:0", per_op=2, traced=True)}
    gc.collect()
    assert cupy.cuda.violations == []
    return found


@pytest.mark.parametrize("mode", ["eager", "traced"])
def test_golden_vectors_agree(golden, mode):
    assert golden[mode]["wrong"] == []
    assert len(golden[mode]["passed"]) > 500


def test_only_cases_with_dtypes_that_cupy_lacks_are_refused(golden, run_on_card):
    index, _ = run_on_card.golden().load(run_on_card.GOLDEN)
    cases = {case["id"]: case for case in index["cases"]}
    for line in golden["eager"]["refused"]:
        assert "bfloat16" in str(cases[line.partition(":")[0]]), line


def test_ops_without_a_kernel_are_those_that_are_listed(td, golden):
    td.ones([1]).gpu()
    lacking = {name for name in registry.ops if not {"array", "GPU"} & set(registry.kernel_rows(name))}
    assert lacking - NO_KERNEL == set(), "these ops lost, or never had, a kernel for GPUs: write one, or list them in NO_KERNEL and in docs/gpu.md"
    assert NO_KERNEL - lacking - (NO_KERNEL - set(registry.ops)) == set(), "these ops have a kernel now: strike them off NO_KERNEL"


def test_an_op_without_a_kernel_says_so(td, cards):
    with pytest.raises(KernelNotFoundError, match="no kernel for op 'dawsn' on device '/GPU:0' with dtype float32; kernels present: CPU"):
        td.math.special.dawsn(td.ones([2]).gpu())
    with pytest.raises(KernelNotFoundError, match=r"no kernel for op 'eig' on a GPU: CuPy 13.6.0 has no linalg.eig, version 14 does"):
        td.linalg.eig(td.eye(2).gpu())


# ---------------------------------------------------------------------- what the golden vectors do not call

RNG = np.random.default_rng(11)
POSITIVE = RNG.uniform(0.2, 3, (3, 4)).astype(np.float32)
ANY = RNG.standard_normal((3, 4)).astype(np.float32)
IMAGE = RNG.standard_normal((1, 5, 5, 2)).astype(np.float32)
TIES = np.array([[1, 2, 2], [3, 3, 1]], np.float32)
NUMBERS = np.array([[-7, 7, 5], [2, -3, 9]], np.int32)


def second_order(td, function, *arrays):
    """The gradient of the norm of a gradient."""
    tensors = [td.constant(a) for a in arrays]
    with td.GradientTape() as outer:
        outer.watch(tensors)
        with td.GradientTape() as inner:
            inner.watch(tensors)
            value = td.reduce_sum(function(*tensors) ** 2)
        gradient = inner.gradient(value, tensors[0])
        norm = td.reduce_sum(gradient**2)
    return [g for g in outer.gradient(norm, tensors) if g is not None]


def special(td):
    x, y = td.constant(POSITIVE), td.constant(POSITIVE[::-1].copy())
    names = "bessel_i0 bessel_i0e bessel_i1 bessel_i1e"
    results = [getattr(td.math, name)(x) for name in names.split()]
    names = "bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 expint"
    results += [getattr(td.math.special, name)(x) for name in names.split()]
    return [*results, td.math.ndtri(x / 4), td.math.polygamma(td.ones([3, 4]), x), td.math.zeta(x + 1, y), td.math.erfinv(x / 4)]


def comparisons(td):
    anything = td.function(lambda x, y: (x == y, x != y), autograph=False, input_signature=[td.TensorSpec(None), td.TensorSpec(None)])
    x, y = td.constant(ANY), td.constant(POSITIVE)
    return [x == y, x != y, x == td.constant(TIES), *anything(x, y), *anything(x, td.constant(TIES))]


def axes_at_run_time(td):
    axis = td.constant([1])

    @td.function(autograph=False, input_signature=[td.TensorSpec([3, 4]), td.TensorSpec([1], td.int32)])
    def reduced(x, axis):
        with td.GradientTape() as tape:
            tape.watch(x)
            value = td.reduce_sum(x**2, axis)
        return value, td.reduce_max(x, axis, keepdims=True), td.reduce_logsumexp(x, axis), tape.gradient(value, x)

    @td.function(autograph=False, input_signature=[td.TensorSpec([3, 4]), td.TensorSpec([], td.int32)])
    def ordered(x, axis):
        with td.GradientTape() as tape:
            tape.watch(x)
            turned = td.transpose(x, td.stack([axis, 1 - axis])) ** 2
        return td.concat([x, x], axis), td.expand_dims(x, axis), turned, tape.gradient(turned, x)

    results = [reduced(td.constant(ANY), axis), ordered(td.constant(ANY), td.constant(1))]
    return [tensor for group in results for tensor in group]


def indices_at_run_time(td):
    @td.function(autograph=False, input_signature=[td.TensorSpec([None, None]), td.TensorSpec([], td.int32)])
    def pieces(x, i):
        with td.GradientTape() as tape:
            tape.watch(x)
            value = td.reduce_mean(x**2, 0) + td.reduce_max(x, 0) + td.reduce_sum(x, [0], keepdims=True)
        return x[i], x[i:, :2], td.shape(x)[1:], td.zeros_like(x), td.ones_like(x), tape.gradient(value, x)

    @td.function(autograph=False, input_signature=[td.TensorSpec(None)])
    def slope(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            value = td.reduce_sum(x**2, [0])
        return tape.gradient(value, x)

    v = td.Variable(ANY)
    v[1:, 2].assign(td.constant([5.0, 6.0]))
    with td.GradientTape() as tape:
        value = td.reduce_sum(v[td.constant(1) :] ** 2)
    return [*pieces(td.constant(ANY), td.constant(1)), slope(td.constant(ANY)), v.value(), tape.gradient(value, v)]


def ranks_at_run_time(td):
    def of_unknown_rank(function, *arrays):
        def slopes(*tensors):
            with td.GradientTape() as tape:
                tape.watch(tensors)
                results = function(*tensors)
            return tape.gradient(results, tensors)

        signature = [td.TensorSpec(None)] * len(arrays)
        return td.function(slopes, autograph=False, input_signature=signature)(*map(td.constant, arrays))

    results = of_unknown_rank(lambda a, b: td.tensordot(a, b, [[1], [0]]), ANY, POSITIVE.T.copy())
    results += of_unknown_rank(lambda a: td.linalg.qr(a, full_matrices=True), ANY)
    results += of_unknown_rank(lambda x: td.sort(x, 0) ** 2, ANY)
    results += of_unknown_rank(lambda x: td.image.transpose(x) ** 2, IMAGE)
    return [*results, *of_unknown_rank(lambda x: td.roll(x, [1, 2], [0, 1]) ** 2, ANY)]


def second_gradients(td):
    pooled = lambda x: td.nn.max_pool2d(x, 2, 2, "SAME")  # noqa: E731
    dilated = lambda x, w: td.nn.dilation2d(x, w, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])  # noqa: E731
    results = [*second_order(td, pooled, IMAGE), *second_order(td, dilated, IMAGE, IMAGE[0, :2, :2])]
    results += second_order(td, lambda w, x: dilated(x, w), IMAGE[0, :2, :2], IMAGE)
    ids = td.constant([0, 0, 1])
    results += second_order(td, lambda x: td.math.segment_max(x, ids), ANY)
    return [*results, *second_order(td, lambda x: td.reduce_max(x, 1), TIES), *second_order(td, lambda x: td.reduce_mean(x, 0), ANY)]


def callbacks(td):
    x = td.constant(ANY)
    with td.GradientTape() as tape:
        tape.watch(x)
        (y,) = td.py_function(lambda a: [a * a], [x], [td.float32])

    @td.function(autograph=False)
    def traced(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            (y,) = td.py_function(lambda a: [a * a], [x], [td.float32])
        return y, tape.gradient(y, x)

    return [y, tape.gradient(y, x), td.numpy_function(np.sin, [x], td.float32), *traced(x)]


def assertions(td):
    x = td.constant(ANY)
    td.debugging.assert_rank(x, 2)
    td.debugging.assert_shapes([(x, ("n", 4))])
    checked = td.function(lambda x: [td.debugging.assert_rank(x, 2), td.debugging.assert_shapes([(x, ("n", 4))]), x][-1], autograph=False)
    checked.get_concrete_function(td.TensorSpec(None))(x)
    td.print("on a card:", x[0], output_stream="file:///dev/null")
    with pytest.raises(InvalidArgumentError, match="x < y did not hold"):
        td.debugging.assert_less(x, x)
    return [x]


def randomness(td):
    td.random.set_seed(3)
    generator = td.random.Generator.from_seed(5)
    results = [td.random.normal([5]), td.random.uniform([4], maxval=9, dtype=td.int64), td.random.shuffle(td.range(6)), generator.normal([3])]
    generator.skip(3)
    dropped = td.nn.dropout(td.ones([50]), 0.5, seed=4)
    return [*results, generator.uniform([2]), td.random.stateless_truncated_normal([7], [1, 2]), td.random.stateless_gamma([5], [1, 2], 0.7), dropped]


def remainders(td):
    x, y = td.constant([5.0, -5.0, 7.5, -7.5, 0.0, -0.0, 1e30]), td.constant([np.inf, np.inf, 2.0, 2.0, -3.0, 3.0, 0.1])
    big = td.constant([2**62 + 1, -(2**62) - 3], td.int64), td.constant([10, 7], td.int64)
    n, m = td.constant(NUMBERS), td.constant([[3, -3, 4], [-7, 2, -2]])
    return [x % y, x // y, td.truncatemod(x, y), n % m, n // m, td.truncatemod(n, m), td.truncatediv(n, m), td.truncatemod(*big), big[0] % big[1]]


def scattered(td):
    at = td.constant([[0], [2], [0], [0]])
    results = []
    for dtype in (td.float32, td.float64, td.float16, td.int64, td.int32, td.uint64, td.int8, td.uint8, td.complex64):
        base, updates = td.cast(td.constant([1, 2, 3]), dtype), td.cast(td.constant([4, 5, 6, 7]), dtype)
        results += [td.tensor_scatter_nd_add(base, at, updates), td.tensor_scatter_nd_sub(base, at, updates), td.scatter_nd(at, updates, [4])]
        if dtype is not td.complex64:
            results += [td.tensor_scatter_nd_max(base, at, updates), td.tensor_scatter_nd_min(base, at, updates)]
    base, updates = td.constant([1.0, -2.0, 0.1], td.float64), td.constant([1 + 2**-40, -np.inf, np.nan, -3.0], td.float64)
    results += [td.tensor_scatter_nd_max(base, at, updates), td.tensor_scatter_nd_min(base, at, updates)]
    return [*results, td.tensor_scatter_nd_update(td.constant([1, 2, 3]), [[1]], [9]), td.math.unsorted_segment_sum(ANY, [1, 0, 1], 2)]


def images(td):
    x = td.constant(IMAGE)
    with td.GradientTape() as tape:
        tape.watch(x)
        value = td.nn.local_response_normalization(x, 1)
    return [value, tape.gradient(value, x)]


def matrices(td):
    x = td.constant(np.stack([ANY[:, :3] + 3 * np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)]))
    lu, p = td.linalg.lu(x)
    rank = td.function(td.linalg.matrix_rank, autograph=False, input_signature=[td.TensorSpec([None, None, None])])
    return [
        lu,
        p,
        td.linalg.lu_reconstruct(lu, p),
        rank(x),
        td.linalg.inv(x),
        td.linalg.det(x),
        td.linalg.solve(x, x[..., :1]),
        *td.linalg.eigh_tridiagonal(ANY[0], ANY[1, :3], eigvals_only=False)[:1],
    ]


def counts(td):
    weights = td.constant([1.0, 2.0, 3.0])
    with td.GradientTape() as tape:
        tape.watch(weights)
        value = td.math.bincount([1, 1, 0], weights)
    return [value, tape.gradient(value, weights)]


def tensor_arrays(td):
    def run(x):
        array = td.TensorArray(td.float32, size=3, dynamic_size=True, clear_after_read=False)
        with td.GradientTape() as tape:
            tape.watch(x)
            for i in range(3):
                array = array.write(i, x[i] * 2.0)
            total = td.reduce_sum(array.stack() ** 2) + td.reduce_sum(array.read(1)) + td.reduce_sum(array.gather([0, 2]) ** 3)
        cleared = td.TensorArray(td.float32, size=3).unstack(x)
        placed = td.TensorArray(td.float32, size=3).scatter([2, 0, 1], x)
        pieces = td.TensorArray(td.float32, size=2, infer_shape=False).split(x, [1, 2])
        return total, tape.gradient(total, x), cleared.read(0), placed.stack(), pieces.concat(), array.size()

    return [*run(td.constant(ANY)), *td.function(run, autograph=False)(td.constant(ANY))]


def loops(td):
    def body(i, y):
        return i + 1, td.cond(i > 0, lambda: y * td.sin(y), lambda: y * y)

    def run(x):
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as tape:
                tape.watch(x)
                total = td.reduce_sum(td.while_loop(lambda i, _: i < 3, body, (0, x))[1])
            first = tape.gradient(total, x)
        return total, first, outer.gradient(first, x)

    def folded(x):
        return td.foldl(lambda a, e: a * td.sin(e), x)

    given = td.constant(ANY[0])
    traced, rows = (td.function(f, autograph=False, input_signature=[td.TensorSpec([None])]) for f in (run, folded))
    return [*traced(given), rows(given)]


def embeddings(td):
    table, ids = td.Variable(ANY), td.constant([2, 0, 2, 2, 1])
    with td.GradientTape() as tape:
        value = td.reduce_sum(td.nn.embedding_lookup(table, ids) ** 2)
    return [td.convert_to_tensor(tape.gradient(value, table))]


def checks_of_numerics(td):
    td.debugging.enable_check_numerics()
    try:
        return [td.function(lambda x: td.exp(x) * 2.0)(td.constant(ANY))]
    finally:
        td.debugging.disable_check_numerics()


PROGRAMS = [special, comparisons, axes_at_run_time, indices_at_run_time, ranks_at_run_time, second_gradients, callbacks, assertions, randomness]
PROGRAMS += [remainders, scattered, images, matrices, counts, tensor_arrays, loops, embeddings, checks_of_numerics]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs_agree_with_the_cpu(td, cards, program):
    with td.device("/CPU:0"):
        wanted = program(td)
    with td.device("/GPU:0"):
        found = program(td)
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        if isinstance(want, bool):
            assert got is want
            continue
        assert got.device == "/GPU:0"
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=2e-5, atol=2e-6, strict=want.ndim > 0)


def test_every_op_with_a_kernel_was_run(td, golden, bound):
    for program in PROGRAMS:
        with td.device("/GPU:0"):
            program(td)
    missed = set()
    ours = (name for name, entry in registry.ops.items() if entry.plugin == "core")
    for op in ours:
        rows = registry.kernel_rows(op)
        row = rows.get("GPU") or rows.get("array")
        if row is not None and row.value.factory not in bound:
            missed.add(op)
    assert not missed - NOT_REACHED, (
        f"no golden vector and no program above runs {sorted(missed - NOT_REACHED)} on a GPU: add a program, or list them in NOT_REACHED"
    )


# ---------------------------------------------------------------------- indices


def test_indices_out_of_range_are_refused_though_cupy_wraps_them_round(td, cards):
    import cupy

    with td.device("/GPU:0"):
        x, bad = td.constant(ANY), td.constant([0, 3])
        assert cupy.arange(3)[cupy.array([0, 3])].tolist() == [0, 0]
        calls = [
            lambda: td.gather(x, bad),
            lambda: td.gather(x, [-1]),
            lambda: td.gather(x, [[4], [0], [1]], axis=1, batch_dims=1),
            lambda: td.gather_nd(x, [[0, 4]]),
            lambda: td.tensor_scatter_nd_update(x, [[3]], [ANY[0]]),
            lambda: td.scatter_nd([[5]], [1.0], [4]),
            lambda: td.nn.embedding_lookup(x, bad),
            lambda: td.dynamic_partition(x, [0, 1, 2], 2),
            lambda: td.unravel_index(td.constant([12]), [3, 4]),
        ]
        for call in calls:
            with pytest.raises((IndexOutOfRangeError, InvalidArgumentError)):
                call()
            with pytest.raises((IndexOutOfRangeError, InvalidArgumentError)):
                td.function(call, autograph=False)()
        with pytest.raises(InvalidArgumentError, match="labels must be in"):
            td.nn.sparse_softmax_cross_entropy_with_logits(labels=td.constant([0, 4, 1]), logits=x)
        with pytest.raises(IndexError):
            x[3]


def test_the_same_sums_have_the_same_bits(td, cards):
    with td.device("/GPU:0"):
        at, updates = td.constant(RNG.integers(0, 5, (4000, 1))), td.constant(RNG.standard_normal((4000, 3)), td.float32)
        first = td.scatter_nd(at, updates, [5, 3]).numpy()
        turned = np.argsort(at.numpy()[:, 0], kind="stable")
        again = td.scatter_nd(at.numpy()[turned], updates.numpy()[turned], [5, 3]).numpy()
    np.testing.assert_array_equal(first, again)  # the order of other rows does not matter
