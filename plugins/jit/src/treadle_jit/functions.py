"""The compiled functions: each made at its first use, by one thread; LLVM is imported for the first of them.

If LLVM cannot be used, the plugin is given up as one that fails to load is: the array kernels do the work from then on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from treadle.registry import registry

_lock = threading.RLock()
_made: dict[Any, Callable[..., None]] = {}
_usable: bool | None = None


def function(name: str, *arguments: Any) -> Callable[..., None]:
    """What a function of ``taps`` gives for these arguments."""
    key = (name, *arguments)
    found = _made.get(key)
    if found is None:
        with _lock:
            found = _made.get(key)
            if found is None:
                from treadle_jit import taps

                found = _made[key] = getattr(taps, name)(*arguments)
    return found


def is_usable() -> bool:
    """Whether LLVM is there and can compile for this processor.

    Raises:
        PluginError: it cannot, and failures of plugins are to be exceptions (``[plugins] strict``).
    """
    return _tried() if _usable is None else _usable


def _tried() -> bool:
    global _usable
    failure = None
    with _lock:
        if _usable is None:
            try:
                from treadle_jit import machine

                machine.check()
            except Exception as error:
                failure = error
            _usable = failure is None
    if failure is not None:
        registry.give_up("cpu.jit", failure)
    return bool(_usable)


if hasattr(os, "register_at_fork"):  # a child must not begin while another thread compiles: the lock of LLVM would stay taken in it
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
