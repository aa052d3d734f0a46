"""The run-time compiler, which is loaded when it is first needed."""

from __future__ import annotations

import os


def getVersion() -> tuple[int, int]:
    """Its version."""
    if os.environ.get("FAKE_CUPY_NVRTC") == "missing":
        raise RuntimeError("CuPy failed to load libnvrtc.so.12: OSError: libnvrtc.so.12: cannot open shared object file: No such file or directory")
    return (12, 9)
