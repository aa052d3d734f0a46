"""The plugin ``core``: TensorFlow's ops under their names."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl

MODULES = (
    "elementwise",
    "trigonometry",
    "comparison",
    "bitwise",
    "logic",
    "extremes",
    "zero_safe",
    "powers",
    "division",
    "complex_numbers",
    "signs",
    "rounding",
    "sigmoids",
    "clipping",
    "saturation",
    "sums",
    "permutations",
    "special",
    "bessel",
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
    "coordinates",
    "scattering",
    "partitioning",
    "one_hot",
    "grids",
    "indexed_slices",
    "embeddings",
    "products",
    "convolution",
    "transposed_convolution",
    "raw_convolution",
    "depthwise",
    "atrous",
    "pooling",
    "pooling_functions",
    "morphology",
    "activations",
    "softmax",
    "cross_entropy",
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
    "run_time_axes",
    "cumulative",
    "axis_extremes",
    "statistics",
    "arg_reductions",
    "sorting",
    "uniqueness",
    "segments",
    "counting",
    "printing",
    "assertions",
    "shape_assertions",
    "python_calls",
    "einsum",
    "diagonals",
    "debugging",
)


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the ops, their host kernels, and the roles that the kernel leaves to plugins."""
    registry.add_ops(*(f"treadle_ops.{module}" for module in MODULES))
    registry.add_kernels(for_="array", module="treadle_ops.host_kernels")
    from treadle_ops.roles import ROLES

    for role, function in ROLES.items():
        registry.fill(role, function)
