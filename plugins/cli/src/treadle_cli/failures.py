"""Errors that are the user's to mend: one line for ours, his own traceback for his program's."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import typer


class CommandError(Exception):
    """What was asked for cannot be done; the message is all there is to say."""


class UserProgramError(Exception):
    """The user's program raised; its own exception is the cause."""


@contextmanager
def users_program() -> Iterator[None]:
    """What raises inside is the user's program."""
    from treadle.errors import ConfigError

    try:
        yield
    except (ConfigError, KeyboardInterrupt):
        raise
    except BaseException as error:  # also SystemExit: the file ends the interpreter while it is imported
        raise UserProgramError from error


@contextmanager
def contained() -> Iterator[None]:
    """Print errors that the user can mend and leave with an exit code: 2 for what was asked for or configured, 1 for his program's."""
    try:
        yield
    except CommandError as error:
        print(f"treadle: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    except UserProgramError as error:
        told = error.__cause__
        assert told is not None
        users = _users_part(told.__traceback__)
        if users is None and not isinstance(told, SyntaxError):  # not a line of his: the message says it all
            print(f"treadle: {type(told).__name__}: {told}", file=sys.stderr)
        else:
            traceback.print_exception(type(told), told, users)
        raise typer.Exit(1) from None
    except ValueError as error:
        from treadle.errors import ConfigError

        if not isinstance(error, ConfigError):
            raise
        print(f"treadle: {error}", file=sys.stderr)
        raise typer.Exit(2) from None


def _users_part(trace: TracebackType | None) -> TracebackType | None:
    """A traceback from the user's first line on; None where there is none."""
    first = trace
    while first is not None:
        name, file = first.tb_frame.f_globals.get("__name__", ""), first.tb_frame.f_code.co_filename
        if not name.startswith(("treadle", "importlib", "contextlib")) and "importlib" not in file:
            return first
        first = first.tb_next
    return None
