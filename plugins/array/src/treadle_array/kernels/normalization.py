"""Scaled deviations from a mean, sums over neighbouring channels, and biases."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import broadcasting, chosen, is_short

_SMALL = 8192
"""Elements up to which the fewest calls win."""


@kernel("standardize", out=True)
def standardize(xp: Any) -> Any:
    """See the op; one pass over the memory, whatever is left out. Factors of one shape are multiplied with each other first."""

    @chosen
    def kernels(parts: tuple[int, int, int]) -> Any:
        means, factors, offsets = parts

        def steps(x: Any, *rest: Any) -> None:
            out = rest[-1]
            if means:
                x = xp.subtract(x, rest[0], out)
            for factor in rest[means : means + factors]:
                x = xp.multiply(x, factor, out)
            if offsets:
                x = xp.add(x, rest[means + factors], out)
            if x is not out:
                out[...] = x

        return broadcasting(xp, steps)

    def run(x: Any, mean: list[Any], factors: list[Any], offset: list[Any], *, out: Any = None) -> Any:
        if len(factors) == 2 and factors[0].shape == factors[1].shape and factors[0].size < x.size and not is_short(x.dtype):
            factors = [xp.multiply(factors[0], factors[1])]
        if out is None and x.size <= _SMALL and not is_short(x.dtype) and (mean or factors or offset):
            for other in mean:
                x = xp.subtract(x, other)
            for other in factors:
                x = xp.multiply(x, other)
            return xp.add(x, offset[0]) if offset else x
        return kernels((len(mean), len(factors), len(offset)))([x, *mean, *factors, *offset], out)

    return run


@kernel("channel_window_sum", out=True)
def channel_window_sum(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""

    def run(x: Any, *, radius: int, out: Any = None) -> Any:
        if x.ndim != 4:
            raise ValueError(f"the input has the shape {x.shape}; expected rank 4")
        total = x.astype(xp.float32 if is_short(x.dtype) else x.dtype)
        wide = total.copy() if radius else total
        for shift in range(1, min(radius, x.shape[-1] - 1) + 1):
            total[..., shift:] += wide[..., :-shift]
            total[..., :-shift] += wide[..., shift:]
        if out is None:
            return total.astype(x.dtype, copy=False)
        out[...] = total
        return out

    return run


@kernel("bias_add", out=True)
def bias_add(xp: Any) -> Any:
    """See the op."""
    add = xp.add

    def run(value: Any, bias: Any, *, axis: int, out: Any = None) -> Any:
        if bias.ndim != 1 or value.ndim < 2 or value.shape[axis] != bias.shape[0]:
            raise ValueError(f"a bias of shape {bias.shape} does not fit a value of shape {value.shape}")
        if axis == -1:
            return add(value, bias, out)
        return add(value, bias.reshape(-1, *(1,) * (value.ndim - 2)), out)

    return run
