"""Rewriting a function: each branch and loop gets a way for Python values, in place, and one for tensors, in functions of its own.

The way for Python values is Python's own statement behind a test that asks for ``True`` and ``False``. The other way calls an operator with
``ag__staged``, a function inside the user's that gives the parts of its n-th branch or loop as functions, with the names that they bind. There every
inner branch and loop is a call of an operator, so each statement is written down twice, however deep it stands. The operators read and set the
user's variables through the cells of ``ag__staged``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from treadle_autograph.composites import composites_set
from treadle_autograph.expressions import SHARED, STAGED, Expressions, setter
from treadle_autograph.flow import TRIES, mark_live, mark_uncertain
from treadle_autograph.jumps import RESULT, lower
from treadle_autograph.names import HIDDEN, Scope, bound, free, walk_scope
from treadle_autograph.nodes import OPERATORS, assigned, call, function, is_, is_not, keep, lazy, load, located, replaced, run
from treadle_autograph.normal_form import normalize
from treadle_autograph.source import mangled

NUMBER, ITEM, TEST, ERROR = (f"{HIDDEN}{name}" for name in ("number", "item", "test", "error"))
CHANGING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft", "extendleft"})
"""Methods that put something into a container."""
DIRECTIVE = "set_loop_options"
LOOP_OPTIONS = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")
"""The parameters of ``set_loop_options``."""


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
        watches: Python runs the tests of ``if`` and ``while``, and a tensor among them is noticed by its exception; else each is asked first.
        rebound: names from outside that a call may bind.
    """

    def __init__(
        self,
        node: ast.FunctionDef,
        known: set[str],
        uncertain: set[str],
        class_name: str | None = None,
        watches: bool = True,
        rebound: Iterable[str] = (),
    ) -> None:
        self._watches = watches
        self._node = node
        self._class = class_name
        self._scope = scope = Scope(node, rebound)
        first = next((a.arg for a in (*node.args.posonlyargs, *node.args.args)), None)
        self._known = known | scope.local | scope.outer
        self._expressions = Expressions(self._known, scope.local | (free(node) & known), first, bool(scope.rebound), scope.sometimes)
        self._functions: dict[int, Any] = {}
        self._parts: list[ast.stmt] = []
        self._rows: list[ast.expr] = []
        self._row_of: dict[int, int] = {}
        self._names: set[str] = set()
        self._uncertain = uncertain
        self._sets_result = False

    def convert(self) -> ast.FunctionDef:
        """The function rewritten; its defaults, decorators and annotations stay as they are."""
        node = self._node
        docstring = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        node.body = node.body[len(docstring) :]
        normalize(node)
        lower(node)
        mark_live(node.body, self._scope)
        mark_uncertain(node, self._scope, self._uncertain)
        body = self._block(node.body, True) or [located(ast.Pass(), node)]
        lost = self._scope.local - bound(node.body) - self._scope.params  # in code that is never reached
        if self._sets_result:
            lost.add(RESULT)
        start: list[ast.stmt] = [located(ast.AnnAssign(ast.Name(name, ast.Store()), ast.Constant(None), simple=1), node) for name in sorted(lost)]
        if self._scope.rebound:
            start.append(function(SHARED, [], [ast.Nonlocal(sorted(self._scope.rebound))], node))
        start += [self._setter(name) for name in sorted(self._scope.sometimes)]
        if self._rows:
            start.append(self._staged())
        clean: list[ast.stmt] = [located(ast.Expr(call("clean", at=node)), node), located(ast.Raise(), node)]
        guarded = ast.Try(body, [located(ast.ExceptHandler(None, None, clean), node)], [], [])
        return replaced(node, body=[*docstring, *start, located(guarded, node)])

    def _setter(self, name: str) -> ast.FunctionDef:
        body = [ast.Nonlocal([name]), assigned(name, load(ITEM), self._node), ast.Return(load(ITEM))]
        return function(setter(name), [ITEM], body, self._node)

    def _staged(self) -> ast.FunctionDef:
        table = ast.Subscript(ast.Tuple(self._rows, ast.Load()), ast.Name(NUMBER, ast.Load()), ast.Load())
        return function(STAGED, [NUMBER], [*self._parts, ast.Return(table)], self._node)

    # ------------------------------------------------------------------ statements

    def _block(self, statements: list[Any], quick: bool) -> list[Any]:
        return [new for node in statements for new in self._statement(node, quick)]

    def _statement(self, node: Any, quick: bool) -> list[Any]:
        handler = _HANDLERS.get(type(node))
        return [self._expressions.convert(node, quick)] if handler is None else handler(self, node, quick)

    def _if(self, node: ast.If, quick: bool) -> list[Any]:
        if self._expressions.is_python(node.test):
            new = self._expressions.convert(node.test, quick)
            arms = {arm: self._block(getattr(node, arm), quick) for arm in ("body", "orelse")}
            return [replaced(node, test=new, body=arms["body"] or [located(ast.Pass(), node)], orelse=arms["orelse"])]
        test, body, orelse = _without_not(node)
        if not quick:
            return [run("if_stmt", self._expressions.convert(self._truth_of(test), False), *self._if_row(node), at=test)]
        staged: list[ast.stmt] = [run("if_stmt", load(TEST), *self._if_row(node), at=test)]
        if getattr(node, "returns", False):
            staged.append(located(ast.Return(load(RESULT)), test))
        if self._watches:
            numbers: list[ast.expr] = []
            watched = self._plain_if(node, numbers)
            staged[0] = run("resume_if", load(TEST), load(STAGED), at=test)
            attempt = self._attempt([watched, ast.Break()], TEST, numbers, test)
            return [located(ast.While(ast.Constant(True), [attempt, *staged, ast.Break()], []), test)]
        quickly = self._quickly(TEST, self._expressions.convert(test, True), "truth", test)
        inner = ast.If(is_(load(TEST), False), self._block(orelse, True) or [ast.Pass()], staged)
        return [located(ast.If(quickly, self._block(body, True) or [ast.Pass()], [inner]), test)]

    def _plain_if(self, node: ast.If, numbers: list[ast.expr]) -> ast.If:
        """An ``if`` as Python runs it, with those that its arms end with; notes their numbers."""
        test, body, orelse = _without_not(node)
        if not self._expressions.is_python(test):
            numbers.append(self._if_row(node)[1])
        arms = []
        for arm in (body, orelse):
            last = arm[-1] if arm else None
            is_followed = not isinstance(last, ast.If) or getattr(last, "returns", False) != getattr(node, "returns", False)
            arms.append(self._block(arm, True) if is_followed else [*self._block(arm[:-1], True), self._plain_if(last, numbers)])
        return located(ast.If(self._expressions.native(test), arms[0] or [ast.Pass()], arms[1]), test)

    def _attempt(self, body: list[Any], name: str, numbers: list[ast.expr], where: Any) -> ast.Try:
        """Statements as Python runs them; if a test of theirs is a tensor, that is kept under a name, for what comes after."""
        found = call("undecided", load(ERROR), load(STAGED), *numbers, at=where)
        other = ast.If(ast.Compare(keep(name, found), [ast.Is()], [ast.Constant(None)]), [ast.Raise()], [])
        kind = ast.Attribute(load(OPERATORS), "SymbolicTensorError", ast.Load())
        return located(ast.Try(body, [ast.ExceptHandler(kind, ERROR, [other])], [], []), where)

    def _quickly(self, name: str, test: Any, operator: str, where: Any) -> ast.expr:
        """Whether a test is True, its value kept under a name; an operator is asked only if it is neither True nor False."""
        # (t := TEST) is True or t is not False and (t := operator(t)) is True
        settled = keep(name, call(operator, load(name), at=where))
        other = ast.BoolOp(ast.And(), [is_not(load(name), False), is_(settled, True)])
        return located(ast.BoolOp(ast.Or(), [is_(keep(name, test), True), other]), where)

    def _while(self, node: Any, quick: bool) -> list[Any]:
        row = self._row(node, lambda: self._while_row(node))
        test = node.test
        if not quick:
            return [run("while_stmt", ast.Constant(None), *row, at=test)]
        name = self._expressions.fresh()
        rest = run("while_stmt", ast.Constant(None), *row, at=test)
        body = [*self._block(node.body, True), *self._exits(node, rest)]
        if self._watches:
            loop = replaced(node, test=self._expressions.native(test), body=body)
            staged = run("resume_while", load(name), load(STAGED), at=test)
            unclear: ast.expr = ast.Compare(load(name), [ast.IsNot()], [ast.Constant(None)])
            found = [assigned(name, ast.Constant(None), test), self._attempt([loop], name, [row[1]], test)]
        else:
            loop = replaced(node, test=self._quickly(name, self._expressions.convert(test, True), "loop_truth", test), body=body)
            staged = run("while_stmt", load(name), *row, at=test)
            unclear = ast.BoolOp(ast.And(), [is_not(load(name), False), is_not(load(name), True)])  # True after a break
            found = [loop]
        return [*found, located(ast.If(unclear, [staged], []), test)]

    def _exits(self, node: Any, rest: ast.stmt) -> list[Any]:
        """After a turn: leave the loop if a flag says so, and leave the rest of it to an operator if the flag is a tensor."""
        return [
            located(ast.If(is_not(load(flag), False), [ast.If(is_not(load(flag), True), [rest], []), ast.Break()], []), node) for flag in node.exits
        ]

    def _for(self, node: Any, quick: bool) -> list[Any]:
        row = self._row(node, lambda: self._for_row(node))
        source = self._expressions.convert(node.iter, quick)
        where = node.iter
        if not quick:
            return [run("for_stmt", source, *row, at=where)]
        items = self._expressions.fresh()
        staged = run("for_stmt", load(items), *row, at=where)
        body = [*self._block(node.body, True), *self._exits(node, staged)]
        if node.exits:
            source = call("iterate", source, at=where)
        loop = replaced(node, target=self._expressions.convert(node.target, True), iter=located(load(items), where), body=body)
        return [assigned(items, source, where), located(ast.If(call("is_staged", load(items), at=where), [staged], [loop]), where)]

    def _with(self, node: Any, quick: bool) -> list[Any]:
        items = [self._expressions.convert(item, quick) for item in node.items]
        return [replaced(node, items=items, body=self._block(node.body, quick) or [located(ast.Pass(), node)])]

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
        message = _text(self._expressions.convert(node.msg, False)) if node.msg is not None else located(ast.Constant(None), node)
        test = call("assert_", self._expressions.convert(node.test, quick), lazy(message), at=node.test)
        return [replaced(node, test=test, msg=self._expressions.convert(node.msg, quick))]

    def _raise(self, node: ast.Raise, quick: bool) -> list[Any]:
        exception = self._expressions.convert(node.exc, quick)
        if not quick and isinstance(exception, ast.Call):
            exception = replaced(exception, args=[_text(argument) for argument in exception.args])
        return [replaced(node, exc=exception, cause=self._expressions.convert(node.cause, quick))]

    def _return(self, node: ast.Return, quick: bool) -> list[Any]:
        value = self._expressions.convert(node.value, quick)
        if quick:
            return [replaced(node, value=value)]
        if isinstance(value, ast.Name) and value.id == RESULT:
            return [located(ast.Pass(), node)]
        return [assigned(RESULT, value or ast.Constant(None), node)]

    def _annotated(self, node: ast.AnnAssign, quick: bool) -> list[Any]:
        if quick or not isinstance(node.target, ast.Name):
            return [self._expressions.convert(node, quick)]
        if node.value is None:  # the parts declare the name nonlocal, which cannot be annotated
            return [located(ast.Pass(), node)]
        return [assigned(node.target.id, self._expressions.convert(node.value, False), node)]

    def _augmented(self, node: Any, quick: bool) -> list[Any]:
        new = self._expressions.convert(node, quick)
        where = node.target
        if not quick and not any(isinstance(part, ast.Call) for part in ast.walk(where)):
            current = replaced(where, ctx=ast.Load())
            text = located(ast.Constant(ast.unparse(where)), where)
            owner = self._expressions.convert(current, True)
            new = replaced(new, value=call("added", owner, new.value, text, self._expressions.is_global(where), at=node.value))
        early, uncertain = (getattr(node, mark, False) for mark in ("early", "uncertain"))
        if not uncertain and (quick or not early):
            return [new]
        name = located(ast.Name(where.id, ast.Load()), where)
        name.early, name.uncertain = early, uncertain
        return [assigned(where.id, self._expressions.convert(name, quick), node), new]

    def _expression(self, node: ast.Expr, quick: bool) -> list[Any]:
        value = node.value
        if not quick and _is_directive(value):
            return [located(ast.Pass(), node)]
        if not quick and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in CHANGING:
            return [replaced(node, value=self._changing(value, value.func))]
        return [self._expressions.convert(node, quick)]

    def _changing(self, node: ast.Call, method: ast.Attribute) -> Any:
        """A call that puts something into a container."""
        owner = self._expressions.convert(method.value, False)
        text, name = ast.Constant(ast.unparse(method.value)), ast.Constant(method.attr)
        checked = call("changing", owner, name, text, self._expressions.is_global(method.value), at=method)
        return replaced(self._expressions.parts(replaced(node, func=ast.Constant(None)), False), func=checked)

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
        inner = Converter(node, self._known, getattr(node, "uncertain_outside", set()), self._class, self._watches, self._scope.rebound)
        return replaced(inner.convert(), args=replaced(args, defaults=defaults, kw_defaults=kw_defaults))

    def _class_(self, node: ast.ClassDef, quick: bool) -> list[Any]:
        found = self._functions.get(id(node))
        if found is None:
            body = []
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and not is_left_alone(part):
                    part = Converter(part, self._known, set(), node.name, self._watches, self._scope.rebound).convert()
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
        return [load(STAGED), ast.Constant(self._row_of[id(node)])]

    def _if_row(self, node: ast.If) -> list[ast.expr]:
        return self._row(node, lambda: self._if_parts(node))

    def _if_parts(self, node: Any) -> list[ast.expr]:
        test, body, orelse = _without_not(node)
        names = bound([*body, *orelse]) | self._scope.rebound
        live = names & (node.live | self._scope.rebound)
        if getattr(node, "returns", False):
            live.add(RESULT)
        arms = [self._part(kind, arm, node) if arm else ast.Constant(None) for kind, arm in (("if", body), ("else", orelse))]
        return [*arms, self._live(node, names, live), self._listed(sorted(names - live)), self._operands(test, node)]

    def _truth_of(self, test: Any) -> Any:
        """A test of several operands with their truths only."""
        return self._expressions.truth_of(test) if isinstance(test, ast.BoolOp | ast.UnaryOp) else test

    def _operands(self, test: Any, node: Any) -> ast.expr:
        """The places of the operands of a test, each with a function that gives the test's value from the operand's, or None if they are the same."""
        rows: list[ast.expr] = []
        for operand, around in self._expressions.operands(test) if self._watches else []:
            place = ast.Constant((operand.lineno, operand.col_offset, operand.end_lineno, operand.end_col_offset))
            value = around(located(load(ITEM), operand))
            is_whole = isinstance(value, ast.Name)
            value = self._truth_of(value)
            rest = ast.Constant(None) if is_whole else self._part("rest", [located(ast.Return(value), operand)], node, [ITEM], is_test=True)
            rows.append(ast.Tuple([place, rest], ast.Load()))
        return ast.Tuple(rows, ast.Load())

    def _while_row(self, node: Any) -> list[ast.expr]:
        names = bound([*node.body, node.test]) | self._scope.rebound
        live = names & (node.live | node.carried | self._scope.rebound)
        test = self._part("test", [located(ast.Return(self._truth_of(node.test)), node.test)], node, is_test=True)
        return [self._part("while", node.body, node), test, *self._loop_row(node, names, live), self._operands(node.test, node)]

    def _for_row(self, node: Any) -> list[ast.expr]:
        names = bound([*node.body, node.target]) | self._scope.rebound
        live = names & (node.live | node.carried | self._scope.rebound)
        take = located(ast.Assign([node.target], load(ITEM)), node.target)
        return [self._part("for", [take, *node.body], node, [ITEM]), ast.Constant(None), *self._loop_row(node, names, live), ast.Constant(())]

    def _loop_row(self, node: Any, names: set[str], live: set[str]) -> list[ast.expr]:
        options: ast.expr = ast.Constant(None)
        for part in node.body:
            if isinstance(part, ast.Expr) and _is_directive(part.value):
                directive: Any = part.value
                by_name = {**dict(zip(LOOP_OPTIONS, directive.args, strict=False)), **{k.arg: k.value for k in directive.keywords}}
                given = ast.Dict([ast.Constant(name) for name in by_name], list(by_name.values()))
                options = self._part("options", [located(ast.Return(given), part)], node, is_test=True)
        return [self._live(node, names, live), self._listed(sorted(names - live)), self._listed(node.exits), options]

    def _live(self, node: Any, names: set[str], live: set[str]) -> ast.expr:
        """The variables that matter after a branch or loop: names, and attributes and items of what it does not bind."""
        return self._listed(sorted(live), [part.text for part in composites_set([node], self._class) if not part.names & names])

    def _listed(self, names: list[str], composites: Sequence[str] = ()) -> ast.expr:
        return ast.Tuple([ast.Constant(name) for name in (*(mangled(name, self._class) for name in names), *composites)], ast.Load())

    def _part(self, kind: str, statements: list[Any], node: Any, params: Sequence[str] = (), is_test: bool = False) -> ast.expr:
        """A part of a branch or loop as a function inside ``ag__staged``; its name."""
        if is_test:
            body = [replaced(s, value=self._expressions.convert(s.value, False)) for s in statements]
        else:
            body = self._block(statements, False) or [located(ast.Pass(), node)]
        names = bound(statements) | self._scope.rebound
        if any(isinstance(part, ast.Return) for s in statements for part in walk_scope(s)) and not is_test:
            names.add(RESULT)
            self._sets_result = True
        header: list[ast.stmt] = []
        if shared := names - self._scope.global_:
            header.append(located(ast.Nonlocal(sorted(shared)), node))
        if from_module := names & self._scope.global_:
            header.append(located(ast.Global(sorted(from_module)), node))
        name = f"{kind}_{node.lineno}"
        while name in self._names:
            name += "_"
        self._names.add(name)
        self._parts.append(function(f"{HIDDEN}{name}", list(params), [*header, *body], node))
        return load(f"{HIDDEN}{name}")


_HANDLERS: dict[type, Any] = {
    ast.If: Converter._if,
    ast.While: Converter._while,
    ast.For: Converter._for,
    ast.With: Converter._with,
    **dict.fromkeys(TRIES, Converter._try),
    ast.Match: Converter._match,
    ast.Assert: Converter._assert,
    ast.Raise: Converter._raise,
    ast.Return: Converter._return,
    ast.AugAssign: Converter._augmented,
    ast.AnnAssign: Converter._annotated,
    ast.Expr: Converter._expression,
    ast.Global: Converter._declaration,
    ast.Nonlocal: Converter._declaration,
    ast.FunctionDef: Converter._def,
    ast.AsyncFunctionDef: Converter._def,
    ast.ClassDef: Converter._class_,
}


def _without_not(node: ast.If) -> tuple[ast.expr, list[Any], list[Any]]:
    """The test, the body and the other arm of an ``if``, changed about where the test is a ``not``."""
    if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
        return node.test.operand, node.orelse, node.body
    return node.test, node.body, node.orelse


def _text(argument: Any) -> Any:
    """An argument of an exception, or the message of an assertion: an f-string as the text that its tensors give when it is wanted."""
    if not isinstance(argument, ast.JoinedStr):
        return argument
    pieces = []
    for piece in argument.values:
        if isinstance(piece, ast.FormattedValue):
            how = piece.format_spec or ast.Constant("")
            piece = ast.Tuple([piece.value, ast.Constant(piece.conversion), how], ast.Load())
        pieces.append(piece)
    return call("text", *[located(piece, argument) for piece in pieces], at=argument)


def _is_directive(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == DIRECTIVE
