"""Local identities that hold for every bit of every value: NaN, infinity, signed zero and integer wrap included.

There is no ``x + 0 -> x`` for floats, as it turns -0.0 into 0.0 when left in; ``x * 0``, ``x - x``, ``x / x`` and all reassociation
round or lose NaN. Rules that are only nearly true belong behind ``fast_math``.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.contracts.passes import Pass, PassContext
from treadle.graph.graph import Graph, Node, Value
from treadle.graph.patterns import Const, Rewriter, Rule, call, capture
from treadle.grappler.item import GrapplerItem

x, y = capture("x"), capture("y")
_shape, _inner_shape = capture("shape"), capture("inner_shape")


def _first(graph: Graph, node: Node, x: Value, **others: Value) -> Value:
    """The value itself; the rewriter refuses it where the shape was changed by broadcasting."""
    return x


def _composed_transpose(graph: Graph, node: Node, x: Value) -> Value | None:
    outer, inner = node.attrs["perm"], node.inputs[0].node.attrs["perm"]
    rank = x.spec.rank
    if rank is None:
        return None
    backwards = tuple(reversed(range(rank)))
    outer, inner = outer or backwards, inner or backwards
    both = tuple(inner[p] % rank for p in outer)
    return x if both == tuple(range(rank)) else graph.apply(node.op, x, before=node, perm=both)


def _same_axes(graph: Graph, node: Node, x: Value) -> Value | None:
    rank = x.spec.rank
    if rank is None:
        return None
    perm = node.attrs["perm"] or tuple(reversed(range(rank)))
    return x if tuple(p % rank for p in perm) == tuple(range(rank)) else None


def _outer_reshape(graph: Graph, node: Node, x: Value, shape: Value, inner_shape: Value) -> Value | None:
    return graph.apply(node.op, x, shape, before=node) if node.out.spec.is_static else None


def _exact_round_trip(graph: Graph, node: Node, x: Value) -> Value | None:
    """A cast to a dtype that holds every value of the first, and back."""
    small, wide = x.spec.dtype, node.inputs[0].spec.dtype
    pairs = {
        "float16": ("float32", "float64"),
        "bfloat16": ("float32", "float64"),
        "float32": ("float64",),
        "int8": ("int16", "int32", "int64", "float16", "float32", "float64"),
        "int16": ("int32", "int64", "float32", "float64"),
        "int32": ("int64", "float64"),
        "uint8": ("uint16", "uint32", "uint64", "int16", "int32", "int64", "float16", "float32", "float64"),
        "uint16": ("uint32", "uint64", "int32", "int64", "float32", "float64"),
        "uint32": ("uint64", "int64", "float64"),
        "bool": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
    }
    return x if node.out.spec.dtype is small and wide.name in pairs.get(small.name, ()) else None


def _same_dtype(graph: Graph, node: Node, x: Value) -> Value | None:
    return x if x.spec.dtype is node.out.spec.dtype else None


def _subtract(graph: Graph, node: Node, x: Value, y: Value) -> Value:
    return graph.apply(_op("subtract"), x, y, before=node)


def _add(graph: Graph, node: Node, x: Value, y: Value) -> Value:
    return graph.apply(_op("add"), x, y, before=node)


def _again(graph: Graph, node: Node, x: Value) -> Value:
    return graph.apply(node.op, x, before=node)


def _op(name: str) -> object:
    from treadle.registry import registry

    return registry.op(name)


# fmt: off
RULES = (
    Rule("x * 1 -> x",              call("multiply", x, Const(1), kinds="iuf"),         _first),   # complex: inf * 1 has a NaN, -0j loses its sign
    Rule("x / 1 -> x",              call("divide", x, Const(1), kinds="f"),             _first),
    Rule("x // 1 -> x, integers",   call("floordiv", x, Const(1), kinds="iu"),          _first),   # floats: rounds down
    Rule("x - 0 -> x",              call("subtract", x, Const(0), kinds="iuf"),         _first),   # +0.0 only: -0.0 - -0.0 is 0.0
    Rule("x + -0.0 -> x",           call("add", x, Const(-0.0), kinds="f"),             _first),
    Rule("x + 0 -> x, integers",    call("add", x, Const(0), kinds="iu"),               _first),
    Rule("x ** 1 -> x",             call("pow", x, Const(1), kinds="iuf"),              _first),
    Rule("-(-x) -> x",              call("negative", call("negative", x)),              _first),
    Rule("x + -y -> x - y, integers", call("add", x, call("negative", y), kinds="iu"),  _subtract),   # floats: the sign of a NaN
    Rule("x - -y -> x + y, integers", call("subtract", x, call("negative", y), kinds="iu"), _add),
    Rule("abs(abs(x)) -> abs(x)",   call("abs", call("abs", x, name="y")),              lambda graph, node, x, y: y),
    Rule("abs(-x) -> abs(x)",       call("abs", call("negative", x), kinds="iuf"),      _again),
    Rule("square(-x) -> square(x), integers", call("square", call("negative", x), kinds="iu"), _again),
    Rule("relu(relu(x)) -> relu(x)", call("relu", call("relu", x, name="y")),           lambda graph, node, x, y: y),
    Rule("not(not(x)) -> x",        call("logical_not", call("logical_not", x)),        _first),
    Rule("max(x, x) -> x",          call("maximum", x, x),                              _first),
    Rule("min(x, x) -> x",          call("minimum", x, x),                              _first),
    Rule("x and x -> x",            call("logical_and", x, x),                          _first),
    Rule("x or x -> x",             call("logical_or", x, x),                           _first),
    Rule("identity(x) -> x",        call("identity", x),                                _first),
    Rule("stop_gradient(x) -> x",   call("stop_gradient", x),                           _first),
    Rule("cast to own dtype",       call("cast", x),                                    _same_dtype),
    Rule("exact cast and back",     call("cast", call("cast", x)),                      _exact_round_trip),
    Rule("transpose of transpose",  call("transpose", call("transpose", x)),            _composed_transpose),
    Rule("transpose to own order",  call("transpose", x),                               _same_axes),
    Rule("reshape of reshape",      call("reshape", call("reshape", x, _inner_shape), _shape), _outer_reshape),
    Rule("reshape to own shape",    call("reshape", x, _shape),                         _first),
    Rule("broadcast to own shape",  call("broadcast_to", x, _shape),                    _first),
    Rule("sum to own shape",        call("sum_to_shape", x, _shape),                    _first),
)
# fmt: on


@dataclass(frozen=True)
class Arithmetic(Pass):
    """Applies the rules."""

    name = "arithmetic"
    ensures = "no rule of the module applies to a node that is read"

    def run(self, item: GrapplerItem, context: PassContext) -> bool:
        """See the module."""
        return _rewriter.run(item.graph, context)


_rewriter = Rewriter(RULES)
