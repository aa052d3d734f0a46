"""Compiled loops over windows of a channels-last array in two spatial axes: sums over the taps, and products with every tap.

A vector holds neighbouring channels. A row of results is gone along with the weights of its taps in registers; where taps lie outside the input,
zeros take their place. Results are numbered by rows ``(batch, height)``, so that rows can be shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from llvmlite import ir

from treadle_jit import machine
from treadle_jit.loops import Writer, const
from treadle_jit.place import Place

_NUMBERS = ["first_row", "last_row", "channels", *(f"{field}_{axis}" for axis in ("h", "w") for field in Place._fields)]


def weighted_sum(is_double: bool, window: tuple[int, int]) -> Callable[..., None]:
    """A function that fills rows of ``out`` with the sum over the taps of ``x`` times ``weights``, tap by tap from zero.

    Its arguments are the addresses of ``x (batch, size, size, channels)``, ``weights (taps, channels)`` and ``out (batch, count, count, channels)``,
    the first row and the one after the last, the channels, and the ``Place`` of both axes.
    """
    loops = _Windows("weighted_sum", ["x", "weights", "out"], is_double, window)
    write, arrays = loops.write, loops.write.arguments
    for block in loops.rows():
        factors = [write.load(arrays["weights"], loops.tap_place(const(tap), block.channel), block.mask) for tap in range(loops.unrolled)]
        for each in block.windows():
            total = write.zeros
            for factor, value in zip(factors, each.values(arrays["x"]), strict=True):
                total = write.ir.fadd(total, write.ir.fmul(value, factor))
            write.store(total, arrays["out"], each.place, block.mask)
    return loops.compiled()


def sum_of_planes(is_double: bool) -> Callable[..., None]:
    """A function that fills rows of ``out`` with a sum over the taps, each of which has channels of its own in ``x``.

    Its arguments are those of ``weighted_sum`` without weights; ``x`` is ``(batch, size, size, taps, channels)``.
    """
    loops = _Windows("sum_of_planes", ["x", "out"], is_double, planes=True)
    write, arrays = loops.write, loops.write.arguments
    total = write.variable()
    for block in loops.rows():
        for each in block.windows():
            write.ir.store(write.zeros, total)
            for i, j in loops.each_tap():
                write.ir.store(write.ir.fadd(write.ir.load(total), each.value(arrays["x"], i, j)), total)
            write.store(write.ir.load(total), arrays["out"], each.place, block.mask)
    return loops.compiled()


def unfolded(is_double: bool) -> Callable[..., None]:
    """A function that fills rows of ``out (batch, count, count, taps, channels)`` with what the taps meet in ``x``.

    Its arguments are those of ``weighted_sum`` without weights.
    """
    loops = _Windows("unfolded", ["x", "out"], is_double)
    write, arrays = loops.write, loops.write.arguments
    for block in loops.rows():
        for each in block.windows():
            first = write.product(each.number, loops.taps)
            for i, j in loops.each_tap():
                place = loops.tap_place(write.sum(first, loops.tap(i, j)), block.channel)
                write.store(each.value(arrays["x"], i, j), arrays["out"], place, block.mask)
    return loops.compiled()


def products(is_double: bool, window: tuple[int, int]) -> Callable[..., None]:
    """A function that adds to ``out (taps, channels)`` what every tap of ``x`` meets times ``g``, summed over rows.

    Its arguments are the addresses of ``x (batch, size, size, channels)``, ``g (batch, count, count, channels)`` and ``out``, and the numbers of
    ``weighted_sum``. Rows are summed one by one, and their sums added up.
    """
    loops = _Windows("products", ["x", "g", "out"], is_double, window)
    write, arrays = loops.write, loops.write.arguments
    totals = [write.variable() for _ in range(loops.unrolled)]
    for block in loops.rows():
        for total in totals:
            write.ir.store(write.zeros, total)
        for each in block.windows():
            cotangent = write.load(arrays["g"], each.place, block.mask)
            for total, value in zip(totals, each.values(arrays["x"]), strict=True):
                write.ir.store(write.ir.fadd(write.ir.load(total), write.ir.fmul(value, cotangent)), total)
        for number, total in enumerate(totals):
            place = loops.tap_place(const(number), block.channel)
            before = write.load(arrays["out"], place, block.mask)
            write.store(write.ir.fadd(before, write.ir.load(total)), arrays["out"], place, block.mask)
    return loops.compiled()


class _Windows:
    """The loops around what is done in a window: rows, blocks of channels, and the windows of a row.

    Args:
        name: of the function.
        arrays: its first arguments.
        is_double: they are of float64, not of float32.
        window: taps whose code is written once for each; where there is none, the function serves windows of any size.
        planes: every tap has channels of its own in the array that windows lie over.
    """

    def __init__(self, name: str, arrays: list[str], is_double: bool, window: tuple[int, int] = (0, 0), *, planes: bool = False) -> None:
        element = ir.DoubleType() if is_double else ir.FloatType()
        self.name = name
        self.window = window
        self.unrolled = window[0] * window[1]
        self.planes = planes
        self.write = Writer(name, element, machine.register_bytes() // (8 if is_double else 4), arrays, _NUMBERS)
        self.number = self.write.arguments
        self.taps = self.write.product(self.number["taps_h"], self.number["taps_w"])

    def compiled(self) -> Callable[..., None]:
        """The function, when all is written."""
        return machine.compiled(self.write.finished(), self.name)

    def tap(self, i: Any, j: Any) -> Any:
        """The number of a tap."""
        return self.write.sum(self.write.product(i, self.number["taps_w"]), j)

    def each_tap(self) -> Iterator[tuple[Any, Any]]:
        """Loops over the taps."""
        with self.write.range(const(0), self.number["taps_h"]) as i, self.write.range(const(0), self.number["taps_w"]) as j:
            yield i, j

    def tap_place(self, tap: Any, channel: Any) -> Any:
        """Where ``(..., taps, channels)`` has a channel of a tap."""
        return self.write.sum(self.write.product(tap, self.number["channels"]), channel)

    def rows(self) -> Iterator[_Block]:
        """The loop over rows, and what is written in it for whole vectors of channels, and for the rest of them."""
        write, number = self.write, self.number
        channels, lanes = number["channels"], write.lanes
        whole = write.ir.and_(channels, const(-lanes))
        with write.range(number["first_row"], number["last_row"]) as row:
            item, line = write.ir.sdiv(row, number["count_h"]), write.ir.srem(row, number["count_h"])
            top = write.sum(write.product(line, number["stride_h"]), number["begin_h"])
            has_all = write.ir.and_(
                write.ir.icmp_signed(">=", line, number["first_h"]),
                write.ir.icmp_signed("<", line, number["last_h"]),
            )
            inner = (
                write.ir.select(has_all, number["first_w"], number["count_w"]),
                write.ir.select(has_all, number["last_w"], number["count_w"]),
            )
            with write.range(const(0), whole, lanes) as channel:
                yield _Block(self, row, item, top, inner, channel, None)
            with write.range(whole, channels, lanes) as channel:
                yield _Block(self, row, item, top, inner, channel, write.mask_of_first(write.ir.sub(channels, channel)))


class _Block(NamedTuple):
    """A vector of channels in a row of results.

    Attributes:
        loops: around it.
        row: of the results.
        item: of the batch.
        top: the height of the first tap.
        inner: the windows that have all taps inside.
        channel: the first of the vector.
        mask: the lanes that are channels; None for all.
    """

    loops: _Windows
    row: Any
    item: Any
    top: Any
    inner: tuple[Any, Any]
    channel: Any
    mask: Any

    def windows(self) -> Iterator[_Window]:
        """The loops over the windows of the row: those that reach over an edge, those inside."""
        write, count = self.loops.write, self.loops.number["count_w"]
        if self.mask is not None:
            with write.range(const(0), count) as column:
                yield self._window(column, is_inside=False)
            return
        first, last = self.inner
        with write.range(const(0), const(2)) as side:
            is_left = write.ir.icmp_signed("==", side, const(0))
            with write.range(write.ir.select(is_left, const(0), last), write.ir.select(is_left, first, count)) as column:
                yield self._window(column, is_inside=False)
        with write.range(first, last) as column:
            yield self._window(column, is_inside=True)

    def _window(self, column: Any, *, is_inside: bool) -> _Window:
        write, number = self.loops.write, self.loops.number
        window = write.sum(write.product(self.row, number["count_w"]), column)
        place = write.sum(write.product(window, number["channels"]), self.channel)
        return _Window(self, column, window, place, is_inside)


class _Window(NamedTuple):
    """One window, for a vector of channels.

    Attributes:
        block: that it is in.
        column: its number in the row.
        number: its number in all.
        place: of its channels in ``(batch, count, count, channels)``.
        is_inside: no tap of it lies outside.
    """

    block: _Block
    column: Any
    number: Any
    place: Any
    is_inside: bool

    def values(self, x: Any) -> list[Any]:
        """What its taps meet, one vector per tap; the code is written once for each."""
        height, width = self.block.loops.window
        return [self.value(x, const(i), const(j)) for i in range(height) for j in range(width)]

    def value(self, x: Any, i: Any, j: Any) -> Any:
        """What one tap meets."""
        block, loops = self.block, self.block.loops
        write, number = loops.write, loops.number
        line = write.sum(block.top, write.product(i, number["dilation_h"]))
        left = write.sum(write.product(self.column, number["stride_w"]), number["begin_w"])
        column = write.sum(left, write.product(j, number["dilation_w"]))
        pixel = write.sum(write.product(write.sum(write.product(block.item, number["size_h"]), line), number["size_w"]), column)
        if loops.planes:
            pixel = write.sum(write.product(pixel, loops.taps), loops.tap(i, j))
        mask = block.mask
        if not self.is_inside:
            mask = write.masked(mask, write.ir.and_(write.inside(line, number["size_h"]), write.inside(column, number["size_w"])))
        return write.load(x, write.sum(write.product(pixel, number["channels"]), block.channel), mask)
