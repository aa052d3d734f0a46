"""The op contract: name, inputs, attributes, inference, effect and gradient; no implementation.

An op is declared by a function over ``Spec``: its positional parameters are the inputs, its keyword-only parameters the attributes, its
body the inference. The annotation of an input says what it is: ``Spec`` (a tensor; all of these share the hint for Python numbers),
``IndexSpec`` (integers), ``BoolSpec``, ``FreeSpec`` (a tensor with a dtype of its own), ``HostSpec`` (its value shapes the result: the kernel
receives nested tuples of Python numbers), and ``Sequence[...]`` of one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from treadle.contracts.spec import Spec
from treadle.errors import PluginError


class IndexSpec(Spec):
    """Annotates an input of integers; Python numbers become int32 there."""


class BoolSpec(Spec):
    """Annotates an input of bools."""


class FreeSpec(Spec):
    """Annotates an input with a dtype of its own."""


class HostSpec(Spec):
    """Annotates an input whose value shapes the result; the kernel gets it as nested tuples of Python numbers."""


EFFECTS = ("pure", "reads", "writes", "random", "io")


class Input(NamedTuple):
    """One declared input."""

    name: str
    kind: str
    """``tensor``, ``index``, ``bool``, ``free`` or ``host``."""
    sequence: bool


_KINDS = {"Spec": "tensor", "IndexSpec": "index", "BoolSpec": "bool", "HostSpec": "host", "FreeSpec": "free"}


class Op:
    """A contract that kernels implement and gradients differentiate.

    Attributes:
        name: unique over all plugins; third parties write ``namespace.snake_case``.
        inputs: the declared inputs in order.
        defaults: attribute name to default; ``REQUIRED`` where there is none.
        effect: one of ``EFFECTS``.
        can_fail: a legal-looking call can raise at run time, so it must not run where it would not have run.
        aliases: the result may share the memory of the first input.
        elementwise: output element i depends on elements i only (after broadcasting).
        spec_only: only the shapes and dtypes of the inputs are looked at.
        is_plain: every input is one tensor.
        table: dispatch keys to the kernel that dispatch resolved for them.
        reads: what the gradient reads, as autodiff found out.
        kept: what tapes keep of a call, per shapes.
        reads_content: False if the gradient is known to read shapes and dtypes only, of inputs and outputs, whatever the attributes are.
        gradient: ``(ctx, *cotangents) -> gradient per input``; None if there is none.
        batching: the declared ``BatchingRule``; None if there is none.
    """

    __slots__ = (
        "__weakref__",
        "aliases",
        "batching",
        "can_fail",
        "commutative",
        "defaults",
        "doc",
        "dtype_attrs",
        "effect",
        "elementwise",
        "entry",
        "gradient",
        "has_host",
        "infer",
        "inputs",
        "is_plain",
        "kept",
        "name",
        "outputs",
        "plugin",
        "pure",
        "reads",
        "reads_content",
        "result",
        "spec_only",
        "structural",
        "table",
        "variadic",
    )

    def __init__(
        self,
        name: str,
        infer: Callable[..., Any],
        *,
        effect: str = "pure",
        can_fail: bool = False,
        aliases: bool = False,
        elementwise: bool = False,
        commutative: bool = False,
        spec_only: bool = False,
        structural: bool = False,
    ) -> None:
        if effect not in EFFECTS:
            raise PluginError(f"op {name!r}: effect {effect!r} is not known; effects: {', '.join(EFFECTS)}")
        code: CodeType = infer.__code__
        hints = infer.__annotations__
        names = code.co_varnames
        self.name = name
        self.infer = infer
        self.doc = infer.__doc__ or ""
        self.effect = effect
        self.pure = effect == "pure"
        self.can_fail = can_fail
        self.aliases = aliases
        self.elementwise = elementwise
        self.commutative = commutative
        self.spec_only = spec_only
        self.structural = structural
        self.gradient: Callable[..., Any] | None = None
        self.batching: Any = None
        self.plugin = "?"
        self.entry: Callable[..., Any] | None = None
        self.reads: dict[Any, Any] = {}
        self.kept: dict[Any, Any] = {}
        self.reads_content = True
        self.table: dict[Any, Any] = {}
        inputs = []
        for argument in names[: code.co_argcount]:
            hint = _text(hints.get(argument, "Spec"))
            sequence = hint.startswith("Sequence[")
            kind = _KINDS.get(hint[9:-1] if sequence else hint)
            if kind is None:
                raise PluginError(f"op {name!r}: input {argument!r} is annotated {hint}; expected one of {', '.join(_KINDS)} or Sequence[...] of one")
            inputs.append(Input(argument, kind, sequence))
        self.inputs = tuple(inputs)
        self.variadic = any(i.sequence for i in inputs)
        self.has_host = any(i.kind == "host" for i in inputs)
        self.is_plain = not self.variadic and not self.has_host
        keyword_only = names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        defaults = infer.__kwdefaults__ or {}
        self.defaults = {attr: defaults.get(attr, REQUIRED) for attr in keyword_only}
        self.dtype_attrs = tuple(attr for attr in keyword_only if _text(hints.get(attr)).startswith("DType"))
        self.outputs, self.result = _outputs(hints.get("return", "Spec"), infer)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


def _text(hint: Any) -> str:
    """An annotation as it was written, whether it was kept as text or not."""
    if isinstance(hint, str):
        return hint
    if hint is None:
        return "None"
    origin = getattr(hint, "__origin__", None)
    if origin is not None:
        return f"{origin.__name__}[{', '.join(_text(a) for a in hint.__args__)}]"
    return getattr(hint, "__name__", str(hint))


def _outputs(hint: Any, infer: Callable[..., Any]) -> tuple[str, type | None]:
    """How results come: ``one``, ``tuple``, ``list`` or ``none``; and the NamedTuple class they are put in."""
    text = _text(hint)
    if text == "Spec":
        return "one", None
    if text.startswith("list["):
        return "list", None
    if text == "None":
        return "none", None
    named = infer.__globals__.get(text, hint)
    return "tuple", named if isinstance(named, type) and hasattr(named, "_fields") else None


def attributes(op: Op, given: dict[str, Any]) -> dict[str, Any]:
    """Every attribute of ``op`` with its value, defaults filled in, in declared order.

    Raises:
        TypeError: an attribute is missing or unknown.
    """
    attrs = {}
    for name, default in op.defaults.items():
        value = given.get(name, default)
        if value is REQUIRED:
            raise TypeError(f"op {op.name!r} needs the attribute {name!r}")
        attrs[name] = value
    if len(given) > len(attrs) or any(name not in attrs for name in given):
        unknown = [name for name in given if name not in attrs]
        raise TypeError(f"op {op.name!r} has no attribute {unknown[0]!r}; attributes: {', '.join(attrs) or 'none'}")
    return attrs
