#!/usr/bin/env python
"""Record the public names of installed CuPys, their parameters and the loops of their ufuncs: what the stand-in is allowed to have.

    python record_cupy_api.py dump > a.json           # with each CuPy that is to be supported; no card is needed
    python record_cupy_api.py merge a.json b.json > fake_cupy/cupy/api.json

What is in ``api.json`` is what every version has, so that code which runs on the stand-in runs on all of them.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import sys

MODULES = ("cupy", "cupy.linalg", "cupy.fft", "cupy.lib.stride_tricks", "cupy.cuda", "cupyx", "cupyx.scipy.special")
CLASSES = ("Device", "Event", "MemoryPool", "Stream")


def dump():
    import cupy

    found = {"versions": [cupy.__version__], "modules": {}, "parameters": {}, "ufuncs": {}, "classes": {}}
    for module_name in MODULES:
        try:
            module = importlib.import_module(module_name)
        except ImportError:  # an attribute of its parent
            module = cupy.lib.stride_tricks
        names = found["modules"][module_name] = [n for n in dir(module) if not n.startswith("_") and n != "annotations"]
        for name in names:
            path, thing = f"{module_name}.{name}", getattr(module, name)
            if isinstance(thing, cupy.ufunc):
                found["ufuncs"][path] = {
                    "name": thing.name,
                    "nin": thing.nin,
                    "nout": thing.nout,
                    "at": thing._scatter_op,
                    "types": list(thing.types),
                }
            elif callable(thing) and not isinstance(thing, type):
                with contextlib.suppress(TypeError, ValueError):
                    found["parameters"][path] = list(inspect.signature(thing).parameters)
    found["classes"] = {name: [n for n in dir(getattr(cupy.cuda, name)) if not n.startswith("_")] for name in CLASSES}
    found["classes"]["ndarray"] = [n for n in dir(cupy.ndarray) if not n.startswith("_") or (n.startswith("__") and n.endswith("__"))]
    return found


def common(a, b):
    """What both have; lists in the order of the first."""
    if isinstance(a, dict):
        return {key: common(a[key], b[key]) for key in a if key in b}
    return [item for item in a if item in b] if isinstance(a, list) else a


def merge(paths):
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            records.append(json.load(file))
    result = records[0]
    for record in records[1:]:
        versions = result["versions"] + record["versions"]
        result = {**common(result, record), "versions": versions}
    return result


if __name__ == "__main__":
    json.dump(dump() if sys.argv[1] == "dump" else merge(sys.argv[2:]), sys.stdout, indent=0, separators=(",", ":"))
    print()
