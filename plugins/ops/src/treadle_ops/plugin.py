"""The plugin ``core``: TensorFlow's ops under their names."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl

MODULES = (
    "elementwise",
    "broadcasting",
    "shaping",
    "creation",
    "reductions",
    "flow",
    "joining",
    "casting",
    "slicing",
    "masking",
    "indexing",
    "gathering",
    "scattering",
    "partitioning",
    "one_hot",
    "grids",
    "indexed_slices",
    "embeddings",
    "products",
    "activations",
    "losses",
    "randomness",
    "random_arguments",
    "stateless_random",
    "stateful_random",
    "random_generator",
    "random_initializers",
    "sizes",
    "tiling",
    "reordering",
    "padding",
    "ranges",
    "space_batch",
    "initializers",
    "printing",
)


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the ops, their host kernels, and the roles that the kernel leaves to plugins."""
    registry.add_ops(*(f"treadle_ops.{module}" for module in MODULES))
    registry.add_kernels(for_="array", module="treadle_ops.host_kernels")
    from treadle_ops.roles import ROLES

    for role, function in ROLES.items():
        registry.fill(role, function)
