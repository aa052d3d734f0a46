"""Arguments as they are written on the command line: ``float32[None,784]``, a Python value, or either of them by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

from treadle import dtypes
from treadle.errors import DTypeError
from treadle.tensorspec import TensorSpec
from treadle_cli.failures import CommandError

_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.+)", re.DOTALL)
_TENSOR = re.compile(r"([A-Za-z_]\w*)\s*(?:\[(.*)\])?", re.DOTALL)
_UNKNOWN_RANK = ("?", "...")
_HOW = 'write a tensor like "float32[None,784]", a scalar like "int32", a Python value like 3 or True'


def parse_all(texts: Iterable[str]) -> tuple[list[Any], dict[str, Any]]:
    """The positional arguments and those by name.

    Raises:
        CommandError: one of them cannot be read.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        match = _KEYWORD.fullmatch(text.strip())
        if match is None:
            args.append(parse(text))
        elif match.group(1) in kwargs:
            raise CommandError(f"--spec {text!r}: the argument {match.group(1)!r} is given twice")
        else:
            kwargs[match.group(1)] = parse(match.group(2))
    return args, kwargs


def parse(text: str) -> Any:
    """A TensorSpec or a Python value.

    Raises:
        CommandError: it is neither.
    """
    text = text.strip()
    match = _TENSOR.fullmatch(text)
    if match is None or text in ("None", "True", "False"):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise CommandError(f"--spec {text!r} cannot be read; {_HOW}") from None
    try:
        dtype = dtypes.as_dtype(match.group(1))
    except DTypeError:
        raise CommandError(f"--spec {text!r}: there is no dtype {match.group(1)!r}; dtypes: {', '.join(d.name for d in dtypes.ALL)}") from None
    return TensorSpec(_dims(match.group(2), text), dtype)


def _dims(text: str | None, whole: str) -> list[int | None] | None:
    if text is None or not text.strip():
        return []
    if text.strip() in _UNKNOWN_RANK:
        return None
    dims: list[int | None] = []
    for part in text.rstrip().removesuffix(",").split(","):
        word = part.strip()
        if word in ("None", "?"):
            dims.append(None)
        elif word.isdecimal():
            dims.append(int(word))
        else:
            raise CommandError(f"--spec {whole!r}: {word!r} is not a size; write a number, or None for a size that may vary")
    return dims
