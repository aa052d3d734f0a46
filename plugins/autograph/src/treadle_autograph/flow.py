"""What is live and what is surely defined, in a function whose jumps are lowered.

Each branch and loop is marked with the names that may be read after it (``live``), each loop also with those that a next turn may read (``carried``).
Each read of a name that may have no value there is marked ``early``, and ``uncertain`` too if a branch or loop may be the cause.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from treadle_autograph.jumps import LOOPS
from treadle_autograph.names import COMPREHENSIONS, FUNCTIONS, HIDDEN, SCOPES, Scope, bound, children, free, outside, reads, walk_scope

TRIES = (ast.Try, ast.TryStar)
CONSTRUCTS = (ast.If, *LOOPS)


def mark_live(body: list[Any], scope: Scope) -> None:
    """Mark branches and loops with the names that are live after them."""
    always = scope.shared | scope.outer | scope.global_ | scope.rebound
    _Liveness(always).block(body, set())


class _Liveness:
    def __init__(self, always: set[str]) -> None:
        self._always = always
        self._exceptional: set[str] = set()

    def block(self, statements: list[Any], after: set[str]) -> set[str]:
        """What is live before a block."""
        live = after
        for node in reversed(statements):
            live = self._statement(node, live | self._exceptional)
        return live

    def _statement(self, node: Any, after: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            node.live = after | self._always
            return reads(node.test) | self.block(node.body, after) | self.block(node.orelse, after)
        if isinstance(node, LOOPS):
            return self._loop(node, after)
        if isinstance(node, ast.With):
            before = self.block(node.body, after)
            for item in reversed(node.items):
                before = (before - bound([item])) | reads(item)
            return before
        if isinstance(node, TRIES):
            return self._try(node, after)
        if isinstance(node, ast.Match):
            before = set(after) | reads(node.subject)
            for case in node.cases:
                before |= self.block(case.body, after) | reads(case.pattern) | reads(case.guard)
            return before
        if isinstance(node, ast.Return | ast.Raise):
            return reads(node) | self._exceptional
        if isinstance(node, ast.AugAssign):
            return after | reads(node) | bound([node])
        if isinstance(node, ast.Delete):
            return after | reads(node) | bound([node])
        return (after - bound([node])) | reads(node)

    def _loop(self, node: Any, after: set[str]) -> set[str]:
        node.live = after | self._always
        exits = set(getattr(node, "exits", ()))
        is_for = isinstance(node, ast.For)
        head = after | exits | (set() if is_for else reads(node.test))
        while True:
            before = self.block(node.body, head) | head
            if is_for:
                before = (before - bound([node.target])) | head | (after & bound([node.target]))
            if before <= head:
                break
            head = head | before
        node.carried = (head if is_for else self.block(node.body, head) | after | exits) | self._always
        return head | reads(node.iter if is_for else node.test)

    def _try(self, node: Any, after: set[str]) -> set[str]:
        final = self.block(node.finalbody, after)
        outer = self._exceptional
        self._exceptional = outer | final
        handled = set(final)
        for handler in node.handlers:
            handled |= (self.block(handler.body, final) - ({handler.name} if handler.name else set())) | reads(handler.type)
        self._exceptional = outer | handled
        before = self.block(node.body, self.block(node.orelse, final)) | handled
        self._exceptional = outer
        return before


# ---------------------------------------------------------------------- definite assignment


def mark_uncertain(function: Any, scope: Scope, outer: Iterable[str] = ()) -> None:
    """Mark the reads of names that may be undefined.

    Args:
        function: its jumps are lowered.
        scope: its names.
        outer: names from outside that may be undefined when it is called.
    """
    body = function.body
    risky = {name for top in body for node in walk_scope(top) if isinstance(node, CONSTRUCTS) for name in bound([node])}
    risky = {name for name in risky & (scope.local | scope.outer) if not name.startswith(HIDDEN)}
    _Definite(risky | (set(outer) - scope.local), scope.sometimes, scope.local).block(body, set(scope.params))


class _Definite:
    """Walks forward with the set of names that surely have a value; None where no control comes."""

    def __init__(self, risky: set[str], never_sure: set[str], local: set[str]) -> None:
        self._risky = risky
        self._never_sure = never_sure
        self._local = local

    def block(self, statements: list[Any], known: set[str] | None) -> set[str] | None:
        for node in statements:
            if known is None:
                known = set()
            known = self._statement(node, known)
        return known

    def _statement(self, node: Any, known: set[str]) -> set[str] | None:
        if isinstance(node, ast.If):
            self._read(node.test, known)
            known = known | bound([node.test])
            return _both(self.block(node.body, known), self.block(node.orelse, known))
        if isinstance(node, LOOPS):
            is_for = isinstance(node, ast.For)
            self._read(node.iter if is_for else node.test, known)
            known = known | bound([node.iter if is_for else node.test])
            self.block(node.body, known | bound([node.target]) if is_for else known)
            return known
        if isinstance(node, ast.With):
            for item in node.items:
                self._read(item, known)
                known = known | bound([item])
            return self.block(node.body, known)
        if isinstance(node, TRIES):
            return self._try(node, known)
        if isinstance(node, ast.Match):
            self._read(node.subject, known)
            ways: set[str] | None = known
            for case in node.cases:
                inside = known | bound([case.pattern])
                self._read(case.guard, inside)
                ways = _both(ways, self.block(case.body, inside))
            return ways
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            node.uncertain = node.target.id in self._doubtful(known)
            node.early = node.target.id in self._early(known)
        self._read(node, known)
        if isinstance(node, ast.Return | ast.Raise):
            return None
        if isinstance(node, ast.Delete):
            return known - bound([node])
        return known | bound([node])

    def _try(self, node: Any, known: set[str]) -> set[str] | None:
        ways = self.block(node.orelse, self.block(node.body, known))
        for handler in node.handlers:
            self._read(handler.type, known)
            ways = _both(ways, self.block(handler.body, known | ({handler.name} if handler.name else set())))
        final = self.block(node.finalbody, known)
        return None if ways is None or final is None else ways | final

    def _read(self, node: Any, known: set[str]) -> None:
        doubtful, early = self._doubtful(known), self._early(known)
        if node is not None and (doubtful or early):
            mark_reads(node, doubtful, early)

    def _doubtful(self, known: set[str]) -> set[str]:
        return (self._risky - known) | self._never_sure

    def _early(self, known: set[str]) -> set[str]:
        return (self._local - known) | self._never_sure


def _both(a: set[str] | None, b: set[str] | None) -> set[str] | None:
    if a is None or b is None:
        return b if a is None else a
    return a & b


def mark_reads(node: Any, doubtful: set[str], early: AbstractSet[str] = frozenset()) -> None:
    """Mark the reads of ``doubtful`` and ``early`` names."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            node.uncertain, node.early = node.id in doubtful, node.id in early
    elif isinstance(node, SCOPES):
        if isinstance(node, FUNCTIONS):
            node.uncertain_outside = doubtful & free(node)
        for part in outside(node):
            mark_reads(part, doubtful, early)
    elif isinstance(node, COMPREHENSIONS):
        own: set[str] = set()
        for generator in node.generators:
            own |= bound([generator.target])
        for child in children(node):
            mark_reads(child, doubtful - own, early - own)
    else:
        for child in children(node):
            mark_reads(child, doubtful, early)
