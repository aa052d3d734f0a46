"""Write the indexes of our own plugins: which module declares which ops, public names and kernels (``make indexes``).

With them, a plugin registers all it has without importing it, and a module is imported when something of it is first asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

from treadle.registry import declarations_index, kernels_index

_HEAD = '''"""Which module declares what, so that each is imported when something of it is first asked for.

Written by ``make indexes``; a test keeps it fresh.
"""

from __future__ import annotations

'''
PACKAGES = ("treadle_ops", "treadle_array", "treadle_cpu", "treadle_jit")


def modules_of(package: str) -> list[str]:
    """Every module below a package, without the plugin's own entry and its index."""
    root = importlib.import_module(package)
    found = [info.name for info in pkgutil.walk_packages(root.__path__, f"{package}.")]
    return [name for name in found if name.rpartition(".")[2] not in ("plugin", "index", "device")]


def text(package: str) -> str:
    """The source of a package's index."""
    modules = modules_of(package)
    parts = [_HEAD]
    ops = declarations_index(modules)
    if ops:
        parts.append(
            _mapping("OPS", "dict[str, tuple[tuple[str, ...], tuple[str, ...]]]", ops, "Module to the names of its ops and its public names.")
        )
    kernels = kernels_index(modules)
    if kernels:
        parts.append(_mapping("KERNELS", "dict[str, tuple[str, ...]]", kernels, "Module to the names of the ops that it has kernels for."))
    return "\n".join(parts)


def _mapping(name: str, kind: str, content: dict[str, Any], summary: str) -> str:
    lines = [f"{name}: {kind} = {{"]
    for module, value in content.items():
        lines.append(f'    "{module}": (')
        lines += [f"        {_strings(item)}," if isinstance(item, tuple) else f'        "{item}",' for item in value]
        lines.append("    ),")
    return "\n".join([*lines, "}", f'"""{summary}"""', ""])


def _strings(items: tuple[str, ...]) -> str:
    inner = ", ".join(f'"{i}"' for i in items)
    return f"({inner}{',' if len(items) == 1 else ''})"


def path(package: str) -> Path:
    """Where a package's index stands."""
    return Path(importlib.import_module(package).__path__[0]) / "index.py"


def main() -> None:
    """Write all of them."""
    for package in PACKAGES:
        path(package).write_text(text(package))
        print(f"wrote {path(package)}")


if __name__ == "__main__":
    main()
