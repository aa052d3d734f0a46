"""``check_op`` and ``check_gradient``: everything that is checked of an op, or of any function of tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from treadle import nest
from treadle.conversion import convert_to_tensor
from treadle.dtypes import from_numpy
from treadle.testing.contract import check_contract, check_dtypes, check_edges, check_shapes
from treadle.testing.gradients import Differentiation, check_differentiation, of_case
from treadle.testing.report import Report
from treadle.testing.samples import Case, Checks, Sample, case_of, in_complex, in_double, main_dtype, op_of
from treadle.testing.ways import eager


def check_op(op: Any, *inputs: Any, checks: Checks | None = None, **attrs: Any) -> Report:
    """Prove on example inputs that contract, kernel and gradient of an op agree.

    Checked are: inference against reality, for shapes known, sizes unknown and ranks unknown; results that are C-contiguous, of the inferred dtype,
    in memory of their own (unless the op says ``aliases=True``); inputs that stay as they are; the same bits eagerly, traced, folded, for inputs
    that lie otherwise in memory and with ``out=``; every dtype, special value, other shape and host value: taken as inference says, or refused
    by both; gradients against central differences in float64, and the same eagerly, traced and from outside a traced function, to second order.

    Args:
        op: the op's name, its entry point or its contract.
        *inputs: what the op takes: arrays or tensors, lists of these, host values.
        checks: what to check and what to leave out.
        **attrs: attributes of the op.

    Returns:
        What was checked.

    Raises:
        OpCheckError: an ``AssertionError`` that names op, case, and both values of each problem.
    """
    return inspect_op(op, Sample(inputs, attrs, checks or Checks())).raise_if_bad()


def inspect_op(op: Any, *samples: Sample) -> Report:
    """The same for several samples, without raising.

    Args:
        op: the op's name, its entry point or its contract.
        *samples: made by ``sample`` or ``elementwise_samples``.

    Returns:
        What was checked, and what was found.
    """
    contract = op_of(op)
    report = Report(contract.name)
    for given in samples:
        checks = given.checks
        case = case_of(contract, given)
        found = check_contract(report, case, checks)
        if found.error is not None:
            continue
        check_dtypes(report, case, checks)
        if checks.edges:
            check_edges(report, case, checks)
        if checks.shapes:
            check_shapes(report, case, checks)
        if checks.order and contract.gradient is not None:
            _check_gradient(report, case, checks)
    return report


def _check_gradient(report: Report, case: Case, checks: Checks) -> None:
    """In double precision, and with complex values where the op takes them and other dtypes are tried."""
    double = in_double(case)
    cases = [double if eager(double).error is None else case]
    if checks.complex_order and "complex128" in checks.dtypes and getattr(main_dtype(case), "kind", "") == "f":
        twisted = in_complex(double)
        if eager(twisted).error is None:
            cases.append(twisted)
    for each in cases:
        is_complex = getattr(main_dtype(each), "kind", "") == "c"
        problem = of_case(each, checks)
        if problem is not None:
            check_differentiation(report, each, problem, replace(checks, order=min(checks.order, checks.complex_order)) if is_complex else checks)


def check_gradient(function: Callable[..., Any], *inputs: Any, checks: Checks | None = None) -> Report:
    """Check the gradient of any function of tensors, as ``check_op`` checks that of an op.

    Args:
        function: takes tensors and gives tensors, in any structure.
        *inputs: arrays or tensors; what is floating or complex is differentiated by. Give float64.
        checks: ``order``, ``rtol``, ``agree``, ``gradient_unknown`` and ``constant`` matter; inputs are called ``input 0``, ``input 1``, ...

    Returns:
        What was checked.

    Raises:
        OpCheckError: a gradient is wrong, or differs between eager and traced code.
    """
    name = getattr(function, "__name__", "function")
    report = Report(name)
    arrays = [np.array(np.asarray(convert_to_tensor(x))) for x in inputs]
    flows = [from_numpy[a.dtype].is_differentiable for a in arrays]

    def build(others: list[Any]) -> Callable[[list[Any]], list[Any]]:
        def run(tensors: list[Any]) -> list[Any]:
            own, rest = iter(tensors), iter(others)
            results = nest.flatten(function(*(next(own) if f else next(rest) for f in flows)))
            return [r for r in map(convert_to_tensor, results) if r.dtype.is_differentiable]

        return run

    sources = [a for a, f in zip(arrays, flows, strict=True) if f]
    names = [f"input {i}" for i, f in enumerate(flows) if f]
    others = [a for a, f in zip(arrays, flows, strict=True) if not f]
    what = f"{name}({', '.join(f'{a.dtype}{list(a.shape)}' for a in arrays)})"
    check_differentiation(report, what, Differentiation(build, sources, names, list(others), [False] * len(others)), checks or Checks())
    return report.raise_if_bad()
