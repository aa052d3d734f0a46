"""The callable of an op: one Python function per op, its code generated at the first call.

The fast path is what every eager call pays: the dispatch keys of the inputs, one dict lookup, the kernel, the result wrapped. Whatever is
unusual, a number among the arguments, a first call, a tape, a trace, an error, goes to ``dispatch.execute``, which does all of it and explains
what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from treadle.contracts.op import REQUIRED, Op
from treadle.conversion import host_value
from treadle.eager.dispatch import arrange, execute, remembered
from treadle.state import LOCAL, STATE
from treadle.tensor import Tensor

_STUB = compile("def entry(*args, **kwargs):\n    BUILD(OP, ENTRY)\n    return ENTRY(*args, **kwargs)\n", "<treadle entry>", "exec").co_consts[0]


def make_entry(op: Op, infer: Callable[..., Any]) -> FunctionType:
    """The entry point of an op; its code is generated when it is first called."""
    namespace: dict[str, Any] = {
        "__builtins__": __builtins__,
        "__name__": __name__,  # its frame is none of the user's
        "OP": op,
        "BUILD": _build,
    }
    entry = FunctionType(_STUB, namespace, op.name)
    namespace["ENTRY"] = entry
    entry.__doc__ = infer.__doc__
    entry.__module__ = infer.__module__
    entry.__qualname__ = op.name
    entry.op = op  # type: ignore[attr-defined]  # functions take attributes
    op.entry = entry
    return entry


def complete(entry: Any) -> Any:
    """An entry point with its own code and signature, whether it was called already or not; anything else as it is."""
    if getattr(entry, "__code__", None) is _STUB:
        _build(entry.op, entry)
    return entry


def _build(op: Op, entry: FunctionType) -> None:
    """Give an entry point its own code."""
    namespace = entry.__globals__
    namespace.update(
        STATE=STATE,
        LOCAL=LOCAL,
        TABLE=op.table,
        TENSOR=Tensor,
        NEW=object.__new__,
        HOST=host_value,
        EXECUTE=execute,
        SCALAR=remembered,
        MANY=_wrap_many,
        ARRANGE=arrange,
        DEFAULT=_default_device,
        NONE={},
    )
    scope: dict[str, Any] = {}
    exec(compile(source(op), f"<entry point of {op.name}>", "exec"), namespace, scope)
    generated = scope["entry"]
    entry.__defaults__ = generated.__defaults__
    keywords = {attr: default for attr, default in op.defaults.items() if default is not REQUIRED}
    entry.__kwdefaults__ = {**keywords, **(generated.__kwdefaults__ or {})} or None
    entry.__code__ = generated.__code__


def source(op: Op) -> str:
    """The text of an op's entry point."""
    names = [i.name for i in op.inputs]
    attrs = list(op.defaults)
    tail = (["*", *attrs] if attrs else []) + ([] if "name" in names or "name" in attrs else ["name=None"])
    if not attrs and "name=None" in tail:
        signature = ", ".join([*names, "name=None"])
    else:
        signature = ", ".join([*names, *tail])
    everything = "(" + "".join(f"{n}, " for n in names) + ")"
    given = "{" + ", ".join(f"{a!r}: {a}" for a in attrs) + "}" if attrs else "NONE"
    tensors = [i for i in op.inputs if i.kind != "host"]
    keys = [f"tuple([t._key for t in {i.name}])" if i.sequence else f"{i.name}._key" for i in tensors]
    if not keys or all(i.sequence for i in tensors):
        keys += ["DEFAULT()"] if not keys else []
    keys += op.dtype_attrs
    key = ", ".join(keys) if len(keys) > 1 else keys[0]
    call = []
    for i in op.inputs:
        if i.kind == "host":
            call.append(f"{i.name} if type({i.name}) is tuple else HOST({i.name})")
        else:
            call.append(f"[t._buffer for t in {i.name}]" if i.sequence else f"{i.name}._buffer")
    call += [f"{a}={a}" for a in attrs]
    run = f"__kernel({', '.join(call)})" if op.effect == "io" else f"LOCAL.run({', '.join(['__kernel', *call])})"
    lines = [
        f"def entry({signature}):",
        "    if STATE.busy:",
        "        if LOCAL.graph is not None or LOCAL.device is not None:",
        f"            return EXECUTE(OP, {everything}, {given})",
        "        __tapes = LOCAL.tapes",
        "    else:",
        "        __tapes = None",
        "    try:",
        f"        __kernel, __key, __array = TABLE[{key}]",
        f"        __buffer = {run}",
        "    except Exception:",
        "        pass",
        "    else:",
    ]
    if op.effect in ("io", "writes"):
        lines[1:] = [f"    return EXECUTE(OP, {everything}, {given})"]
        return "\n".join(lines) + "\n"
    if op.outputs != "one":
        lines += [
            "        __tensors = MANY(OP, __buffer, __key, __array)",
            "        if __tapes:",
            "            for __tape in __tapes:",
            f"                __tape.record_op(OP, {everything}, {given}, __tensors)",
            "        return ARRANGE(OP, __tensors)",
        ]
    else:
        lines += [
            "        if type(__buffer) is not __array:",
            "            __buffer = __key.device.normalize(__buffer)",
            "        __tensor = NEW(TENSOR)",
            "        __tensor._buffer = __buffer",
            "        __tensor._key = __key",
            "        __tensor._id = 0",
            "        if __tapes:",
            "            for __tape in __tapes:",
            f"                __tape.record_op(OP, {everything}, {given}, (__tensor,))",
            "        return __tensor",
        ]
    if len(op.inputs) == 2 and all(i.kind == "tensor" for i in op.inputs) and not op.variadic and not attrs:
        a, b = names
        for number, tensor, call_again in ((b, a, f"ENTRY({a}, __known)"), (a, b, f"ENTRY(__known, {b})")):
            lines += [
                f"    if type({number}) is int or type({number}) is float:",
                f"        if isinstance({tensor}, TENSOR):",
                f"            __known = SCALAR({number}, {tensor})",
                "            if __known is not None:",
                f"                return {call_again}",
            ]
    lines.append(f"    return EXECUTE(OP, {everything}, {given})")
    return "\n".join(lines) + "\n"


def _default_device() -> Any:
    from treadle.devices import default

    return default()


def _wrap_many(op: Op, buffers: Any, keys: Any, array: type) -> list[Tensor]:
    if op.outputs == "list":
        keys = [keys] * len(buffers)
    return [Tensor(b if type(b) is array else k.device.normalize(b), k) for b, k in zip(buffers, keys, strict=True)]
