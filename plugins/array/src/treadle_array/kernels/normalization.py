"""Scaled deviations from a mean, sums over neighbouring channels, and biases."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.axis_sums import summation
from treadle_array.blocks import broadcasting, chosen, is_short, merged_shapes, repeated, rows_of_block

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
        if len(factors) == 2 and factors[0].shape == factors[1].shape and factors[0].size < x.size:
            factors = [xp.multiply(factors[0], factors[1])]
        if out is None and x.size <= _SMALL and not is_short(x.dtype) and (mean or factors or offset):
            for other in mean:
                x = xp.subtract(x, other)
            for other in factors:
                x = xp.multiply(x, other)
            return xp.add(x, offset[0]) if offset else x
        return kernels((len(mean), len(factors), len(offset)))([x, *mean, *factors, *offset], out)

    return run


@kernel("standardize_grad")
def standardize_grad(xp: Any) -> Any:
    """See the op; all gradients in one pass over the memory, block by block, short floats in float32."""
    multiply, add_up = xp.multiply, summation(xp)

    def run(g: Any, x: Any, mean: list[Any], factors: list[Any], offset: list[Any]) -> list[Any]:
        dtype, wide = g.dtype, xp.float32 if is_short(g.dtype) else g.dtype
        others = [*mean, *factors, *offset]
        shape, merged, shapes = merged_shapes(g.shape, x.shape, *[p.shape for p in others])
        along_x = xp.empty(shape, dtype)
        parts = [p.reshape(s).astype(wide, copy=False) for p, s in zip((x, *mean, *factors), shapes[1:], strict=False)]
        g, target, count = xp.broadcast_to(g, shape).reshape(merged), along_x.reshape(merged), merged[0]
        pieces: list[list[Any]] = [[] for _ in others]
        rows = rows_of_block(xp, merged)
        scratch = [xp.empty((rows, *merged[1:]), wide) for _ in range(2 + (wide is not dtype))]
        parts = repeated(xp, parts, merged, rows)
        for start in range(0, count, rows):
            here = slice(start, start + rows)
            size = min(rows, count - start)
            block = [p[here] if p.shape[0] == count else p[:size] for p in parts]
            between = [t[:size] for t in scratch]
            part = between[2] if wide is not dtype else target[here]
            sums = of_block(g[here].astype(wide, copy=False), block, len(mean), shapes[2:], part, between)
            if wide is not dtype:
                target[here] = part
            for found, total in zip(pieces, sums, strict=True):
                found.append(total)
        return [along_x, *[together(found, p, s, count) for found, p, s in zip(pieces, others, shapes[2:], strict=True)]]

    def of_block(g: Any, block: list[Any], means: int, shapes: list[Any], out: Any, scratch: list[Any]) -> list[Any]:
        x, mean, factors = block[0], block[1 : 1 + means], block[1 + means :]
        along_x = g
        for factor in factors:
            along_x = multiply(along_x, factor, out)
        if not factors:
            out[...] = g
        sums = [xp.negative(to_shape(out, s)) for s in shapes[:means]]
        if factors:
            deviation = xp.subtract(x, mean[0], scratch[0]) if mean else x
            weighted = multiply(deviation, g, scratch[0])
            for i in range(len(factors)):
                slope = weighted
                for other in factors[:i] + factors[i + 1 :]:
                    slope = multiply(slope, other, scratch[1])
                sums.append(to_shape(slope, shapes[means + i]))
        return sums + [to_shape(g, s) for s in shapes[means + len(factors) :]]

    def to_shape(x: Any, shape: tuple[int, ...]) -> Any:
        """The sum over the axes that ``shape`` lacks; a copy if there are none, as what is summed is scratch."""
        axes = tuple([i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1])
        return xp.asarray(add_up(x, axes, True)) if axes else x.copy()

    def together(found: list[Any], like: Any, shape: tuple[int, ...], count: int) -> Any:
        if not found:
            return xp.zeros(like.shape, like.dtype)
        total = found[0]
        if len(found) > 1:
            total = xp.concatenate(found) if shape[0] == count else add_up(xp.stack(found), (0,), False)
        return total.astype(like.dtype, copy=False).reshape(like.shape)

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
