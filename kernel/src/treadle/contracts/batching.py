"""Batching rules: how an op is applied to many elements at once.

A rule is kept in the op's contract, or under the op's name until that op is loaded. What runs graphs by these rules is no part of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from treadle.contracts.op import Op
from treadle.errors import PluginError


class BatchingRule(NamedTuple):
    """A rule; see ``treadle.declare.batching``.

    Attributes:
        run: ``(entry point, operand per input, attributes by keyword) -> results``.
        shared: the results are the same for every element, as sizes and ranks are, and come without the batch axis.
    """

    run: Callable[..., Any]
    shared: bool = False


_by_name: dict[str, BatchingRule] = {}


def declare_rule(op: Op | str, rule: BatchingRule) -> None:
    """Give an op, or the op of a name, its rule.

    Raises:
        PluginError: it has one.
    """
    name = op if isinstance(op, str) else op.name
    if name in _by_name or (isinstance(op, Op) and op.batching is not None):
        raise PluginError(f"op {name!r} already has a batching rule")
    if isinstance(op, Op):
        op.batching = rule
    else:
        _by_name[name] = rule


def rule_of(op: Op) -> BatchingRule | None:
    """The rule that was declared for an op, or None."""
    rule: BatchingRule | None = op.batching
    if rule is None:
        rule = op.batching = _by_name.get(op.name)
    return rule
