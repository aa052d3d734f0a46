"""Samples to run ops on: what one is, variations of one, and some made from the contract of an elementwise op.

A variation changes dtype, values or sizes of a given sample. Whether the op takes it is for its inference to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from treadle import dtypes
from treadle.contracts.op import Op, attributes
from treadle.dtypes import DType, from_numpy
from treadle.eager.dispatch import convert_inputs
from treadle.plugins import host
from treadle.registry import registry
from treadle.tensor import Tensor

DTYPES = tuple(d.name for d in dtypes.ALL if "float8" not in d.name)
STATIC, SIZES, RANKS = "nothing", "sizes", "ranks"
"""What a trace does not know of its inputs."""

_SPECIAL = (np.nan, -0.0, np.inf, 0.0, -np.inf, 1e-45, 1.0, -1.0)


@dataclass(frozen=True)
class Checks:
    """What of a sample is checked, and what its op is excused from."""

    order: int = 2
    """Up to which order gradients are compared with finite differences; 0 for none."""

    complex_order: int = 2
    """The same for complex inputs, where the op takes them; 0 where TensorFlow's gradient is not conjugated, or the results are not unique."""

    dtypes: tuple[str, ...] = DTYPES
    """The dtypes that the tensor inputs are tried in: each must work or be refused."""

    edges: bool = True
    """Try NaN, infinities, signed zeros and the largest integers."""

    shapes: bool = True
    """Try other ranks and sizes, empty arrays among them: what inference refuses the kernel must refuse too."""

    sizes_follow: bool = True
    """The result's sizes follow from the shapes and host values of the inputs; False where they depend on values."""

    same_bits: bool = True
    """The same inputs give the same bits; False for random draws."""

    unknown: tuple[str, ...] = (SIZES, RANKS)
    """What it can be traced without knowing of its inputs: their ``sizes``, their ``ranks``."""

    gradient_unknown: tuple[str, ...] = (SIZES, RANKS)
    """The same for its gradients."""

    hosts_known: bool = False
    """Its host values must be known while tracing."""

    constant: tuple[str, ...] = ()
    """Inputs that get no gradient, or not the whole of it, although the result depends on them."""

    symmetric: tuple[str, ...] = ()
    """Inputs that are Hermitian matrices: their gradients are compared along Hermitian directions."""

    through: Callable[[list[Any]], list[Any]] | None = None
    """A function of the differentiable results to differentiate instead of them, for results that are not unique."""

    rtol: float = 1e-6
    """How closely gradients must agree with finite differences."""

    agree: float = 1e-12
    """How closely gradients of different ways to run must agree with each other."""

    @property
    def alone(self) -> Checks:
        """The same without variations: for the further samples of an op, when these were tried on the first."""
        return replace(self, dtypes=(), edges=False, shapes=False)


class Sample(NamedTuple):
    """Inputs and attributes to run an op on.

    Attributes:
        inputs: per declared input an array (or what becomes one), a list of these, or a host value as nested tuples.
        attrs: attributes by name.
        checks: what is checked.
    """

    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    checks: Checks


def sample(*inputs: Any, checks: Checks | None = None, **attrs: Any) -> Sample:
    """A sample, written as the op would be called."""
    return Sample(inputs, attrs, checks or Checks())


@dataclass
class Case:
    """One call of an op, its tensor inputs as host arrays.

    Attributes:
        op: the contract.
        inputs: per declared input an array, a list of arrays, or a host value.
        attrs: every attribute.
        what: the variation in words; empty for the sample itself.
    """

    op: Op
    inputs: list[Any]
    attrs: dict[str, Any]
    what: str = field(default="")

    def __str__(self) -> str:
        described = []
        for declared, given in zip(self.op.inputs, self.inputs, strict=True):
            if declared.kind == "host":
                described.append(f"{declared.name}={given!r}")
            elif declared.sequence:
                described.append(f"{declared.name}=[{', '.join(f'{a.dtype}{list(a.shape)}' for a in given)}]")
            else:
                described.append(f"{declared.name}={given.dtype}{list(given.shape)}")
        described += [f"{name}={value!r}" for name, value in self.attrs.items()]
        return f"{self.op.name}({', '.join(described)}){f' ({self.what})' if self.what else ''}"

    def map(self, change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], kinds: tuple[str, ...], what: str) -> Case:
        """The same with every array of inputs of some kinds changed."""
        inputs = []
        for declared, given in zip(self.op.inputs, self.inputs, strict=True):
            if declared.kind in kinds:
                inputs.append([change(a) for a in given] if declared.sequence else change(given))
            else:
                inputs.append(given)
        return Case(self.op, inputs, self.attrs, what)

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """The arrays in order, sequences spread out."""
        return [a for declared, given in zip(self.op.inputs, self.inputs, strict=True) if declared.kind != "host" for a in listed(given)]


def listed(given: Any) -> list[Any]:
    """A list as it is, anything else in a list."""
    return given if isinstance(given, list) else [given]


def op_of(op: Any) -> Op:
    """The contract that a name, an entry point or a public function stands for.

    Raises:
        TypeError: it stands for none.
    """
    if isinstance(op, str):
        host.load_ops()
        if "." in op and op not in registry.ops:
            host.load_ops(op.partition(".")[0])
        return registry.op(op)
    found = getattr(op, "op", op)
    if not isinstance(found, Op):
        raise TypeError(f"{op!r} is no op; give its name, its entry point (the function decorated by @op) or its contract")
    return found


def case_of(op: Op, given: Sample) -> Case:
    """A sample with its inputs as arrays."""
    attrs = attributes(op, given.attrs)
    inputs = [
        [_array(t) for t in entry] if isinstance(entry, list) else _array(entry) if isinstance(entry, Tensor) else entry
        for entry in convert_inputs(op, given.inputs)
    ]
    return Case(op, inputs, attrs)


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    return np.array(tensor._host())


# ---------------------------------------------------------------------- variations


def main_dtype(case: Case) -> DType | None:
    """The dtype that the tensor inputs share: that of the first."""
    for declared, given in zip(case.op.inputs, case.inputs, strict=True):
        if declared.kind == "tensor" and listed(given):
            return from_numpy[listed(given)[0].dtype]
    return None


def in_dtype(case: Case, name: str) -> Case:
    """The case with its tensor inputs of the main dtype in another one."""
    main, wanted = main_dtype(case), dtypes.as_dtype(name)

    def change(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return _cast(array, wanted) if from_numpy[array.dtype] is main else array

    return case.map(change, ("tensor",), name)


def in_double(case: Case) -> Case:
    """The case with every floating input in float64, every complex one in complex128."""

    def change(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        kind = from_numpy[array.dtype].kind
        return array.astype(np.float64) if kind == "f" else array.astype(np.complex128) if kind == "c" else array

    return case.map(change, ("tensor", "free"), case.what)


def in_complex(case: Case) -> Case:
    """The case with imaginary parts in its tensor inputs of the main dtype, in complex128."""
    main = main_dtype(case)

    def change(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if from_numpy[array.dtype] is not main:
            return array
        return np.asarray(array + 0.4j * np.roll(array, 1)).astype(np.complex128)

    return case.map(change, ("tensor",), "complex128")


def _cast(array: np.ndarray[Any, Any], wanted: DType) -> np.ndarray[Any, Any]:
    """An array in another dtype; fractions are rounded and negative values made positive where they must be."""
    own = from_numpy[array.dtype]
    if own.kind == "c" and wanted.kind != "c":
        array = array.real
    if wanted.is_bool:
        return array > 0
    if own.is_bool:
        array = array.astype(np.int8)
    if wanted.is_integer and not own.is_integer:
        array = np.rint(array.astype(np.float64))
    if wanted.is_unsigned:
        array = np.abs(array)
    if wanted.kind == "f" and own.kind == "f" and min(own.size, wanted.size) < 4:
        array = array.astype(np.float32)
    return np.asarray(array).astype(wanted.numpy)


def with_edges(case: Case) -> Iterator[Case]:
    """The case with special values in its tensor inputs: in each alone, then in all."""
    names = [d.name for d in case.op.inputs if d.kind == "tensor"]
    for chosen in ([n] for n in names) if len(names) > 1 else ():
        yield _special(case, set(chosen))
    yield _special(case, set(names))


def _special(case: Case, names: set[str]) -> Case:
    inputs = []
    turn = itertools.count()
    for declared, given in zip(case.op.inputs, case.inputs, strict=True):
        if declared.kind == "tensor" and declared.name in names:
            given = [_specials(a, next(turn)) for a in given] if declared.sequence else _specials(given, next(turn))
        inputs.append(given)
    return Case(case.op, inputs, case.attrs, f"special values in {', '.join(sorted(names))}")


def _specials(array: np.ndarray[Any, Any], shift: int) -> np.ndarray[Any, Any]:
    dtype = from_numpy[array.dtype]
    changed = np.array(array)
    flat = changed.reshape(-1)
    if dtype.is_integer:
        values: Any = (dtype.max, dtype.min, 0, 1)
    elif dtype.is_bool:
        return changed
    else:
        values = _SPECIAL
    for place, value in zip(range(0, flat.size, 2), itertools.cycle(values[shift % len(values) :] + values[:shift]), strict=False):
        flat[place] = value
    return changed


def _emptied(size: int, array: Any) -> Any:
    return array[tuple(slice(0) if n == size else slice(None) for n in array.shape)]


def with_other_shapes(case: Case) -> Iterator[Case]:
    """The case with one size or rank changed, or one number of a host value: every one may be refused, none may be misjudged."""
    sizes = {size for array in case.arrays() for size in array.shape}
    for size in sorted(sizes - {0}):
        yield case.map(partial(_emptied, size), _TENSORS, f"every size {size} made 0")
    for i, (declared, given) in enumerate(zip(case.op.inputs, case.inputs, strict=True)):
        if declared.kind == "host":
            changes = [(f"{declared.name} = {value!r}", value) for value in _other_numbers(given)]
        elif declared.sequence:
            changes = [
                (f"{declared.name}[{k}] {what}", [*given[:k], a, *given[k + 1 :]]) for k in range(len(given)) for what, a in _other_arrays(given[k])
            ]
            changes += [(f"{declared.name} one shorter", given[:-1])] if len(given) > 1 else []
        else:
            changes = [(f"{declared.name} {what}", a) for what, a in _other_arrays(given)]
        for what, changed in changes:
            yield Case(case.op, [*case.inputs[:i], changed, *case.inputs[i + 1 :]], case.attrs, what)


_TENSORS = ("tensor", "index", "bool", "free")


def _other_arrays(array: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    yield "with an axis more", np.array(array)[None]
    if array.ndim:
        yield "without its first axis", array[0] if len(array) else np.zeros(array.shape[1:], array.dtype)
        yield "without any axis", array.reshape(-1)[0:1].reshape(()) if array.size else np.zeros((), array.dtype)
    for axis, size in enumerate(array.shape):
        if size:
            yield f"with size {size + 1} in axis {axis}", np.concatenate([array, np.take(array, [0], axis)], axis)
        if size > 1:
            yield f"with size {size - 1} in axis {axis}", np.take(array, range(size - 1), axis)


def _other_numbers(value: Any) -> Iterator[Any]:
    """The host value with one number changed, and with one item fewer or more."""
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            for other in _other_numbers(item):
                if not isinstance(item, tuple) or len(other) == len(item):
                    yield (*value[:i], other, *value[i + 1 :])
        if value:
            yield value[:-1]
            yield (*value, value[-1])
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value + 1
        yield value - 1
        yield -value - 2


# ---------------------------------------------------------------------- samples from the contract


def elementwise_samples(
    op: Any, low: float = -2.0, high: float = 2.0, *, dtype: Any = np.float32, checks: Checks | None = None, **attrs: Any
) -> list[Sample]:
    """Samples of an elementwise op: equal shapes, broadcasting, rank 0 and no elements at all.

    Args:
        op: the op, its entry point or its name.
        low: the lowest value drawn.
        high: the highest.
        dtype: of the inputs.
        checks: for the first sample; the others leave out the variations.
        **attrs: attributes.
    """
    contract = op_of(op)
    checks = checks or Checks()
    rng = np.random.default_rng(7)
    count = len(contract.inputs)
    shapes: list[tuple[tuple[int, ...], ...]] = [((3, 5),) * count, ((),) * count, ((0, 2),) * count]
    if count > 1:
        shapes[1:1] = [((2, 3), (3,), (2, 1))[:count], ((), (4,), (4,))[:count]]

    def draw(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        wanted = dtypes.as_dtype(dtype)
        drawn = rng.uniform(low, high, shape)
        return _cast(drawn + 1j * rng.uniform(low, high, shape) if wanted.is_complex else drawn, wanted)

    return [Sample(tuple(draw(s) for s in each), attrs, checks.alone if i else checks) for i, each in enumerate(shapes)]
