"""What authors of ops and kernels test theirs with (the namespace ``td.testing``); it needs the kernel alone.

``check_op`` runs an op on a sample and proves that contract, kernels and gradient agree. Nothing here is imported before it is asked for.
"""

from __future__ import annotations

from treadle.testing.check import check_gradient, check_op, inspect_op
from treadle.testing.jacobians import compute_gradient
from treadle.testing.report import OpCheckError, Problem, Report
from treadle.testing.samples import Checks, Sample, elementwise_samples, sample

__all__ = [
    "Checks",
    "OpCheckError",
    "Problem",
    "Report",
    "Sample",
    "check_gradient",
    "check_op",
    "compute_gradient",
    "elementwise_samples",
    "inspect_op",
    "sample",
]
