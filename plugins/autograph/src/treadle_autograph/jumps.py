"""``break``, ``continue`` and ``return`` become flags and branches, so that what is left has one way in and one way out.

What follows a branch that always jumps moves into the other branch; only where neither always does, a flag guards what follows. A ``return`` after
which nothing comes stays one. Loops lose their ``else``. A jump out of a ``finally`` is refused.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from treadle_autograph.names import HIDDEN, SCOPES
from treadle_autograph.nodes import assigned, load, located

RESULT, RETURNED = f"{HIDDEN}result", f"{HIDDEN}returned"
LOOPS = (ast.For, ast.While)


class NotConvertibleError(Exception):
    """A function has a construct that cannot be converted; the message says which."""


class _Loop:
    """The flags of a loop that were needed."""

    def __init__(self, number: int, outer: _Loop | None) -> None:
        self.outer = outer
        self.broken = f"{HIDDEN}broken_{number}"
        self.continued = f"{HIDDEN}continued_{number}"
        self.breaks = self.continues = self.returns = False

    @property
    def exits(self) -> list[str]:
        return [self.broken] * self.breaks + [RETURNED] * self.returns


@dataclass(frozen=True)
class _Place:
    """Where a block stands.

    Attributes:
        loop: the innermost loop.
        last: the function ends where the block ends.
        last_in_turn: the turn of the innermost loop ends there.
        plain: nothing but ``with`` and ``try`` is around it.
    """

    loop: _Loop | None = None
    last: bool = False
    last_in_turn: bool = False
    plain: bool = False

    @property
    def followed(self) -> _Place:
        return replace(self, last=False, last_in_turn=False)


def lower(function: ast.FunctionDef) -> None:
    """Rewrite a function's body in place."""
    jumps = _Jumps()
    body = function.body
    if jumps_of(body) and not leaves(body):
        body = [*body, located(ast.Return(ast.Constant(None)), body[-1])]
    function.body = jumps.block(body, _Place(last=True, plain=True))
    if jumps.returned:
        function.body.insert(0, _set(RETURNED, False, function.body[0]))


def jumps_of(nodes: list[Any]) -> dict[str, ast.stmt]:
    """The kinds of jump that leave statements: ``return``, ``break`` and ``continue``; with the first jump of each."""
    found: dict[str, ast.stmt] = {}
    for node in nodes:
        if isinstance(node, ast.Return | ast.Break | ast.Continue):
            inner = {type(node).__name__.lower(): node}
        elif isinstance(node, (*LOOPS, ast.AsyncFor)):
            inner = jumps_of(node.orelse)
            if returned := jumps_of(node.body).get("return"):
                inner["return"] = returned
        else:
            inner = {} if isinstance(node, SCOPES) else jumps_of([part for block in blocks(node) for part in block])
        found |= {kind: jump for kind, jump in inner.items() if kind not in found}
    return found


def blocks(node: Any) -> list[list[Any]]:
    """The blocks of statements right inside a statement."""
    found = []
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            found.append(value)
        elif isinstance(value, list):
            found += [item.body for item in value if isinstance(item, ast.ExceptHandler | ast.match_case)]
    return found


def leaves(statements: list[Any]) -> bool:
    """True if the end of a block is never reached."""
    return any(_leaves(s) for s in statements)


def _leaves(node: Any) -> bool:
    if isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return True
    if isinstance(node, ast.If):
        return leaves(node.body) and leaves(node.orelse)
    if isinstance(node, ast.Try | ast.TryStar):
        return leaves([*node.body, *node.orelse]) and all(leaves(h.body) for h in node.handlers)
    if isinstance(node, LOOPS):
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        return (is_endless or leaves(node.orelse)) and "break" not in jumps_of(node.body)
    if isinstance(node, ast.Match):
        last = node.cases[-1]
        takes_all = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return takes_all and all(leaves(case.body) for case in node.cases)
    return False


class _Jumps:
    """Lowers one function.

    Attributes:
        returned: the flag that says that the function has returned is used.
    """

    def __init__(self) -> None:
        self.returned = False
        self._loops = 0

    def block(self, statements: list[Any], place: _Place) -> list[Any]:
        """A block whose jumps are lowered."""
        out: list[Any] = []
        for i, node in enumerate(statements):
            rest = statements[i + 1 :]
            if isinstance(node, ast.Return | ast.Break | ast.Continue):
                return [*out, *self._jump(node, place)]
            kinds = jumps_of([node])
            if isinstance(node, ast.If) and kinds:
                return [*out, *self._if(node, rest, kinds, place)]
            if kinds:
                return [*out, *self._compound(node, rest, kinds, place)]
            out += self._inner(node, place)
            if isinstance(node, ast.Raise):
                break
        return out

    def _jump(self, node: Any, place: _Place) -> list[Any]:
        loop = place.loop
        if isinstance(node, ast.Return):
            if place.last:
                return [node]
            self.returned = True
            while loop is not None:
                loop.returns = True
                loop = loop.outer
            return [assigned(RESULT, node.value or ast.Constant(None), node), _set(RETURNED, True, node)]
        assert loop is not None
        if isinstance(node, ast.Break):
            loop.breaks = True
            return [_set(loop.broken, True, node)]
        if place.last_in_turn:
            return [located(ast.Pass(), node)]
        loop.continues = True
        return [_set(loop.continued, True, node)]

    def _if(self, node: ast.If, rest: list[Any], kinds: dict[str, ast.stmt], place: _Place) -> list[Any]:
        if rest and leaves(node.body):
            node.orelse, rest = [*node.orelse, *rest], []
        elif rest and leaves(node.orelse):
            node.body, rest = [*node.body, *rest], []
        inside = replace(place.followed if rest else place, plain=False)
        node.body = self.block(node.body, inside) or [located(ast.Pass(), node)]
        node.orelse = self.block(node.orelse, inside)
        node.returns = place.last and not rest
        return [node, *(self._guarded(rest, kinds, place) if rest else [])]

    def _guarded(self, rest: list[Any], kinds: dict[str, ast.stmt], place: _Place) -> list[Any]:
        """What follows a statement that may have jumped; that there are two ways is due to the jump."""
        after = kinds.get("return") or next(iter(kinds.values()))
        result = [located(ast.Return(load(RESULT)), after)] if place.last else []
        if not rest:
            return result
        flags = [RETURNED] * ("return" in kinds)
        if place.loop is not None:
            flags += [place.loop.broken] * ("break" in kinds) + [place.loop.continued] * ("continue" in kinds)
        body = self.block(rest, replace(place, plain=False))
        guard = located(ast.If(_none_of(flags), body or [ast.Pass()], result), after)
        guard.returns = bool(result)
        return [guard]

    def _compound(self, node: Any, rest: list[Any], kinds: dict[str, ast.stmt], place: _Place) -> list[Any]:
        if isinstance(node, ast.With) and place.plain and place.last and leaves(node.body):
            node.body = self.block(node.body, place)  # returns where it stands; what follows runs only if the exit swallowed an exception
            return [node, *self.block(rest, place)]
        if isinstance(node, ast.Try | ast.TryStar) and place.last and _leaves(node) and not node.orelse:
            return self._try(node, place)
        inside = self._inner(node, place.followed if rest else replace(place, last=False))
        return [*inside, *self._guarded(rest, kinds, place)]

    def _inner(self, node: Any, place: _Place) -> list[Any]:
        """A statement with what is inside it lowered."""
        inside = replace(place, plain=place.plain and isinstance(node, ast.With | ast.Try | ast.TryStar))
        if isinstance(node, LOOPS):
            return self._loop(node, place)
        if isinstance(node, ast.If):
            node.body = self.block(node.body, inside)
            node.orelse = self.block(node.orelse, inside)
        elif isinstance(node, ast.With):
            node.body = self.block(node.body, replace(inside, last=False))
        elif isinstance(node, ast.Try | ast.TryStar):
            return self._try(node, replace(inside, last=False))
        elif isinstance(node, ast.Match):
            for case in node.cases:
                case.body = self.block(case.body, replace(inside, last=False))
        return [node]

    def _try(self, node: Any, place: _Place) -> list[Any]:
        kinds = jumps_of(node.body)
        node.body = self.block(node.body, place if not node.orelse else place.followed)
        for handler in node.handlers:
            handler.body = self.block(handler.body, place) or [located(ast.Pass(), handler)]
        if node.orelse:
            orelse = node.orelse
            node.orelse = self._guarded(orelse, kinds, replace(place, last=False)) if kinds else self.block(orelse, place)
        if jumps_of(node.finalbody):
            raise NotConvertibleError(f"line {node.finalbody[0].lineno} jumps out of a `finally`, which swallows exceptions")
        node.finalbody = self.block(node.finalbody, replace(place, last=False, last_in_turn=False))
        return [node]

    def _loop(self, node: Any, place: _Place) -> list[Any]:
        self._loops += 1
        loop = _Loop(self._loops, place.loop)
        jumps = jumps_of(node.body)
        node.body = self.block(node.body, _Place(loop, last_in_turn=True)) or [located(ast.Pass(), node)]
        if loop.continues:
            node.body.insert(0, _set(loop.continued, False, node))
        node.exits = loop.exits
        out: list[Any] = [_set(loop.broken, False, node)] if loop.breaks else []
        out.append(node)
        orelse, node.orelse = node.orelse, []
        if orelse:
            body = self.block(orelse, replace(place.followed, plain=False))
            out += [located(ast.If(_none_of(loop.exits), body, []), jumps.get("break") or jumps["return"])] if loop.exits else body
        return out


def _none_of(flags: list[str]) -> ast.expr:
    names: list[ast.expr] = [load(flag) for flag in flags]
    return ast.UnaryOp(ast.Not(), names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names))


def _set(name: str, value: bool, where: Any) -> ast.Assign:
    return assigned(name, ast.Constant(value), where)
