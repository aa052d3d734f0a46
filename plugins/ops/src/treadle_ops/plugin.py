"""The plugin ``core``: TensorFlow's ops under their names.

Which module declares what stands in ``index.py``, so that registering imports none of them. After adding an op, a public name or a
module: ``make indexes``.
"""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl
from treadle_ops.index import KERNELS, OPS
from treadle_ops.roles import ROLES


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the ops, the kernels that are the same for every device, and the roles that the kernel leaves to plugins."""
    registry.add_op_index(OPS)
    registry.add_kernel_index(for_="array", index=KERNELS)
    for role, place in ROLES.items():
        registry.fill(role, place)
