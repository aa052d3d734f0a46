"""Python's cyclic garbage collector, held off while many objects are made that all stay.

Its full passes over a large heap cost more than tracing and optimising themselves, and find nothing there.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """No cyclic collection inside the ``with``, unless somebody switches it on."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
