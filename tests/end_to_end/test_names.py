"""The names of TensorFlow that are in scope: how many are offered, by namespace, and that functions have TensorFlow's arguments.

``tests/tf_api.tsv`` lists the names with kind, signature and priority. Run with ``-s`` to see the table.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import treadle as td
from treadle.eager.entry import complete

TABLE = Path(__file__).parents[1] / "tf_api.tsv"


class Name(NamedTuple):
    path: str
    kind: str
    signature: str
    priority: int


NAMES = [Name(path, kind, text, int(rank)) for path, kind, text, rank in (r.split("\t") for r in TABLE.read_text().splitlines() if r[:1] != "#")]

FLOOR = {
    "": 210,
    "autodiff": 2,
    "autograph": 4,
    "autograph.experimental": 2,
    "bitwise": 6,
    "config": 12,
    "config.experimental": 6,
    "config.optimizer": 4,
    "config.threading": 4,
    "debugging": 31,
    "dtypes": 22,
    "errors": 18,
    "experimental": 14,
    "image": 48,
    "linalg": 47,
    "math": 118,
    "nest": 5,
    "nn": 66,
    "random": 23,
    "saved_model": 0,
    "signal": 29,
    "test": 1,
    "train": 0,
    "types.experimental": 9,
}
"""How many names of a namespace are offered at least: what was offered stays offered. Raise a number when names come."""

OTHER_ARGUMENTS = {
    "nest.map_structure": "its keywords are named, and refused by Python when they are not known",
}
"""Functions whose arguments are not TensorFlow's, and why."""


def found(path: str) -> Any:
    """What a public name is; None if it is not offered."""
    thing: Any = td
    for part in path.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            return None
    return complete(thing)


def namespace(path: str) -> str:
    return path.rpartition(".")[0]


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that stand outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == separator and not depth:
                parts.append("")
                continue
        parts[-1] += letter
    return [part.strip() for part in parts]


def parameters(signature: str) -> list[tuple[str, str | None]]:
    """Names and defaults in the text of a signature, in order; ``*`` and ``**`` stay with the names."""
    depth, end = 0, 0
    for end, letter in enumerate(signature):  # noqa: B007  used after the loop
        depth += (letter == "(") - (letter == ")")
        if not depth:
            break
    inside = signature[1:end]
    listed = []
    for part in split(inside) if inside.strip() else []:
        left, *default = split(part, "=")
        listed.append((split(left, ":")[0], default[0] if default else None))
    return listed


def same_default(theirs: str | None, parameter: inspect.Parameter) -> bool:
    """Whether a default in TensorFlow's signature is ours."""
    if theirs is None or parameter.default is parameter.empty:
        return theirs is None and parameter.default is parameter.empty
    if theirs.startswith("tf."):
        return repr(parameter.default) == theirs
    if theirs == "...":  # an object that the table does not show
        return True
    try:
        wanted = ast.literal_eval(theirs)
    except (ValueError, SyntaxError):
        return True  # an object's repr
    if isinstance(wanted, list | tuple) and isinstance(parameter.default, list | tuple):
        return list(wanted) == list(parameter.default)
    return type(wanted) is type(parameter.default) and wanted == parameter.default


def differences(path: str, signature: str) -> str:
    """How the arguments of an offered function differ from TensorFlow's; empty if they do not."""
    ours = inspect.signature(found(path)).parameters
    shown = [f"{'*' if p.kind is p.VAR_POSITIONAL else '**' if p.kind is p.VAR_KEYWORD else ''}{p.name}" for p in ours.values()]
    theirs = [(name, default) for name, default in parameters(signature) if name not in ("*", "/")]
    if shown != [name for name, _ in theirs]:
        return f"({', '.join(shown)}) instead of {signature}"
    wrong = [f"{n}={ours[n.strip('*')].default!r} instead of {d}" for n, d in theirs if "*" not in n and not same_default(d, ours[n])]
    return ", ".join(wrong)


def test_every_name_that_was_offered_is_offered():
    offered: dict[str, list[str]] = defaultdict(list)
    missing: dict[str, list[str]] = defaultdict(list)
    for name in NAMES:
        there = name.kind == "NoneType" or found(name.path) is not None
        (offered if there else missing)[namespace(name.path)].append(name.path)
    spaces = sorted({namespace(name.path) for name in NAMES})
    lines = [f"{'namespace':24}{'offered':>9}{'in scope':>10}  missing"]
    for space in spaces:
        total = len(offered[space]) + len(missing[space])
        lost = " ".join(path.rpartition(".")[2] for path in missing[space])
        lines.append(f"{space or '(top)':24}{len(offered[space]):9}{total:10}  {lost}")
    lines.append(f"{'all':24}{sum(map(len, offered.values())):9}{len(NAMES):10}")
    print("\n" + "\n".join(lines))
    assert set(FLOOR) == set(spaces)
    short = {
        space: f"{len(offered[space])} of at least {FLOOR[space]}; missing: {missing[space]}"
        for space in spaces
        if len(offered[space]) < FLOOR[space]
    }
    assert not short


@pytest.mark.parametrize("name", [n for n in NAMES if n.kind == "function"], ids=lambda n: n.path)
def test_an_offered_function_has_tensorflows_arguments(name):
    if found(name.path) is None:
        pytest.skip("not offered")
    if isinstance(found(name.path), types.UnionType):
        pytest.skip("a type, though TensorFlow's can be called")
    wrong = differences(name.path, name.signature)
    if name.path in OTHER_ARGUMENTS:
        assert wrong, f"{name.path} has TensorFlow's arguments now; take it from the list"
    else:
        assert not wrong


def test_the_exceptions_are_names_in_scope():
    assert set(OTHER_ARGUMENTS) <= {name.path for name in NAMES}
