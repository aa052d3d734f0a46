"""How a plugin's module declares ops, gradients, batching rules, public names and kernels.

The decorators only note what they see; a plugin's ``treadle_register`` hands the module to the registry. A module may be imported any
number of times before that, or registered again after a roll-back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from treadle.contracts.batching import BatchingRule, declare_rule
from treadle.contracts.declared import declarations
from treadle.contracts.kernels import kernel, same_names
from treadle.contracts.op import BoolSpec, FreeSpec, HostSpec, IndexSpec, Op
from treadle.contracts.spec import Spec
from treadle.eager.entry import make_entry
from treadle.errors import PluginError

__all__ = ["BoolSpec", "FreeSpec", "HostSpec", "IndexSpec", "Op", "Spec", "batching", "gradient", "kernel", "offer", "op", "public", "same_names"]


def op(name: str, *, public: str | Sequence[str] = (), **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare an op; the decorated inference function becomes the op's callable entry point.

    Args:
        name: the op's name.
        public: public names (``"math.sin"``) under which the entry point itself is offered.
        **options: see ``Op``: effect, can_fail, aliases, elementwise, commutative, spec_only.
    """

    def declare(infer: Callable[..., Any]) -> Any:
        declared_here = declarations(infer.__module__)
        contract = Op(name, infer, **options)
        entry = make_entry(contract, infer)
        declared_here.ops.append(contract)
        for path in (public,) if isinstance(public, str) else public:
            declared_here.public[path] = entry
        return entry

    return declare


def public(*paths: str) -> Callable[[Any], Any]:
    """Offer a function or class under public names such as ``"math.log"`` (``treadle.math.log``)."""

    def declare(thing: Any) -> Any:
        declarations(thing.__module__).public.update(dict.fromkeys(paths, thing))
        return thing

    return declare


def offer(module: str, **things: Any) -> None:
    """Offer values that are not functions of the module, such as constants and aliases of the kernel's own names."""
    declarations(module).public.update(things)


def gradient(*entries: Any, reads_content: bool = True) -> Callable[[FunctionType], FunctionType]:
    """Declare the gradient of ops, given by their entry points or contracts.

    The function gets ``ctx`` and one cotangent per output, and gives back one gradient per input (None where there is none), a bare one
    for a single input. It is written with ops, so it serves eager, traced and higher-order use. ``ctx.inputs``, ``ctx.outputs`` and
    ``ctx.attrs`` are what the op saw; what is not read is not kept.

    Args:
        *entries: entry points or contracts.
        reads_content: False promises that only shapes and dtypes are read. That is found out otherwise, once for each set of attributes, which
            is too often for an op whose attributes differ at every call.
    """

    def declare(function: FunctionType) -> FunctionType:
        for entry in entries:
            contract = entry if isinstance(entry, Op) else entry.op
            if contract.gradient is not None:
                raise PluginError(f"op {contract.name!r} already has a gradient")
            contract.gradient = function
            contract.reads_content = reads_content
        return function

    return declare


def batching(*ops: Any, shared: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare how ops are applied to many elements at once, which ``vectorized_map`` asks for. An elementwise op needs no rule.

    The function gets the op's entry point, one operand per input (a list for a sequence) and the attributes by keyword. It gives the results as
    the entry point does, each with the batch axis in front, or ``NotImplemented`` where it cannot. Of an operand, ``is_batched`` says whether the
    elements differ in it; ``batched()`` is the tensor with the batch axis in front, ``shared()`` the one that all elements have, ``rank`` the rank
    of one element and ``count`` how many there are.

    Args:
        *ops: entry points, contracts or names.
        shared: the results are the same for every element and come without the batch axis, as sizes do.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in ops:
            declare_rule(each if isinstance(each, Op | str) else each.op, BatchingRule(function, shared))
        return function

    return declare
