"""``treadle ops``: every op with its public names, signature, kernels and gradient, and the public functions that are made of ops."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable
from enum import EnumType
from typing import Any, NamedTuple

from rich.console import Console
from rich.padding import Padding

from treadle import devices
from treadle.contracts.op import REQUIRED, Op
from treadle.errors import PluginError
from treadle.plugins import PluginWarning, host
from treadle.registry import KERNEL, open_devices, registry
from treadle_cli.console import console, plain, plural, table
from treadle_cli.devices import load_devices


class Line(NamedTuple):
    """An op, or a public function that is no op; ``kernels`` and ``gradient`` are empty for the latter."""

    name: str
    public: tuple[str, ...]
    signature: str
    kernels: str
    gradient: str
    plugin: str


def load_ops() -> list[str]:
    """Load every op plugin, and open a device of each type, which brings the kernels in; what could not be opened, and why."""
    problems = []
    load_devices()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        for record in host.records("treadle.ops"):
            try:
                host.load(record.group, record.name)
            except PluginError:
                continue
        for device_type in sorted(registry.devices):
            if devices.probe(device_type).count:
                try:
                    devices.find(f"/{device_type}:0")
                except Exception as error:  # a plugin's code
                    problems.append(f"/{device_type}:0 cannot be opened, so its kernels are not shown: {type(error).__name__}: {error}")
    return problems


def find_all() -> tuple[list[Line], list[Line]]:
    """All ops, and all public functions that are not one op under a public name."""
    names: dict[int, list[str]] = {}
    things: dict[int, Any] = {}
    for path, entry in registry.names.items():
        names.setdefault(id(entry.value), []).append(path)
        things[id(entry.value)] = entry
    wraps: dict[str, list[str]] = {}
    composites = []
    for identity, paths in names.items():
        thing, plugin = things[identity]
        shown = tuple(sorted(paths, key=lambda path: (path.count("."), path)))
        own = op_of(thing, shown)
        if own is not None:
            wraps.setdefault(own, []).extend(shown)
        elif callable(thing):
            composites.append(Line(shown[0], shown, signature_of(thing), "", "", plugin))
    ops = []
    for name, (op, plugin) in registry.ops.items():
        gradient = "no" if op.gradient is None else "yes"
        ops.append(Line(name, tuple(wraps.get(name, ())), op_signature(op), kernels_of(name), gradient, plugin))
    return sorted(ops), sorted(composites)


def op_of(thing: Any, paths: tuple[str, ...]) -> str | None:
    """The op that a public function is: its own entry point, or the op of the same name that it calls."""
    own = getattr(thing, "op", None)
    if isinstance(own, Op):
        return own.name
    code = getattr(thing, "__code__", None)
    if code is None:
        return None
    called = {getattr(thing.__globals__.get(name), "op", None) for name in code.co_names}
    last = {path.rpartition(".")[2] for path in paths}
    return next((op.name for op in called if isinstance(op, Op) and op.name in last), None)


def op_signature(op: Op) -> str:
    """The inputs and attributes of an op, as its entry point takes them."""
    inputs = [f"{i.name}: list" if i.sequence else i.name for i in op.inputs]
    attributes = [name if default is REQUIRED else f"{name}={default!r}" for name, default in op.defaults.items()]
    return f"({', '.join([*inputs, *(['*'] if attributes else []), *attributes])})"


def signature_of(function: Callable[..., Any]) -> str:
    """The signature of a public function, without annotations."""
    if isinstance(function, EnumType):
        return "(value)"  # what making a new kind of enumeration takes is Python's, and differs by version
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return re.sub(r"<function (\w+) at 0x\w+>", r"\1", str(signature.replace(parameters=bare, return_annotation=signature.empty)))


def kernels_of(op: str) -> str:
    """The open device types that have a kernel, with its dtypes where it does not take all."""
    rows = registry.kernel_rows(op)
    told: dict[str, str] = {}
    for device in open_devices.values():
        entry = rows.get(device.type) or (rows.get("array") if device.array_module is not None else None)
        if entry is not None:
            dtypes = entry.value.dtypes
            told[device.type] = device.type if dtypes is None else f"{device.type} ({' '.join(sorted(dtypes))})"
    return ", ".join(told[key] for key in sorted(told))


def is_wanted(line: Line, text: str, namespace: str) -> bool:
    """Whether a line is asked for: ``text`` in one of its names, a name directly or deeper under ``namespace``."""
    every = {line.name, *line.public}
    if namespace and not any(name.startswith(f"{namespace}.") for name in every):
        return False
    return not text or any(text.lower() in name.lower() for name in every)


def show(text: str = "", namespace: str = "") -> int:
    """Print the ops that are asked for; the exit code is 1 if there are none."""
    problems = [*load_ops(), *filter(None, [host.failures("treadle.ops")])]
    every_op, every_composite = find_all()
    wanted = namespace.removeprefix("td.").removeprefix("treadle.").strip(".")
    ops = [line for line in every_op if is_wanted(line, text, wanted)]
    composites = [line for line in every_composite if is_wanted(line, text, wanted)]
    out = console()
    for problem in problems:
        out.print(plain(problem, "red"), soft_wrap=True)
    if not ops and not composites:
        asked = " and ".join(filter(None, (text and f"a name with {text!r} in it", wanted and f"a name under {wanted!r}")))
        spaces = sorted({path.rpartition(".")[0] for path in registry.names if "." in path})
        out.print(plain(f"Nothing has {asked}." if asked else "There are no ops."))
        out.print(plain(f"Namespaces: {', '.join(spaces) or 'none; `pip install treadle-ops` brings the ops'}"))
        return 1
    if ops:
        print_ops(out, ops)
    if composites:
        rows = table("public function made of ops~", "plugin")
        for line in composites:
            others = plain(f", also {', '.join(line.public[1:])}") if line.public[1:] else plain("")
            rows.add_row(plain(line.name, "bold") + plain(line.signature, "dim") + others, plain(line.plugin))
        out.print(rows)
    counts = f"{plural(len(ops), 'op')}, {plural(len(composites), 'public function')} made of ops"
    out.print(plain(f"{counts}; {plural(len(registry.names), 'public name')} in all"))
    return 0


def print_ops(out: Console, ops: list[Line]) -> None:
    """A table where the longest names fit into one, otherwise two lines or more an op."""
    texts = [(f"{line.name}{line.signature}", ", ".join(line.public), line.kernels, line.gradient, line.plugin) for line in ops]
    headers = ("op", "public", "kernels", "gradient", "plugin")
    widths = [_longest([header, *column]) for header, column in zip(headers, zip(*texts, strict=True), strict=True)]
    cells = [
        (
            plain(line.name, "bold") + plain(line.signature, "dim"),
            plain(", ".join(line.public)),
            plain("built in", "dim") if line.plugin == KERNEL else plain(line.kernels) if line.kernels else plain("no kernel", "red"),
            plain(line.gradient, "" if line.gradient == "yes" else "dim"),
            plain(line.plugin),
        )
        for line in ops
    ]
    if sum(widths) + 14 <= out.width:
        rows = table("op~", "public names~", "kernels~", "gradient", "plugin")
        for column, width in zip(rows.columns, widths, strict=True):
            column.min_width = width
        for row in cells:
            rows.add_row(*row)
        out.print(rows)
        return
    for line, (head, public, kernels, _, plugin) in zip(ops, cells, strict=True):
        gradient = plain("gradient" if line.gradient == "yes" else "no gradient", "" if line.gradient == "yes" else "dim")
        out.print(head)
        out.print(Padding(plain(" · ").join([*([public] if line.public else []), kernels, gradient, plugin]), (0, 0, 0, 4)))
    out.print()


def _longest(texts: Iterable[str]) -> int:
    """The length of the longest word: a column narrower than this would break it."""
    return max((len(word) for text in texts for word in text.split()), default=0)
