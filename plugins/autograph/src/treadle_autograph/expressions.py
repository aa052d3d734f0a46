"""Rewriting expressions: logic that short-circuits, chained comparisons, ternaries, calls and comprehensions.

There are two forms. The *quick* one asks first whether a value is ``True`` or ``False``, and goes on as Python would; only for other values does it
call an operator. The *plain* one always calls the operator: it stands where code runs once, while tracing, and in the iterables of comprehensions,
where Python allows no ``:=``. New nodes are made where something changes; what stays is shared by both forms.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from treadle_autograph.flow import mark_reads
from treadle_autograph.names import COMPREHENSIONS, FRAME_READERS, HIDDEN, parameters, walk_scope
from treadle_autograph.nodes import call, is_, keep, lazy, load, located, replaced

STAGED = f"{HIDDEN}staged"
"""A function that gives the parts of the branches and loops of the user's."""
SHARED = f"{HIDDEN}shared"
"""A function whose closure has the variables that functions inside the user's bind: calling one in an operand binds them there."""

_COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_MEMBERSHIPS = {ast.In: "in_", ast.NotIn: "not_in"}
_CONSTANTS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.UnaryOp, ast.USub, ast.Load)
_BOOLS = frozenset({"isinstance", "issubclass", "hasattr", "callable"})
_AS_THEY_ARE = _BOOLS | {"getattr", "setattr", "delattr", "type", "id", "repr", "str", "list", "tuple", "dict", "set", "frozenset", "print", "super"}
"""Builtins that never need conversion, unless the function binds their name."""
_COMPARING_ASKS = sys.version_info >= (3, 13)
"""A comparison whose truth is wanted is one instruction, which does not tell its own question from those of the lists that it compares."""
_LEAVES = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def _is_membership(test: Any) -> bool:
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _MEMBERSHIPS


def _is_constant(node: ast.AST) -> bool:
    """True for what is the same whenever it is computed, such as ``(1, -2)``."""
    return all(isinstance(part, _CONSTANTS) for part in ast.walk(node))


def is_python(test: Any, known: AbstractSet[str] = frozenset()) -> bool:
    """True if a test surely gives a Python bool, whatever the operands are.

    Args:
        test: any expression.
        known: names that are no builtins.
    """
    if isinstance(test, ast.Constant):
        return True
    if isinstance(test, ast.Compare):
        is_text = isinstance(test.left, ast.Constant) and isinstance(test.left.value, str | bytes | None)
        return all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops) or (is_text and _is_membership(test))
    if isinstance(test, ast.BoolOp):
        return all(is_python(v, known) for v in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_python(test.operand, known)
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in _BOOLS - known


class Expressions:
    """Rewrites the expressions of one function.

    Args:
        known: names that are no builtins, since the function or its module binds them.
        visible: what ``locals()`` shows.
        first_parameter: for ``super()``.
        shares: the function has a ``SHARED``.
        settable: the names that have a function to bind them.
    """

    def __init__(self, known: set[str], visible: set[str], first_parameter: str | None, shares: bool, settable: set[str]) -> None:
        self._settable = settable
        self._shares = shares
        self._known = known
        self._visible = sorted(name for name in visible if not name.startswith(HIDDEN))
        self._first = first_parameter
        self._memo: dict[tuple[int, bool], Any] = {}
        self._kept: list[ast.AST] = []
        self._temporaries = 0
        self._chains: dict[int, ast.BoolOp] = {}
        self._memberships: dict[int, tuple[ast.expr, ast.expr]] = {}
        self._handlers: dict[type, Callable[[Any, bool], Any]] = {
            ast.BoolOp: self._bool,
            ast.Compare: self._compare,
            ast.IfExp: self._ternary,
            ast.UnaryOp: self._unary,
            ast.Call: self._call,
            ast.Name: self._name,
            ast.NamedExpr: self._named,
            ast.Lambda: self._lambda,
            ast.Attribute: self._composite,
            ast.Subscript: self._composite,
            **dict.fromkeys(COMPREHENSIONS, self._comprehension),
        }

    def convert(self, node: Any, quick: bool) -> Any:
        """An expression, or a statement's parts that are expressions, in one of the two forms."""
        if node is None or isinstance(node, _LEAVES):
            return node
        key = (id(node), quick)
        found = self._memo.get(key)
        if found is None:
            handler = self._handlers.get(type(node), self.parts)
            found = self._memo[key] = handler(node, quick)
            self._kept.append(node)  # an id stays its own as long as its object lives
        return found

    def parts(self, node: Any, quick: bool) -> Any:
        """A node with its parts converted; itself if nothing changes."""
        changed: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                new: Any = [self.convert(item, quick) if isinstance(item, ast.AST) else item for item in value]
                if any(a is not b for a, b in zip(new, value, strict=True)):
                    changed[name] = new
            elif isinstance(value, ast.AST):
                new = self.convert(value, quick)
                if new is not value:
                    changed[name] = new
        return replaced(node, **changed) if changed else node

    def is_python(self, test: Any) -> bool:
        """True if a test surely gives a Python bool, whatever the operands are."""
        return is_python(test, self._known)

    # ------------------------------------------------------------------ tests

    def native(self, test: Any) -> Any:
        """A test as Python itself runs it: each of its operands is asked for its truth by an instruction of its own."""
        if (parts := self._parts_of(test)) is not None:
            return replaced(parts, **{name: _mapped(self.native, getattr(parts, name)) for name in ("values", "operand") if hasattr(parts, name)})
        if _is_membership(test) and not self.is_python(test):
            return self._membership(test)[0]
        new = self.convert(test, True)
        is_merged = isinstance(new, ast.Compare) and _COMPARING_ASKS and not self.is_python(test)
        return located(keep(self.fresh(), new), test) if is_merged or isinstance(new, ast.IfExp) else new

    def operands(self, test: Any, around: Callable[[Any], Any] = lambda operand: operand) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
        """The operands of a test that ``native`` asks for their truth, each with what makes the test's value of its own."""
        parts = self._parts_of(test)
        if parts is None:
            if not self.is_python(test):
                yield test, (lambda _: around(self._membership(test)[1])) if _is_membership(test) else around
        elif isinstance(parts, ast.UnaryOp):
            yield from self.operands(parts.operand, lambda operand: around(located(replaced(parts, operand=operand), test)))
        else:
            for i, value in enumerate(parts.values):
                rest = parts.values[i + 1 :]
                if rest and isinstance(test, ast.Compare):  # what is left of a chain is a comparison
                    rest = [replaced(rest[0], ops=test.ops[i + 1 :], comparators=test.comparators[i + 1 :])]
                whole = (lambda operand, rest=rest: around(located(replaced(parts, values=[operand, *rest]), test))) if rest else around
                yield from self.operands(value, whole)

    def truth_of(self, test: Any) -> Any:
        """A test whose operands give only their truth, since nobody sees what else they are."""
        if isinstance(test, ast.BoolOp):
            return replaced(test, values=[self.truth_of(value) for value in test.values])
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return replaced(test, operand=self.truth_of(test.operand))
        if isinstance(test, ast.Constant):
            return located(ast.Constant(bool(test.value)), test)
        if isinstance(test, ast.Compare) or self.is_python(test):
            return test
        return call("truth", test, at=test)

    def _parts_of(self, test: Any) -> Any:
        """A test as an ``and``, ``or`` or ``not`` whose operands stand at places of their own; None if it is no such thing."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return test
        if isinstance(test, ast.BoolOp):
            places = {(v.lineno, v.col_offset) for v in test.values}
            return test if len(places) == len(test.values) else None  # flags stand all where the jump does
        return self._chain(test) if isinstance(test, ast.Compare) and len(test.ops) > 1 and not self.is_python(test) else None

    def _membership(self, node: ast.Compare) -> tuple[ast.expr, ast.expr]:
        """``a in b`` as Python itself runs it, and as an operator does with the same operands, should one of them be a tensor."""
        found = self._memberships.get(id(node))
        if found is None:
            operands = [node.left, node.comparators[0]]
            left, right = native = [self.convert(operand, True) for operand in operands]
            if not all(isinstance(operand, ast.Name) or _is_constant(operand) for operand in operands):
                names = [self.fresh(), self.fresh()]
                left, right = (located(keep(name, new), new) for name, new in zip(names, native, strict=True))
                operands = [located(load(name), operand) for name, operand in zip(names, operands, strict=True)]
            again = [self.convert(operand, False) for operand in operands]
            slow = call(_MEMBERSHIPS[type(node.ops[0])], *again, at=node)
            found = self._memberships[id(node)] = located(ast.Compare(left, node.ops, [right]), node), slow
            self._kept.append(node)
        return found

    def _chain(self, node: ast.Compare) -> ast.BoolOp:
        """``a < b < c`` as ``a < (t := b) and t < c``."""
        found = self._chains.get(id(node))
        if found is None:
            left, values = node.left, []
            for op, right in zip(node.ops, node.comparators, strict=True):
                name = self.fresh()
                operand = right if right is node.comparators[-1] else located(keep(name, right), right)
                pair = ast.Compare(left, [op], [operand])
                values.append(ast.copy_location(pair, node))
                pair.lineno, pair.col_offset, pair.end_lineno, pair.end_col_offset = *_start(left), *_end(right)
                left = located(load(name), right)
            found = self._chains[id(node)] = located(ast.BoolOp(ast.And(), values), node)
            self._kept.append(node)
        return found

    def fresh(self) -> str:
        """A name for a value that is needed twice."""
        self._temporaries += 1
        return f"{HIDDEN}{self._temporaries}"

    def _operator(self, operator: str, *arguments: ast.expr, at: Any) -> ast.Call:
        """A call of an operator with lazy operands."""
        return call(operator, *arguments, *([load(SHARED)] if self._shares else []), at=at)

    # ------------------------------------------------------------------ logic

    def _bool(self, node: ast.BoolOp, quick: bool) -> Any:
        if self.is_python(node):
            return self.parts(node, quick)
        is_and = isinstance(node.op, ast.And)
        result = self.convert(node.values[0], quick)
        for value in node.values[1:]:
            if self._binds(value):
                result = replaced(node, values=[call("decided", result, at=node), self.convert(value, quick)])
                continue
            rest = self.convert(value, quick)
            operator = "and_" if is_and else "or_"
            if not quick:
                result = self._operator(operator, result, lazy(rest), at=node)
                continue
            name = self.fresh()
            slow = self._operator(operator, load(name), lazy(self.convert(value, False)), at=node)
            # A and B: B if A is True else A if A is False else and_(A, B)
            short = ast.IfExp(is_(load(name), not is_and), load(name), slow)
            result = located(ast.IfExp(is_(keep(name, result), is_and), rest, short), node)
        return result

    def _compare(self, node: ast.Compare, quick: bool) -> Any:
        if self.is_python(node):
            return self.parts(node, quick)
        if len(node.ops) == 1:
            return self._pair(self.convert(node.left, quick), node.ops[0], self.convert(node.comparators[0], quick), node)
        if any(self._binds(operand) for operand in node.comparators[1:]):
            return self._bool(self._chain(node), quick)
        if not quick or len(node.ops) > 2:
            signs = [ast.Constant(_COMPARISONS[type(op)]) for op in node.ops]
            left, middle, *others = (self.convert(operand, False) for operand in (node.left, *node.comparators))
            more = [part for sign, operand in zip(signs[1:], others, strict=True) for part in (sign, lazy(operand))]
            return call("chain", load(SHARED) if self._shares else ast.Constant(None), left, signs[0], middle, *more, at=node)
        # a < b < c: a < (t := b) and t < c
        middle, name = self.fresh(), self.fresh()
        first = self._pair(self.convert(node.left, True), node.ops[0], keep(middle, self.convert(node.comparators[0], True)), node)
        second = self._pair(load(middle), node.ops[1], self.convert(node.comparators[1], True), node)
        slow = self._operator("and_", load(name), lazy(second), at=node)
        return located(ast.IfExp(is_(keep(name, first), True), second, ast.IfExp(is_(load(name), False), load(name), slow)), node)

    def _pair(self, left: Any, op: Any, right: Any, node: ast.Compare) -> Any:
        """A comparison of two operands."""
        if type(op) in _MEMBERSHIPS:
            return call(_MEMBERSHIPS[type(op)], left, right, at=node)
        return located(ast.Compare(left, [op], [right]), node)

    def _ternary(self, node: ast.IfExp, quick: bool) -> Any:
        if self.is_python(node.test):
            return self.parts(node, quick)
        test, body, orelse = node.test, node.body, node.orelse
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, body, orelse = test.operand, orelse, body
        if self._binds(body) or self._binds(orelse):
            return replaced(
                node,
                test=call("decided", self.convert(node.test, quick), at=node),
                body=self.convert(node.body, quick),
                orelse=self.convert(node.orelse, quick),
            )
        slow_arms = (lazy(self.convert(body, False)), lazy(self.convert(orelse, False)))
        if not quick:
            return self._operator("if_exp", self.convert(test, False), *slow_arms, at=node)
        name = self.fresh()
        slow = self._operator("if_exp", load(name), *slow_arms, at=node)
        otherwise = ast.IfExp(is_(load(name), False), self.convert(orelse, True), slow)
        return located(ast.IfExp(is_(keep(name, self.convert(test, True)), True), self.convert(body, True), otherwise), node)

    def _unary(self, node: ast.UnaryOp, quick: bool) -> Any:
        if not isinstance(node.op, ast.Not) or self.is_python(node.operand):
            return self.parts(node, quick)
        return call("not_", self.convert(node.operand, quick), at=node)

    def _binds(self, node: ast.AST) -> bool:
        """True if an operand binds names that a lambda around it could not."""
        return any(isinstance(n, ast.NamedExpr) and n.target.id not in self._settable for n in walk_scope(node))

    # ------------------------------------------------------------------ names and calls

    def _name(self, node: ast.Name, quick: bool) -> Any:
        if not quick and getattr(node, "early", False):
            return call("read", lazy(node), at=node)
        return call("defined", node, at=node) if getattr(node, "uncertain", False) else node

    def _composite(self, node: Any, quick: bool) -> Any:
        """An attribute or item; one that is set where code depends on tensors, of a thing that is looked after."""
        new = self.parts(node, quick)
        if quick or isinstance(node.ctx, ast.Load):
            return new
        texts = [located(ast.Constant(ast.unparse(part)), node) for part in (node.value, node)]
        return replaced(new, value=call("target", new.value, *texts, load(STAGED), self.is_global(node.value), at=node.value))

    def is_global(self, node: Any) -> ast.Constant:
        """Whether the name that a thing is reached from is a global."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return ast.Constant(isinstance(node, ast.Name) and node.id not in self._known)

    def _named(self, node: ast.NamedExpr, quick: bool) -> Any:
        if quick or node.target.id not in self._settable:
            return self.parts(node, quick)
        return located(ast.Call(load(setter(node.target.id)), [self.convert(node.value, False)], []), node)

    def _call(self, node: ast.Call, quick: bool) -> Any:
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == HIDDEN:
            return self.parts(node, quick)
        if isinstance(function, ast.Name) and function.id not in self._known:
            if function.id in FRAME_READERS and (special := self._frame_reader(node, quick)) is not None:
                return special
            if function.id == "super" and not node.args and not node.keywords and self._first is not None:
                return replaced(node, args=[located(ast.Name("__class__", ast.Load()), node), located(ast.Name(self._first, ast.Load()), node)])
            if function.id in _AS_THEY_ARE:
                return self.parts(node, quick)
        new = self.parts(node, quick)
        return replaced(new, func=call("converted", new.func, at=function))

    def _frame_reader(self, node: ast.Call, quick: bool) -> Any:
        """``locals()`` and its like, which would see the generated functions' names."""
        count = 1 if node.func.id in ("eval", "exec") else 0
        if node.keywords or len(node.args) != count or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        names = [located(ast.Tuple([ast.Constant(name), lazy(located(load(name), node))], ast.Load()), node) for name in self._visible]
        arguments = [self.convert(a, quick) for a in node.args]
        return replaced(node, func=call("frame_reader", node.func, ast.Tuple(names, ast.Load()), at=node.func), args=arguments)

    def _lambda(self, node: ast.Lambda, quick: bool) -> Any:
        own = parameters(node)
        mark_reads(node.body, getattr(node, "uncertain_outside", set()))
        inner = Expressions(self._known | own, {*self._visible, *own}, None, self._shares, set())
        arguments = self.parts(node.args, False)
        if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in ast.walk(node.body)):
            return replaced(node, args=arguments)
        return replaced(node, args=arguments, body=inner.convert(node.body, True))

    # ------------------------------------------------------------------ comprehensions

    def _comprehension(self, node: Any, quick: bool) -> Any:
        if any(generator.is_async for generator in node.generators):
            return node
        generators = []
        for generator in node.generators:
            conditions = [self._filter(c, quick) for c in generator.ifs]
            source = call("elements", self.convert(generator.iter, False), at=generator.iter)
            generators.append(replaced(generator, iter=source, ifs=conditions))
        if isinstance(node, ast.DictComp):
            return replaced(node, key=self.convert(node.key, quick), value=self.convert(node.value, quick), generators=generators)
        return replaced(node, elt=self.convert(node.elt, quick), generators=generators)

    def _filter(self, condition: Any, quick: bool) -> Any:
        if self.is_python(condition):
            return self.convert(condition, quick)
        if isinstance(condition, ast.BoolOp):
            return replaced(condition, values=[self._filter(value, quick) for value in condition.values])
        if _is_membership(condition):
            return self.parts(condition, quick)
        return call("decided", self.convert(condition, quick), at=condition)


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    return [function(item) for item in value] if isinstance(value, list) else function(value)


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def setter(name: str) -> str:
    """The name of the function that binds a variable."""
    return f"{HIDDEN}set_{name}"
