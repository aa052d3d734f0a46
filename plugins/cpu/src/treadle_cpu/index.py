"""Which module declares what, so that each is imported when something of it is first asked for.

Written by ``make indexes``; a test keeps it fresh.
"""

from __future__ import annotations


KERNELS: dict[str, tuple[str, ...]] = {
    "treadle_cpu.kernels.cross_entropy": (
        "softmax_cross_entropy",
        "sparse_softmax_cross_entropy",
    ),
    "treadle_cpu.kernels.extremes": (
        "clip_by_value",
        "maximum",
        "minimum",
    ),
    "treadle_cpu.kernels.factorizations": (
        "lu",
    ),
    "treadle_cpu.kernels.linear_systems": (
        "triangular_solve",
    ),
    "treadle_cpu.kernels.losses": (
        "l2_loss",
    ),
    "treadle_cpu.kernels.matrix_functions": (
        "expm",
        "logm",
        "sqrtm",
    ),
    "treadle_cpu.kernels.moments": (
        "moments",
        "reduce_variance",
    ),
    "treadle_cpu.kernels.randomness": (
        "generator_key",
        "generator_skip",
        "stateless_binomial",
        "stateless_categorical",
        "stateless_gamma",
        "stateless_normal",
        "stateless_parameterized_truncated_normal",
        "stateless_poisson",
        "stateless_shuffle",
        "stateless_truncated_normal",
        "stateless_uniform",
        "stateless_uniform_bits",
        "stateless_uniform_integers",
    ),
    "treadle_cpu.kernels.row_sums": (
        "gather_grad",
        "scatter_nd",
        "unsorted_segment_sum",
    ),
    "treadle_cpu.kernels.softmax": (
        "log_softmax",
        "log_softmax_grad",
        "softmax",
        "softmax_grad",
    ),
    "treadle_cpu.kernels.special": (
        "bessel_i0",
        "bessel_i0e",
        "bessel_i1",
        "bessel_i1e",
        "bessel_j0",
        "bessel_j1",
        "bessel_k0",
        "bessel_k0e",
        "bessel_k1",
        "bessel_k1e",
        "bessel_y0",
        "bessel_y1",
        "betainc",
        "dawsn",
        "digamma",
        "erf",
        "erfc",
        "erfinv",
        "expint",
        "fresnel_cos",
        "fresnel_sin",
        "igamma",
        "igamma_derivative",
        "igammac",
        "lgamma",
        "ndtri",
        "polygamma",
        "spence",
        "zeta",
    ),
    "treadle_cpu.kernels.transposing": (
        "transpose",
    ),
    "treadle_cpu.kernels.tridiagonal": (
        "eigh_tridiagonal",
        "eigvalsh_tridiagonal",
        "tridiagonal_solve",
    ),
}
"""Module to the names of the ops that it has kernels for."""
