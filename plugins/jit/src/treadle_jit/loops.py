"""Loops and vectors in LLVM's language, as those write them who generate a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

INT = ir.IntType(64)
_BIT = ir.IntType(1)
_INT32 = ir.IntType(32)


def const(value: int) -> ir.Constant:
    """A 64-bit integer."""
    return ir.Constant(INT, value)


class Writer:
    """Writes one function of arrays and 64-bit integers, which gives back nothing.

    Args:
        name: of the function.
        element: of the arrays.
        lanes: elements of a vector.
        arrays: names of the arrays; their memory does not overlap.
        numbers: names of the integers, which follow them.

    Attributes:
        module: that the function is in.
        arguments: name to value.
        vector: the type.
        zeros: a vector of them.
    """

    def __init__(self, name: str, element: ir.Type, lanes: int, arrays: list[str], numbers: list[str]) -> None:
        self.module = ir.Module(name)
        self.lanes = lanes
        self.vector = ir.VectorType(element, lanes)
        self.zeros = ir.Constant(self.vector, [0.0] * lanes)
        self._element = element
        self._bytes = 4 if isinstance(element, ir.FloatType) else 8
        self._mask = ir.VectorType(_BIT, lanes)
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [element.as_pointer()] * len(arrays) + [INT] * len(numbers)), name)
        for argument in function.args[: len(arrays)]:
            argument.add_attribute("noalias")
        self.arguments = dict(zip([*arrays, *numbers], function.args, strict=True))
        self._entry = function.append_basic_block("entry")
        self.ir = ir.IRBuilder(self._entry)

    def finished(self) -> ir.Module:
        """The module, after the function's end."""
        self.ir.ret_void()
        return self.module

    # ------------------------------------------------------------------ integers

    def sum(self, *terms: Any) -> Any:
        """Of integers."""
        total = terms[0]
        for term in terms[1:]:
            total = self.ir.add(total, term)
        return total

    def product(self, a: Any, b: Any) -> Any:
        """Of integers."""
        return self.ir.mul(a, b)

    def inside(self, place: Any, size: Any) -> Any:
        """Whether ``0 <= place < size``."""
        return self.ir.icmp_unsigned("<", place, size)

    @contextmanager
    def range(self, start: Any, stop: Any, step: int = 1) -> Iterator[Any]:
        """A loop; the body is written inside ``with``, and gets the number."""
        head, body, end = (self.ir.append_basic_block(name) for name in ("head", "body", "end"))
        before = self.ir.block
        self.ir.branch(head)
        self.ir.position_at_end(head)
        number = self.ir.phi(INT)
        number.add_incoming(start, before)
        self.ir.cbranch(self.ir.icmp_signed("<", number, stop), body, end)
        self.ir.position_at_end(body)
        yield number
        number.add_incoming(self.ir.add(number, const(step)), self.ir.block)
        self.ir.branch(head)
        self.ir.position_at_end(end)

    # ------------------------------------------------------------------ vectors

    def variable(self) -> Any:
        """A vector that loops change: ``ir.load`` and ``ir.store`` it."""
        with self.ir.goto_block(self._entry):
            return self.ir.alloca(self.vector)

    def mask_of_first(self, count: Any) -> Any:
        """The lanes below a count."""
        lanes = ir.Constant(ir.VectorType(INT, self.lanes), list(range(self.lanes)))
        return self.ir.icmp_signed("<", lanes, self._repeated(count, INT))

    def masked(self, mask: Any, condition: Any) -> Any:
        """The lanes of a mask, or none of them; all lanes for no mask."""
        spread = self._repeated(condition, _BIT)
        return spread if mask is None else self.ir.and_(mask, spread)

    def load(self, array: Any, place: Any, mask: Any = None) -> Any:
        """A vector of an array; zeros in the lanes outside the mask, whose memory is not touched."""
        pointer = self._pointer(array, place)
        if mask is not None:
            return self._call("llvm.masked.load", self.vector, pointer, ir.Constant(_INT32, self._bytes), mask, self.zeros)
        value = self.ir.load(pointer)
        value.align = self._bytes
        return value

    def store(self, value: Any, array: Any, place: Any, mask: Any = None) -> None:
        """Put a vector into an array, the lanes of the mask only."""
        pointer = self._pointer(array, place)
        if mask is not None:
            self._call("llvm.masked.store", ir.VoidType(), value, pointer, ir.Constant(_INT32, self._bytes), mask)
        else:
            self.ir.store(value, pointer).align = self._bytes

    def _pointer(self, array: Any, place: Any) -> Any:
        return self.ir.bitcast(self.ir.gep(array, [place]), self.vector.as_pointer())

    def _repeated(self, value: Any, kind: Any) -> Any:
        vector = ir.VectorType(kind, self.lanes)
        first = self.ir.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_INT32, 0))
        return self.ir.shuffle_vector(first, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(_INT32, self.lanes), [0] * self.lanes))

    def _call(self, name: str, gives: Any, *arguments: Any) -> Any:
        kind = f"v{self.lanes}f{8 * self._bytes}"
        full = f"{name}.{kind}.p0"
        function = self.module.globals.get(full)
        if function is None:
            function = ir.Function(self.module, ir.FunctionType(gives, [a.type for a in arguments]), full)
        return self.ir.call(function, arguments)
