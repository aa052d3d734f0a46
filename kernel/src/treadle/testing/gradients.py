"""Gradients against central differences, and against each other in every way to run, to any order.

A gradient is checked through one number: for random cotangents c and directions d, ``sum(Re(conj(c) * df/dd))`` must equal
``sum(Re(conj(gradient) * d))``, which is TensorFlow's convention for complex values too. The next order is the same question about the
function that gives the gradient, with the cotangents as further inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.autodiff.tape import GradientTape
from treadle.conversion import convert_to_tensor
from treadle.dtypes import from_numpy
from treadle.testing.report import Report
from treadle.testing.samples import STATIC, Case, Checks, listed
from treadle.testing.ways import Array, Outcome, Trace, call_entry, named, same_bits, tensor_of

Function = Callable[[list[Any]], list[Any]]
"""Of the tensors to differentiate by; gives the results that are differentiated."""

STEPS = (1e-4, 2e-3, 1e-6)
"""Tried in this order; the first at which the difference agrees decides, since a kink may be nearer than a step."""


class Differentiation:
    """A function with the inputs that are differentiated by, and what else it gets.

    Args:
        build: the function, given the other inputs (tensors, lists of tensors, host values).
        arrays: the inputs to differentiate by.
        names: of these.
        others: the other inputs.
        is_host: per other input, whether it is a host value.
    """

    def __init__(self, build: Callable[[list[Any]], Function], arrays: list[Array], names: list[str], others: list[Any], is_host: list[bool]) -> None:
        self.build = build
        self.arrays = arrays
        self.names = names
        self.others = others
        self.is_host = is_host

    def eager(self) -> Function:
        """The function as it runs at once."""
        return self.build(
            [
                o if host else [tensor_of(a) for a in o] if isinstance(o, list) else tensor_of(o)
                for o, host in zip(self.others, self.is_host, strict=True)
            ]
        )

    def traced(self, unknown: str, hosts_known: bool = False) -> Trace:
        """The function recorded once."""
        count = len(self.arrays)

        def function(given: list[Any]) -> list[Any]:
            return self.build(given[count:])(given[:count])

        return Trace(function, [*self.arrays, *self.others], [False] * count + self.is_host, unknown, hosts_known)

    def traced_call(self) -> Function:
        """The recorded function, as one that can be differentiated from outside."""
        recorded = self.traced(STATIC)
        rest = [tensor_of(a) for a in recorded.arrays[len(self.arrays) :]]
        return lambda tensors: recorded.atomic.call([*tensors, *rest])


def of_case(case: Case, checks: Checks) -> Differentiation | None:
    """The call of a case as a function of its differentiable inputs; None if nothing can be differentiated."""
    plan: list[Any] = []
    arrays: list[Array] = []
    names: list[str] = []
    others: list[Any] = []
    is_host: list[bool] = []
    for declared, given in zip(case.op.inputs, case.inputs, strict=True):
        if declared.kind != "host" and given is not None and all(from_numpy[a.dtype].is_differentiable for a in listed(given)) and listed(given):
            plan.append(len(listed(given)) if declared.sequence else -1)
            arrays += listed(given)
            names += [f"{declared.name}[{i}]" for i in range(len(given))] if declared.sequence else [declared.name]
        else:
            plan.append(None)
            others.append(given)
            is_host.append(declared.kind == "host")
    if not arrays:
        return None

    def build(rest: list[Any]) -> Function:
        def function(tensors: list[Any]) -> list[Any]:
            own, besides = iter(tensors), iter(rest)
            inputs = [next(besides) if n is None else next(own) if n < 0 else [next(own) for _ in range(n)] for n in plan]
            results = [r for r in call_entry(case, inputs) if r.dtype.is_differentiable]
            return results if checks.through is None else checks.through(results)

        return function

    return Differentiation(build, arrays, names, others, is_host)


def pulled(function: Function, count: int) -> Callable[[list[Any]], list[Any]]:
    """The gradient: of the ``count`` inputs, given these and a cotangent per result; None where there is none."""

    def run(tensors: list[Any]) -> list[Any]:
        sources = list(tensors[:count])
        with GradientTape() as tape:
            tape.watch(sources)
            results = function(sources)
        return [None if g is None else convert_to_tensor(g) for g in tape.gradient(results, sources, output_gradients=list(tensors[count:]))]

    return run


def check_differentiation(report: Report, case: Any, subject: Differentiation, checks: Checks) -> None:
    """Check the gradient of a function, and the gradients of that, up to ``checks.order``."""
    rng = np.random.default_rng(3)
    base: Function | None = None
    for order in range(1, checks.order + 1):
        try:
            following = _check_order(report, case, subject, checks, order, base or subject.traced_call(), rng)
        except Exception as error:  # a gradient's
            report.expect(False, f"gradient of order {order} can be taken", case, error, "gradients")
            return
        if following is None:
            return
        subject, base = following


def _check_order(
    report: Report, case: Any, subject: Differentiation, checks: Checks, order: int, base: Function, rng: np.random.Generator
) -> tuple[Differentiation, Function] | None:
    """Check the gradient of a function; that gradient as a function, eagerly and by tapes outside ``base``; None where it ends."""
    results = [np.asarray(r) for r in subject.eager()(_tensors(subject.arrays))]
    if not results:
        return None
    cotangents = [_draw(rng, a) for a in results]
    count = len(subject.arrays)
    everything = [*subject.arrays, *cotangents]
    found = pulled(subject.eager(), count)(_tensors(everything))
    is_there = [g is not None for g in found]
    want = [np.asarray(g) for g in found if g is not None]
    _check_form(report, case, order, subject, found)
    if order == 1 and count > 1:
        _check_alone(report, case, subject, cotangents, found)
    _check_differences(report, case, order, subject, cotangents, found, checks, rng)
    following = _following(subject, cotangents, is_there)
    _check_ways(report, case, order, following, want, checks)
    outside = _present(pulled(base, count), is_there)
    _compare(report, case, f"gradient of order {order} from outside td.function", lambda: outside(_tensors(everything)), want, checks)
    if order > 1:
        mixed = _present(pulled(subject.traced_call(), count), is_there)
        _compare(report, case, f"gradient of order {order} of a traced gradient", lambda: mixed(_tensors(everything)), want, checks)
    return (following, outside) if any(is_there) else None


def _tensors(arrays: list[Array]) -> list[Any]:
    return [tensor_of(a) for a in arrays]


def _draw(rng: np.random.Generator, like: Array) -> Array:
    drawn: Array = np.asarray(rng.standard_normal(like.shape), like.real.dtype)
    if like.dtype.kind == "c":
        drawn = np.asarray(drawn + 1j * rng.standard_normal(like.shape), like.dtype)
    return drawn


def _present(function: Callable[[list[Any]], list[Any]], is_there: list[bool]) -> Function:
    """The function without the results that are None."""
    return lambda tensors: [g for g, there in zip(function(tensors), is_there, strict=True) if there]


def _following(subject: Differentiation, cotangents: list[Array], is_there: list[bool]) -> Differentiation:
    """The gradient of a function as a function of its inputs and cotangents."""
    count = len(subject.arrays)
    names = [*subject.names, *(f"cotangent {i}" if len(cotangents) > 1 else "the cotangent" for i in range(len(cotangents)))]

    def build(others: list[Any]) -> Function:
        return _present(pulled(subject.build(others), count), is_there)

    return Differentiation(build, [*subject.arrays, *cotangents], names, subject.others, subject.is_host)


def _check_form(report: Report, case: Any, order: int, subject: Differentiation, found: list[Any]) -> None:
    for name, source, gradient in zip(subject.names, subject.arrays, found, strict=True):
        if gradient is not None:
            array = np.asarray(gradient)
            agrees = array.shape == source.shape and array.dtype == source.dtype
            report.expect(agrees, f"gradient of order {order} for {name} has its shape and dtype", case, array, source)


def _check_alone(report: Report, case: Any, subject: Differentiation, cotangents: list[Array], found: list[Any]) -> None:
    """The gradient for one input does not depend on whether others are differentiated by."""
    for i, name in enumerate(subject.names):

        def run(i: int = i) -> list[Any]:
            tensors = _tensors(subject.arrays)
            with GradientTape() as tape:
                tape.watch(tensors[i])
                results = subject.eager()(tensors)
            gradient = tape.gradient(results, tensors[i], output_gradients=_tensors(cotangents))
            return [] if gradient is None else [convert_to_tensor(gradient)]

        got = Outcome(run)
        want = [] if found[i] is None else [np.asarray(found[i])]
        agrees = got.error is None and len(got.arrays) == len(want) and all(same_bits(a, b) for a, b in zip(got.arrays, want, strict=True))
        report.expect(agrees, f"gradient for {name} alone is that among others", case, got, want)


def _check_ways(report: Report, case: Any, order: int, following: Differentiation, want: list[Array], checks: Checks) -> None:
    for unknown in (STATIC, *checks.gradient_unknown):

        def run(unknown: str = unknown) -> list[Any]:
            return following.traced(unknown, checks.hosts_known).run()

        _compare(report, case, f"gradient of order {order}, {named(unknown)}", run, want, checks)


def _compare(report: Report, case: Any, check: str, run: Callable[[], list[Any]], want: list[Array], checks: Checks) -> None:
    got = Outcome(run)
    agrees = got.error is None and len(got.arrays) == len(want)
    agrees = agrees and all(_close(a, b, checks.agree) for a, b in zip(got.arrays, want, strict=True))
    report.expect(agrees, check, case, got, want)


def _close(a: Array, b: Array, tolerance: float) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if same_bits(a, b):
        return True
    tolerance = max(tolerance, 4.0 * float(np.finfo(b.dtype).eps) if b.dtype.kind in "fc" else 1e-2)
    a, b = (x if x.dtype.kind in "fc" else x.astype(np.float64) for x in (a, b))
    scale = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


# ---------------------------------------------------------------------- central differences


def _check_differences(
    report: Report,
    case: Any,
    order: int,
    subject: Differentiation,
    cotangents: list[Array],
    found: list[Any],
    checks: Checks,
    rng: np.random.Generator,
) -> None:
    function = subject.eager()
    names = [name.partition("[")[0] for name in subject.names]
    directions = [_draw(rng, a) for a in subject.arrays]
    for i, name in enumerate(names):
        if name in checks.symmetric:
            directions[i] = directions[i] + np.conj(np.swapaxes(directions[i], -1, -2))
    there = [i for i, g in enumerate(found) if g is not None and names[i] not in checks.constant]
    missing = [i for i, g in enumerate(found) if g is None and names[i] not in checks.constant]
    if there and not _agrees(function, subject.arrays, directions, there, found, cotangents, checks.rtol)[0]:
        for i in there:
            agrees, numeric, analytic = _agrees(function, subject.arrays, directions, [i], found, cotangents, checks.rtol)
            report.expect(
                agrees,
                f"gradient of order {order} for {subject.names[i]} is the derivative",
                case,
                f"{analytic!r} along a direction",
                f"{numeric!r} by differences",
            )
        return
    report.done[f"gradient of order {order} is the derivative"] += 1
    for i in missing if order == 1 or there else ():
        agrees, numeric, _ = _agrees(function, subject.arrays, directions, [i], found, cotangents, checks.rtol)
        report.expect(
            agrees, f"gradient of order {order} for {subject.names[i]} is there", case, "None", f"{numeric!r} by differences along a direction"
        )


def _agrees(
    function: Function, arrays: list[Array], directions: list[Array], along: list[int], found: list[Any], cotangents: list[Array], rtol: float
) -> tuple[bool, float, float]:
    """Whether the derivative along the directions of some inputs is what the gradients say; both numbers."""
    terms = [(np.conj(np.asarray(found[i])) * directions[i]).real for i in along if found[i] is not None]
    analytic = float(sum(np.sum(t, dtype=np.float64) for t in terms))
    size = float(sum(np.sum(np.abs(t), dtype=np.float64) for t in terms))
    numeric = nearest = np.nan
    for step in STEPS:
        numeric, spread = _difference(function, arrays, directions, along, cotangents, step)
        allowed = rtol * (abs(numeric) + size + spread) + 1e-9
        if np.isfinite(numeric) and abs(numeric - analytic) <= allowed:
            return True, numeric, analytic
        if np.isnan(nearest) or abs(numeric - analytic) < abs(nearest - analytic):
            nearest = numeric
    return bool(not np.isfinite(nearest) and not np.isfinite(analytic)), nearest, analytic


def _difference(
    function: Function, arrays: list[Array], directions: list[Array], along: list[int], cotangents: list[Array], step: float
) -> tuple[float, float]:
    """The derivative by a central difference of fourth order, and how large the terms are that cancel in it."""

    def at(times: float) -> list[Array]:
        moved = [np.asarray(a + times * step * directions[i], a.dtype) if i in along else a for i, a in enumerate(arrays)]
        return [np.asarray(r) for r in function(_tensors(moved))]

    ends = [at(times) for times in (-2, -1, 1, 2)]
    total = spread = 0.0
    with np.errstate(all="ignore"):
        for c, a, b, d, e in zip(cotangents, *ends, strict=True):
            if a.shape == c.shape:
                slope = (8 * (d - b) - (e - a)) / (12 * step)
                terms = (np.conj(c) * slope).real
                total += float(np.sum(terms, dtype=np.float64))
                spread += float(np.sum(np.abs(terms), dtype=np.float64))
    return total, spread
