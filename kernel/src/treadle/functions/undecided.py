"""Why Python asked a symbolic tensor for its truth: what converts functions says so in a note to the error."""

from __future__ import annotations

from types import TracebackType

from treadle import plugins
from treadle.errors import SymbolicTensorError
from treadle.state import own_packages


def explain_undecided(error: BaseException) -> None:
    """Say in a note why the condition was Python's to decide, if it was one; to be called while the error's traceback is whole."""
    if not isinstance(error, SymbolicTensorError) or error.undecided is None:
        return
    error.undecided = None  # once is enough, however many traced functions it passes
    entry = _place_of_condition(error.__traceback__)
    if entry is None:
        return
    code, module = entry.tb_frame.f_code, entry.tb_frame.f_globals
    plugins.host.load_ops("autograph")
    for answer in plugins.host.call("treadle_explain_condition", code=code, module=module):
        if answer is not None:
            error.add_note(answer)


def _place_of_condition(entry: TracebackType | None) -> TracebackType | None:
    """The innermost entry of a function of the user's; those of comprehensions belong to the function around them."""
    found = None
    while entry is not None:
        frame = entry.tb_frame
        name = frame.f_code.co_name
        if frame.f_globals.get("__name__", "").partition(".")[0] not in own_packages and (not name.startswith("<") or name == "<lambda>"):
            found = entry
        entry = entry.tb_next
    return found
