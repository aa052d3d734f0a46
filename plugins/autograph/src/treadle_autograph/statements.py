"""Rewriting a function: each branch and loop gets a way for Python values, in place, and one for tensors, in functions of its own.

The way for Python values is Python's own statement behind a test that asks for ``True`` and ``False``. The other way calls an operator with
``ag__staged``, a function inside the user's that gives the parts of its n-th branch or loop as functions, with the names that they bind. There every
inner branch and loop is a call of an operator, so each statement is written down twice, however deep it stands. The operators read and set the
user's variables through the cells of ``ag__staged``.
"""

from __future__ import annotations

import ast
from typing import Any

from treadle_autograph.expressions import SHARED, Expressions, call, lazy, located, replaced, setter
from treadle_autograph.flow import TRIES, mark_live, mark_uncertain
from treadle_autograph.jumps import RESULT, lower
from treadle_autograph.names import HIDDEN, Scope, attributes_set, bound, free, walk_scope
from treadle_autograph.source import mangled

STAGED, NUMBER, ITEM, TEST = f"{HIDDEN}staged", f"{HIDDEN}number", f"{HIDDEN}item", f"{HIDDEN}test"
CHANGING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft", "extendleft"})
"""Methods that put something into a container."""
DIRECTIVE = "set_loop_options"


def is_left_alone(node: Any) -> bool:
    """True for generators and coroutines, which run as they are written."""
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for top in body for part in walk_scope(top))


class Converter:
    """Rewrites one function.

    Args:
        node: the function, whose tree is used up.
        known: names around it that hide builtins.
        uncertain: names from outside that may be undefined when it runs.
        class_name: of the class around it, which private names are mangled with.
    """

    def __init__(self, node: ast.FunctionDef, known: set[str], uncertain: set[str], class_name: str | None = None) -> None:
        self._node = node
        self._class = class_name
        self._scope = scope = Scope(node)
        first = next((a.arg for a in (*node.args.posonlyargs, *node.args.args)), None)
        self._known = known | scope.local | scope.outer
        self._expressions = Expressions(self._known, scope.local | (free(node) & known), first, bool(scope.rebound), scope.sometimes)
        self._functions: dict[int, Any] = {}
        self._parts: list[ast.stmt] = []
        self._rows: list[ast.expr] = []
        self._row_of: dict[int, int] = {}
        self._names: set[str] = set()
        self._uncertain = uncertain

    def convert(self) -> ast.FunctionDef:
        """The function rewritten; its defaults, decorators and annotations stay as they are."""
        node = self._node
        lower(node)
        mark_live(node.body, self._scope)
        mark_uncertain(node, self._scope, self._uncertain)
        body = self._block(node.body, True) or [_at(ast.Pass(), node)]
        lost = self._scope.local - bound(node.body) - self._scope.params  # in code that is never reached
        if any(isinstance(part, ast.Name) and part.id == RESULT for top in self._parts for part in ast.walk(top)):
            lost.add(RESULT)
        start: list[ast.stmt] = [_at(ast.AnnAssign(ast.Name(name, ast.Store()), ast.Constant(None), simple=1), node) for name in sorted(lost)]
        if self._scope.rebound:
            start.append(self._function(SHARED, [ast.Nonlocal(sorted(self._scope.rebound))], [], node))
        start += [self._setter(name) for name in sorted(self._scope.sometimes)]
        if self._rows:
            start.append(self._staged())
        clean: list[ast.stmt] = [_at(ast.Expr(call("clean", at=node)), node), _at(ast.Raise(), node)]
        guarded = ast.Try(body, [_at(ast.ExceptHandler(None, None, clean), node)], [], [])
        return replaced(node, body=[*start, _at(guarded, node)])  # type: ignore[no-any-return]

    def _setter(self, name: str) -> ast.FunctionDef:
        body = [ast.Nonlocal([name]), ast.Assign([ast.Name(name, ast.Store())], _load(ITEM)), ast.Return(_load(ITEM))]
        return self._function(setter(name), body, [ITEM], self._node)

    def _staged(self) -> ast.FunctionDef:
        table = ast.Subscript(ast.Tuple(self._rows, ast.Load()), ast.Name(NUMBER, ast.Load()), ast.Load())
        return self._function(STAGED, [*self._parts, ast.Return(table)], [NUMBER], self._node)

    # ------------------------------------------------------------------ statements

    def _block(self, statements: list[Any], quick: bool) -> list[Any]:
        return [new for node in statements for new in self._statement(node, quick)]

    def _statement(self, node: Any, quick: bool) -> list[Any]:
        handler = _HANDLERS.get(type(node))
        return [self._expressions.convert(node, quick)] if handler is None else handler(self, node, quick)

    def _if(self, node: ast.If, quick: bool) -> list[Any]:
        test, body, orelse = node.test, node.body, node.orelse
        if self._expressions.is_python(test):
            new = self._expressions.convert(test, quick)
            return [replaced(node, test=new, body=self._block(body, quick) or [_at(ast.Pass(), node)], orelse=self._block(orelse, quick))]
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, body, orelse = test.operand, orelse, body
        row = self._row(node, lambda: self._if_row(node, body, orelse))
        new = self._expressions.convert(test, quick)
        if not quick:
            return [_expr(call("if_stmt", new, *row, at=test), test)]
        staged: list[ast.stmt] = [_expr(call("if_stmt", _load(TEST), *row, at=test), test)]
        if getattr(node, "returns", False):
            staged.append(_at(ast.Return(_load(RESULT)), test))
        quickly = self._quickly(TEST, new, "truth", test)
        inner = ast.If(_is(TEST, False), self._block(orelse, True) or [ast.Pass()], staged)
        return [_at(ast.If(quickly, self._block(body, True) or [ast.Pass()], [inner]), test)]

    def _quickly(self, name: str, test: Any, operator: str, where: Any) -> ast.expr:
        """Whether a test is True, its value kept under a name; an operator is asked only if it is neither True nor False."""
        # (t := TEST) is True or t is not False and (t := operator(t)) is True
        settled = ast.NamedExpr(ast.Name(name, ast.Store()), call(operator, _load(name), at=where))
        other = ast.BoolOp(ast.And(), [_is_not(name, False), ast.Compare(settled, [ast.Is()], [ast.Constant(True)])])
        kept = ast.NamedExpr(ast.Name(name, ast.Store()), test)
        return _at(ast.BoolOp(ast.Or(), [ast.Compare(kept, [ast.Is()], [ast.Constant(True)]), other]), where)  # type: ignore[no-any-return]

    def _while(self, node: Any, quick: bool) -> list[Any]:
        row = self._row(node, lambda: self._while_row(node))
        test = node.test
        if not quick:
            return [_expr(call("while_stmt", ast.Constant(None), *row, at=test), test)]
        name = self._expressions.fresh()
        rest = _expr(call("while_stmt", ast.Constant(None), *row, at=test), test)
        body = [*self._block(node.body, True), *self._exits(node, rest)]
        loop = replaced(node, test=self._quickly(name, self._expressions.convert(test, True), "loop_truth", test), body=body)
        staged = _expr(call("while_stmt", _load(name), *row, at=test), test)
        unclear = ast.BoolOp(ast.And(), [_is_not(name, False), _is_not(name, True)])  # True after a break
        return [loop, _at(ast.If(unclear, [staged], []), test)]

    def _exits(self, node: Any, rest: ast.stmt) -> list[Any]:
        """After a turn: leave the loop if a flag says so, and leave the rest of it to an operator if the flag is a tensor."""
        found = []
        for flag in node.exits:
            found.append(_at(ast.If(_is(flag, True), [ast.Break()], []), node))
            found.append(_at(ast.If(_is_not(flag, False), [rest, ast.Break()], []), node))
        return found

    def _for(self, node: Any, quick: bool) -> list[Any]:
        row = self._row(node, lambda: self._for_row(node))
        source = self._expressions.convert(node.iter, quick)
        where = node.iter
        if not quick:
            return [_expr(call("for_stmt", source, *row, at=where), where)]
        items = self._expressions.fresh()
        run = _expr(call("for_stmt", _load(items), *row, at=where), where)
        body = [*self._block(node.body, True), *self._exits(node, run)]
        if node.exits:
            source = call("iterate", source, at=where)
        loop = replaced(node, target=self._expressions.convert(node.target, True), iter=_at(_load(items), where), body=body)
        keep = _at(ast.Assign([ast.Name(items, ast.Store())], source), where)
        return [keep, _at(ast.If(call("is_staged", _load(items), at=where), [run], [loop]), where)]

    def _with(self, node: Any, quick: bool) -> list[Any]:
        items = [self._expressions.convert(item, quick) for item in node.items]
        return [replaced(node, items=items, body=self._block(node.body, quick) or [_at(ast.Pass(), node)])]

    def _try(self, node: Any, quick: bool) -> list[Any]:
        handlers = [replaced(h, type=self._expressions.convert(h.type, quick), body=self._block(h.body, quick)) for h in node.handlers]
        parts = {part: self._block(getattr(node, part), quick) for part in ("body", "orelse", "finalbody")}
        return [replaced(node, handlers=handlers, **parts)]

    def _match(self, node: ast.Match, quick: bool) -> list[Any]:
        cases = []
        for case in node.cases:
            guard = None if case.guard is None else call("decided", self._expressions.convert(case.guard, quick), at=case.guard)
            cases.append(replaced(case, guard=guard, body=self._block(case.body, quick)))
        return [replaced(node, subject=self._expressions.convert(node.subject, quick), cases=cases)]

    def _assert(self, node: ast.Assert, quick: bool) -> list[Any]:
        message = self._expressions.convert(node.msg, False) if node.msg is not None else located(ast.Constant(None), node)
        test = call("assert_", self._expressions.convert(node.test, quick), lazy(message), at=node.test)
        return [replaced(node, test=test, msg=self._expressions.convert(node.msg, quick))]

    def _return(self, node: ast.Return, quick: bool) -> list[Any]:
        value = self._expressions.convert(node.value, quick)
        if quick:
            return [replaced(node, value=value)]
        if isinstance(value, ast.Name) and value.id == RESULT:
            return [_at(ast.Pass(), node)]
        return [_at(ast.Assign([ast.Name(RESULT, ast.Store())], value or ast.Constant(None)), node)]

    def _augmented(self, node: Any, quick: bool) -> list[Any]:
        new = self._expressions.convert(node, quick)
        if not getattr(node, "uncertain", False):
            return [new]
        value = call("defined", _load(node.target.id), at=node.target)
        return [_at(ast.Assign([ast.Name(node.target.id, ast.Store())], value), node), new]

    def _expression(self, node: ast.Expr, quick: bool) -> list[Any]:
        value = node.value
        if not quick and _is_directive(value):
            return [_at(ast.Pass(), node)]
        if not quick and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in CHANGING:
            owner = self._expressions.convert(value.func.value, False)
            text = ast.unparse(value.func.value)
            method = call("changing", owner, ast.Constant(value.func.attr), ast.Constant(text), at=value.func)
            new = self._expressions.parts(replaced(value, func=ast.Constant(None)), False)
            return [replaced(node, value=replaced(new, func=method))]
        return [self._expressions.convert(node, quick)]

    def _declaration(self, node: Any, quick: bool) -> list[Any]:
        return [node] if quick else []

    def _def(self, node: Any, quick: bool) -> list[Any]:
        found = self._functions.get(id(node))
        if found is None:
            found = self._functions[id(node)] = self._converted(node)
        return [found]

    def _converted(self, node: Any) -> Any:
        if is_left_alone(node):
            return node
        args = node.args
        defaults = [self._expressions.convert(d, False) for d in args.defaults]
        kw_defaults = [self._expressions.convert(d, False) for d in args.kw_defaults]
        inner = Converter(node, self._known, getattr(node, "uncertain_outside", set()), self._class)
        return replaced(inner.convert(), args=replaced(args, defaults=defaults, kw_defaults=kw_defaults))

    def _class_(self, node: ast.ClassDef, quick: bool) -> list[Any]:
        found = self._functions.get(id(node))
        if found is None:
            body = []
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and not is_left_alone(part):
                    part = Converter(part, self._known, set(), node.name).convert()
                body.append(part)
            found = self._functions[id(node)] = replaced(node, body=body)
        return [found]

    # ------------------------------------------------------------------ the way for tensors

    def _row(self, node: Any, make: Any) -> list[ast.expr]:
        """The arguments that say which branch or loop is meant; its parts are written at the first question."""
        if id(node) not in self._row_of:
            number = self._row_of[id(node)] = len(self._rows)
            self._rows.append(ast.Constant(None))
            self._rows[number] = located(ast.Tuple(make(), ast.Load()), node)
        return [_load(STAGED), ast.Constant(self._row_of[id(node)])]

    def _if_row(self, node: Any, body: list[Any], orelse: list[Any]) -> list[ast.expr]:
        names = bound([*body, *orelse]) | self._scope.rebound
        live = names & (node.live | self._scope.rebound)
        if getattr(node, "returns", False):
            live.add(RESULT)
        arms = [self._part(kind, arm, node) if arm else ast.Constant(None) for kind, arm in (("if", body), ("else", orelse))]
        return [*arms, self._listed(live | self._attributes(node, names)), self._listed(names - live)]

    def _while_row(self, node: Any) -> list[ast.expr]:
        names = bound([*node.body, node.test]) | self._scope.rebound
        live = names & (node.live | node.carried | self._scope.rebound)
        test = self._part("test", [_at(ast.Return(node.test), node.test)], node, is_test=True)
        return [self._part("while", node.body, node), test, *self._loop_row(node, names, live)]

    def _for_row(self, node: Any) -> list[ast.expr]:
        names = bound([*node.body, node.target]) | self._scope.rebound
        live = names & (node.live | node.carried | self._scope.rebound)
        take = _at(ast.Assign([node.target], _load(ITEM)), node.target)
        return [self._part("for", [take, *node.body], node, [ITEM]), *self._loop_row(node, names, live)]

    def _loop_row(self, node: Any, names: set[str], live: set[str]) -> list[ast.expr]:
        options: ast.expr = ast.Constant(None)
        for part in node.body:
            if isinstance(part, ast.Expr) and _is_directive(part.value):
                given = ast.Dict([ast.Constant(k.arg) for k in part.value.keywords], [k.value for k in part.value.keywords])  # type: ignore[attr-defined]
                options = self._part("options", [_at(ast.Return(given), part)], node, is_test=True)
        return [self._listed(live | self._attributes(node, names)), self._listed(names - live), self._listed(node.exits), options]

    def _listed(self, names: Any) -> ast.expr:
        ordered = sorted(names) if isinstance(names, set) else names
        full = [".".join(mangled(part, self._class) for part in name.split(".")) for name in ordered]
        return ast.Tuple([ast.Constant(name) for name in full], ast.Load())

    def _attributes(self, node: Any, names: set[str]) -> set[str]:
        return {path for path in attributes_set([node]) if path.partition(".")[0] not in names}

    def _part(self, kind: str, statements: list[Any], node: Any, params: list[str] = [], is_test: bool = False) -> ast.expr:  # noqa: B006
        """A part of a branch or loop as a function inside ``ag__staged``; its name."""
        if is_test:
            body = [replaced(s, value=self._expressions.convert(s.value, False)) for s in statements]
        else:
            body = self._block(statements, False) or [_at(ast.Pass(), node)]
        names = bound(statements) | self._scope.rebound
        if any(isinstance(part, ast.Return) for s in statements for part in walk_scope(s)) and not is_test:
            names.add(RESULT)
        header: list[ast.stmt] = []
        if shared := names - self._scope.global_:
            header.append(_at(ast.Nonlocal(sorted(shared)), node))
        if from_module := names & self._scope.global_:
            header.append(_at(ast.Global(sorted(from_module)), node))
        name = f"{kind}_{node.lineno}"
        while name in self._names:
            name += "_"
        self._names.add(name)
        self._parts.append(self._function(f"{HIDDEN}{name}", [*header, *body], params, node))
        return _load(f"{HIDDEN}{name}")

    def _function(self, name: str, body: list[Any], params: list[str], where: Any) -> ast.FunctionDef:
        arguments = ast.arguments(posonlyargs=[], args=[ast.arg(p) for p in params], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(name, arguments, body, [])
        if "type_params" in ast.FunctionDef._fields:
            function.type_params = []  # type: ignore[attr-defined]
        return _at(function, where)  # type: ignore[no-any-return]


_HANDLERS: dict[type, Any] = {
    ast.If: Converter._if,
    ast.While: Converter._while,
    ast.For: Converter._for,
    ast.With: Converter._with,
    **dict.fromkeys(TRIES, Converter._try),
    ast.Match: Converter._match,
    ast.Assert: Converter._assert,
    ast.Return: Converter._return,
    ast.AugAssign: Converter._augmented,
    ast.Expr: Converter._expression,
    ast.Global: Converter._declaration,
    ast.Nonlocal: Converter._declaration,
    ast.FunctionDef: Converter._def,
    ast.AsyncFunctionDef: Converter._def,
    ast.ClassDef: Converter._class_,
}


def _is_directive(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == DIRECTIVE


def _is(name: str, constant: bool) -> ast.expr:
    return ast.Compare(_load(name), [ast.Is()], [ast.Constant(constant)])


def _is_not(name: str, constant: bool) -> ast.expr:
    return ast.Compare(_load(name), [ast.IsNot()], [ast.Constant(constant)])


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _expr(value: ast.expr, where: Any) -> ast.Expr:
    return _at(ast.Expr(value), where)  # type: ignore[no-any-return]


_at = located
