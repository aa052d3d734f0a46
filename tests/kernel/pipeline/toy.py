"""A toy plugin: ten ops, one device and one pass, enough to run the kernel's pipelines with nothing else installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treadle import dims as sizes
from treadle.contracts.device import Availability, Device
from treadle.contracts.passes import Pass, PassContext
from treadle.declare import HostSpec, Spec, gradient, kernel, op, public
from treadle.dtypes import DType, int32
from treadle.errors import DTypeError, InvalidArgumentError


def _same(*specs: Spec) -> DType:
    if len({s.dtype for s in specs}) > 1:
        raise DTypeError(f"the inputs have the dtypes {specs[0].dtype.name} and {specs[1].dtype.name}; they must be equal")
    return specs[0].dtype


@op("toy.add", public="toy.add", elementwise=True, commutative=True)
def add(x: Spec, y: Spec) -> Spec:
    """x + y."""
    return Spec(sizes.broadcast(x.dims, y.dims), _same(x, y))


@op("toy.mul", public="toy.mul", elementwise=True, commutative=True)
def mul(x: Spec, y: Spec) -> Spec:
    """x * y."""
    return Spec(sizes.broadcast(x.dims, y.dims), _same(x, y))


@op("toy.neg", public="toy.neg", elementwise=True)
def neg(x: Spec) -> Spec:
    """-x."""
    return Spec(x.dims, x.dtype)


@op("toy.total", public="toy.total")
def total(x: Spec) -> Spec:
    """The sum of all elements."""
    return Spec((), x.dtype)


@op("toy.full", public="toy.full")
def full(value: Spec, shape: HostSpec) -> Spec:
    """A scalar repeated to a shape."""
    if value.dims not in ((), None):
        raise InvalidArgumentError(f"value has shape {value.shape}; expected a scalar")
    return Spec(shape.value, value.dtype)


@op("toy.fit")
def fit(x: Spec, shape: HostSpec) -> Spec:
    """x summed to a shape that broadcasts to its own."""
    return Spec(shape.value, x.dtype)


@op("toy.shape", spec_only=True)
def shape_op(x: Spec) -> Spec:
    """The sizes of x."""
    return Spec((sizes.Dim.symbol() if x.dims is None else len(x.dims),), int32, x.dims)


@op("toy.halves", public="toy.halves")
def halves(x: Spec) -> tuple[Spec, Spec]:
    """The first and the second half of a vector."""
    (n,) = x.dims or (2,)
    return Spec((sizes.floordiv(n, 2),), x.dtype), Spec((sizes.add(n, sizes.mul(-1, sizes.floordiv(n, 2))),), x.dtype)


@op("toy.join", public="toy.join")
def join(xs: Sequence[Spec]) -> Spec:
    """Vectors one after the other."""
    length: Any = 0
    for x in xs:
        length = sizes.add(length, (x.dims or (0,))[0])
    return Spec((length,), _same(*xs))


@op("toy.draw", public="toy.draw", effect="random")
def draw() -> Spec:
    """The next number of a counter."""
    return Spec((), int32)


@op("toy.say", public="toy.say", effect="io")
def say(x: Spec, *, to: Any) -> None:
    """Append the value of x to a list."""


def shape_of(x: Any) -> Any:
    """The shape as a tuple where it is known, else as a tensor."""
    return tuple(x.dims) if x.dims is not None and all(isinstance(d, int) for d in x.dims) else shape_op(x)


@gradient(add)
def _(ctx: Any, g: Any) -> Any:
    return tuple(fit(g, shape_of(x)) for x in ctx.inputs)


@gradient(mul)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return fit(mul(g, y), shape_of(x)) if ctx.needs[0] else None, fit(mul(g, x), shape_of(y)) if ctx.needs[1] else None


@gradient(neg)
def _(ctx: Any, g: Any) -> Any:
    return neg(g)


@gradient(total)
def _(ctx: Any, g: Any) -> Any:
    return full(g, shape_of(ctx.inputs[0]))


@gradient(fit)
def _(ctx: Any, g: Any) -> Any:
    return add(g, mul(ctx.inputs[0], 0.0)), None


@gradient(full)
def _(ctx: Any, g: Any) -> Any:
    return total(g), None


@gradient(halves)
def _(ctx: Any, a: Any, b: Any) -> Any:
    return join([a, b])


@public("toy.zeros_like")
def zeros_like(x: Any) -> Any:
    """Zeros of the shape of x."""
    return mul(x, 0.0)


def ones_like(x: Any) -> Any:
    """Ones of the shape of x."""
    return add(mul(x, 0.0), 1.0)


counter = [0]


@kernel("toy.add")
def _add(xp: Any) -> Any:
    return np.add


@kernel("toy.mul")
def _mul(xp: Any) -> Any:
    return np.multiply


@kernel("toy.neg")
def _neg(xp: Any) -> Any:
    return np.negative


@kernel("toy.total")
def _total(xp: Any) -> Any:
    return lambda x: x.sum()


@kernel("toy.full")
def _full(xp: Any) -> Any:
    return lambda value, shape: np.full(shape, value, value.dtype)


@kernel("toy.fit")
def _fit(xp: Any) -> Any:
    def run(x: Any, shape: Any) -> Any:
        lead = x.ndim - len(shape)
        axes = (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 != x.shape[i + lead]))
        return x.sum(axis=axes, keepdims=True).reshape(shape) if axes else x.copy()

    return run


@kernel("toy.shape")
def _shape(xp: Any) -> Any:
    return lambda x: np.array(x.shape, np.int32)


@kernel("toy.halves")
def _halves(xp: Any) -> Any:
    return lambda x: (x[: len(x) // 2].copy(), x[len(x) // 2 :].copy())


@kernel("toy.join")
def _join(xp: Any) -> Any:
    return np.concatenate


@kernel("toy.draw")
def _draw(xp: Any) -> Any:
    def run() -> Any:
        counter[0] += 1
        return np.array(counter[0], np.int32)

    return run


@kernel("toy.say")
def _say(xp: Any) -> Any:
    return lambda x, to: to.append(x.tolist())


class ToyDevice(Device):
    """The host through NumPy."""

    type = "CPU"
    array_type = np.ndarray

    @classmethod
    def probe(cls) -> Availability:
        """One."""
        return Availability(1)

    def copy_in(self, array: Any) -> Any:
        """A copy."""
        return np.array(array, order="C")

    def copy_out(self, buffer: Any) -> Any:
        """The buffer itself."""
        return buffer

    def normalize(self, buffer: Any) -> Any:
        """NumPy's scalars as arrays."""
        return np.asarray(buffer)

    def allocate(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """An uninitialised array."""
        return np.empty(shape, dtype.numpy)


@dataclass(frozen=True)
class ToyPass(Pass):
    """Takes out double negation."""

    name = "toy-pass"

    most: int = 10

    def run(self, item: Any, context: PassContext) -> bool:
        """See the class."""
        changed = False
        for node in item.graph.nodes:
            if node.op.name == "toy.neg" and node.inputs[0].node.op.name == "toy.neg" and node.out.uses:
                item.graph.replace(node.out, node.inputs[0].node.inputs[0])
                context.rewrote("negation", node)
                changed = True
        return changed


def register(registry: Any) -> None:
    """Register everything, as a plugin would."""
    with registry.transaction("toy"):
        registry.add_ops(__name__)
        registry.add_device(ToyDevice)
        registry.add_kernels(for_="CPU", module=__name__)
        registry.add_pass(ToyPass)
        roles = {"__add__": add, "__mul__": mul, "__neg__": neg, "accumulate": add, "zeros_like": zeros_like, "ones_like": ones_like}
        for role, function in roles.items():
            registry.fill(role, function)
