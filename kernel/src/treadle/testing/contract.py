"""Contract against kernel: what inference says, what memory the kernel may touch and share, and that every way to run gives the same bits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from treadle import devices
from treadle.contracts.spec import Spec
from treadle.conversion import host_spec
from treadle.dims import Dim
from treadle.dtypes import from_numpy
from treadle.eager.dispatch import bind, find_kernel_row, infer, quietly
from treadle.eager.promises import unchecked
from treadle.errors import KernelNotFoundError, OpError, PluginError
from treadle.testing.report import Report
from treadle.testing.samples import STATIC, Case, Checks, in_dtype, listed, main_dtype, with_edges, with_other_shapes
from treadle.testing.ways import (
    Array,
    Outcome,
    buffers_of,
    call_entry,
    eager,
    flat_buffers,
    folded,
    named,
    same_bits,
    same_outcome,
    spec_for,
    tensor_of,
    tensors_of,
    trace,
)


def check_contract(report: Report, case: Case, checks: Checks) -> Outcome:
    """Everything but gradients, for one case; what it gives."""
    want = check_memory(report, case, checks)
    if not report.expect(want.error is None, "the op takes its sample", case, want, "results"):
        return want
    check_inference(report, case, checks, want.arrays)
    check_ways(report, case, checks, want)
    if checks.same_bits and case.op.effect == "pure":
        check_layouts(report, case, want)
        check_out(report, case, want)
    return want


# ---------------------------------------------------------------------- inference


def specs_for(case: Case, unknown: str, hosts_known: bool = True, only: int | None = None) -> tuple[list[Any], dict[Dim, int]]:
    """Specs of the inputs, and the sizes that their symbols stand for.

    Args:
        case: the call.
        unknown: what is not known of the inputs.
        hosts_known: whether host values are.
        only: the one input that ``unknown`` is about; everything is known of the others.
    """
    sizes: dict[Dim, int] = {}
    specs: list[Any] = []
    for i, (declared, given) in enumerate(zip(case.op.inputs, case.inputs, strict=True)):
        how = unknown if only in (None, i) else STATIC
        if declared.kind == "host":
            known = host_spec(given)
            specs.append(known if hosts_known else Spec(known.dims if how == STATIC else None, known.dtype))
            continue
        found = [spec_for(a, how) for a in listed(given)]
        for spec, array in zip(found, listed(given), strict=True):
            sizes.update((d, n) for d, n in zip(spec.dims or (), array.shape, strict=bool(spec.dims)) if isinstance(d, Dim))
        specs.append(found if declared.sequence else found[0])
    return specs, sizes


def check_inference(report: Report, case: Case, checks: Checks, arrays: list[Array]) -> None:
    """What inference says against what there is, for inputs of which everything, no size, or no rank is known."""
    for what, arguments in _knowledge(case, checks):
        specs, sizes = arguments
        check = f"inference agrees with the result, inputs {what}"
        try:
            inferred = infer(case.op, specs, case.attrs)
        except Exception as error:  # a contract's
            report.expect(False, check, case, error, arrays)
            continue
        compare_specs(report, check, case, inferred, sizes, arrays)
        if what == "known" and checks.sizes_follow:
            static = all(spec.is_static for spec in inferred)
            report.expect(static, "static inputs give static sizes (or the sample says sizes_follow=False)", case, inferred, arrays)


def _knowledge(case: Case, checks: Checks) -> Any:
    yield "known", specs_for(case, STATIC)
    has_host = any(d.kind == "host" for d in case.op.inputs)
    for unknown in checks.unknown:
        yield f"of unknown {unknown}", specs_for(case, unknown)
        if has_host and not checks.hosts_known:
            yield f"of unknown {unknown} and host values", specs_for(case, unknown, hosts_known=False)
        for i in range(len(case.op.inputs)) if len(case.op.inputs) > 1 else ():
            yield f"of unknown {unknown} for {case.op.inputs[i].name} alone", specs_for(case, unknown, only=i)


def compare_specs(report: Report, check: str, case: Case, specs: list[Spec], sizes: dict[Dim, int], arrays: list[Array]) -> None:
    """Inferred specs against results."""
    if not report.expect(len(specs) == len(arrays), check, case, f"{len(specs)} results", f"{len(arrays)} results"):
        return
    for spec, array in zip(specs, arrays, strict=True):
        agrees = spec.dtype is from_numpy.get(array.dtype)
        if agrees and spec.dims is not None:
            agrees = len(spec.dims) == array.ndim and all(_evaluated(d, sizes, n) == n for d, n in zip(spec.dims, array.shape, strict=True))
        if agrees and spec.value is not None:
            agrees = _value_agrees(spec.value, sizes, array.tolist())
        report.expect(agrees, check, case, spec, array)


def _evaluated(dim: Any, sizes: dict[Dim, int], unknown: int) -> int:
    """A size as a number; ``unknown`` if it has symbols of its own."""
    if isinstance(dim, Dim):
        return dim.evaluate(sizes) if dim.symbols() <= sizes.keys() else unknown
    return int(dim)


def _value_agrees(value: Any, sizes: dict[Dim, int], actual: Any) -> bool:
    if isinstance(value, tuple):
        return isinstance(actual, list) and len(actual) == len(value) and all(_value_agrees(v, sizes, a) for v, a in zip(value, actual, strict=True))
    return not isinstance(actual, list) and bool(_evaluated(value, sizes, actual) == actual if isinstance(value, Dim | int) else value == actual)


# ---------------------------------------------------------------------- memory


def check_memory(report: Report, case: Case, checks: Checks) -> Outcome:
    """Run twice: the inputs are not written, results are buffers as promised that share no memory they must not share."""
    tensors = tensors_of(case)
    buffers = flat_buffers(case, tensors)
    first = Outcome(lambda: call_entry(case, tensors))
    if isinstance(first.error, PluginError):  # what follows tells more
        report.expect(False, "the runtime accepts what the kernel gives", case, first, "results")
        with unchecked():
            first = Outcome(lambda: call_entry(case, tensors))
    for array, buffer in zip(case.arrays(), buffers, strict=True):
        left = np.asarray(devices.default().copy_out(buffer))
        report.expect(same_bits(left, array), "a kernel does not write into its inputs", case, left, array)
    if first.error is not None:
        is_ours = isinstance(first.error, OpError) or case.op.effect == "io"
        report.expect(is_ours, "a refusal is one of td.errors", case, first.error, "an OpError")
        return first
    again = Outcome(lambda: call_entry(case, tensors))
    if checks.same_bits and case.op.effect == "pure":
        report.expect(same_outcome(first, again), "a second call gives the same bits", case, again, first)
    results = [t._buffer for t in first.tensors]
    for i, buffer in enumerate(results):
        device = first.tensors[i]._key.device
        report.expect(type(buffer) is device.array_type, "a result is a buffer of its device", case, type(buffer), device.array_type)
        flags = getattr(buffer, "flags", None)
        if flags is not None:
            report.expect(bool(flags.c_contiguous), "a result is C-contiguous", case, f"strides {buffer.strides} of shape {buffer.shape}", "C order")
        dtype = first.tensors[i].dtype.numpy
        report.expect(getattr(buffer, "dtype", dtype) == dtype, "a result has the dtype that inference says", case, buffer.dtype, dtype)
        allowed = len(listed(case.inputs[0])) if case.op.aliases and case.op.inputs and case.op.inputs[0].kind != "host" else 0
        for k, given in enumerate(buffers):
            if k >= allowed:
                shares = _share(buffer, given)
                which = f"result {i} shares the memory of tensor input {k}"
                report.expect(not shares, "a result has memory of its own (aliases=True allows that of the first input)", case, which, "none shared")
        if not case.op.aliases:
            others = [*results[:i], *(t._buffer for t in again.tensors)]
            shared = any(_share(buffer, other) for other in others)
            report.expect(
                not shared, "results of one call, and of two, share no memory", case, f"result {i} shares memory with another", "none shared"
            )
    return first


def _share(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return a is b
    return np.may_share_memory(a, b)  # exact for C-contiguous arrays


# ---------------------------------------------------------------------- ways


def check_ways(report: Report, case: Case, checks: Checks, want: Outcome) -> None:
    """Traced, with less and less known, and folded: the same bits, and the graph's specs agree too."""
    for unknown in (STATIC, *checks.unknown):
        way = named(unknown)
        try:
            recorded = trace(case, unknown, checks.hosts_known)
        except Exception as error:  # a contract's
            report.expect(False, f"{way} as eager", case, error, want)
            continue
        compare_specs(report, f"inference agrees with the result, {way}", case, recorded.specs, recorded.sizes, want.arrays)
        got = Outcome(recorded.run)
        report.expect(agree(got, want, checks, case), f"{way} as eager", case, got, want)
    if case.op.effect == "pure":
        got = folded(case)
        report.expect(agree(got, want, checks, case), "folded as eager", case, got, want)


def agree(got: Outcome, want: Outcome, checks: Checks, case: Case) -> bool:
    """The same bits; of draws, and of what has another effect, the same dtypes and shapes."""
    if checks.same_bits and case.op.effect == "pure":
        return same_outcome(got, want)
    if got.error is not None or want.error is not None:
        return same_outcome(got, want)
    return [(a.dtype, a.shape) for a in got.arrays] == [(a.dtype, a.shape) for a in want.arrays]


def check_layouts(report: Report, case: Case, want: Outcome) -> None:
    """The bits do not depend on where the inputs lie in memory, nor on an element's place among others."""
    got = eager(case, "offset")
    report.expect(same_outcome(got, want), "the same bits wherever the inputs lie in memory", case, got, want)
    arrays = case.arrays()
    if case.op.elementwise and all(a.shape == arrays[0].shape for a in arrays):
        got = eager(case, "strided")
        report.expect(same_outcome(got, want), "the same bits for elements that lie apart", case, got, want)
        check_places(report, case, want)
    check_shared(report, case)


def check_places(report: Report, case: Case, want: Outcome) -> None:
    """An element's result has the same bits alone, and at every place of a long row."""
    size = want.arrays[0].size if want.arrays else 0
    if not size:
        return
    rows = case.map(lambda a: np.tile(a.reshape(-1), 1 + _ROW // size), _TENSORS, "the elements again and again in one row")
    got = eager(rows)
    repeated = [np.tile(a.reshape(-1), 1 + _ROW // size) for a in want.arrays]
    agrees = got.error is None and all(same_bits(a, b) for a, b in zip(got.arrays, repeated, strict=True))
    report.expect(agrees, "the same bits at every place of an array", rows, got, repeated)


_ROW = 71
"""Longer than any vector register, and no multiple of one."""
_TENSORS = ("tensor", "index", "bool", "free")


def check_shared(report: Report, case: Case) -> None:
    """Inputs that are one tensor give what equal ones give."""
    first: dict[Any, Array] = {}
    shared = False
    for array in case.arrays():
        key = (array.dtype, array.shape)
        shared = shared or key in first
        first.setdefault(key, array)
    if not shared or any(d.kind not in ("tensor", "host") for d in case.op.inputs):
        return
    equal = case.map(lambda a: first[a.dtype, a.shape], ("tensor",), "equal inputs")
    apart = eager(equal)
    one: dict[int, Any] = {}

    def same(array: Any) -> Any:
        return one.setdefault(id(array), tensor_of(array))

    tensors = [g if d.kind == "host" else [same(a) for a in g] if d.sequence else same(g) for d, g in zip(case.op.inputs, equal.inputs, strict=True)]
    together = Outcome(lambda: call_entry(equal, tensors))
    report.expect(same_outcome(together, apart), "the same bits for inputs that are one tensor", equal, together, apart)


def check_out(report: Report, case: Case, want: Outcome) -> None:
    """A kernel that takes ``out=`` fills it with the same bits; a ufunc also over each of its inputs, as plans do."""
    device = devices.default()
    try:
        row = find_kernel_row(case.op, device, main_dtype(case) or next((from_numpy[a.dtype] for a in case.arrays()), None))
    except KernelNotFoundError:
        return
    kernel = bind(row, device)
    is_ufunc = isinstance(kernel, np.ufunc) and kernel.nout == 1 and kernel.nin == len(case.op.inputs) and not case.attrs
    if not (row.out or is_ufunc) or case.op.outputs != "one":
        return
    (result,) = want.arrays
    got: Any

    def run(out: Any, buffers: list[Any]) -> list[Any]:
        return [np.asarray(device.copy_out(quietly(kernel, *buffers, **case.attrs, out=out)))]

    fresh = device.copy_in(np.full(result.shape, 1, result.dtype))
    got = Outcome(lambda: run(fresh, buffers_of(case, tensors_of(case))))
    report.expect(same_outcome(got, want), "the same bits with out=", case, got, want)
    if not (is_ufunc and case.op.elementwise) or result.dtype.kind == "c":
        return
    for i, array in enumerate(case.arrays()):
        if array.shape == result.shape and array.dtype == result.dtype:
            buffers = buffers_of(case, tensors_of(case))
            got = Outcome(partial(run, buffers[i], buffers))
            report.expect(same_outcome(got, want), "the same bits with out= over an input", case, got, want)


# ---------------------------------------------------------------------- variations


def check_dtypes(report: Report, case: Case, checks: Checks) -> None:
    """Every dtype works, or is refused by inference and eagerly."""
    main = main_dtype(case)
    for name in checks.dtypes if main is not None else ():
        changed = in_dtype(case, name)
        if name == getattr(main, "name", ""):
            continue
        try:
            specs, _ = specs_for(changed, STATIC)
            inferred = infer(case.op, specs, case.attrs)
        except OpError:
            got = eager(changed)
            report.expect(isinstance(got.error, OpError), "a dtype that inference refuses is refused eagerly", changed, got, "an OpError")
            continue
        except Exception as error:  # a contract's
            report.expect(False, "inference refuses a dtype by one of td.errors", changed, error, "an OpError")
            continue
        want = check_memory(report, changed, checks)
        if want.error is not None:
            fails = case.op.can_fail and not isinstance(want.error, KernelNotFoundError)
            report.expect(fails, "a dtype that inference takes works", changed, want, inferred)
            continue
        compare_specs(report, "inference agrees with the result", changed, inferred, {}, want.arrays)
        got = traced_outcome(changed)
        report.expect(agree(got, want, checks, case), "traced as eager", changed, got, want)
        if checks.edges:
            check_edges(report, changed, checks)


def traced_outcome(case: Case) -> Outcome:
    """What the case gives as a graph of known sizes."""
    return Outcome(lambda: trace(case, STATIC).run())


def check_edges(report: Report, case: Case, checks: Checks) -> None:
    """NaN, infinities, signed zeros, extreme integers: the same outcome in every way."""
    for changed in with_edges(case):
        want = check_memory(report, changed, checks)
        if want.error is not None:
            report.expect(case.op.can_fail, "an op that is not said to fail does not", changed, want, "results")
        if not checks.same_bits or case.op.effect != "pure":
            continue
        if case.op.elementwise and want.arrays and all(a.shape == want.arrays[0].shape for a in changed.arrays()):
            check_places(report, changed, want)
        got = traced_outcome(changed)
        report.expect(same_outcome(got, want), "traced as eager", changed, got, want)
        got = folded(changed)
        report.expect(same_outcome(got, want), "folded as eager", changed, got, want)


def check_shapes(report: Report, case: Case, checks: Checks) -> None:
    """Other shapes and host values: the kernel refuses what inference refuses, and else gives what it says."""
    for changed in with_other_shapes(case):
        got = eager(changed)
        try:
            specs, _ = specs_for(changed, STATIC)
            inferred = infer(case.op, specs, case.attrs)
        except OpError as refusal:
            report.expect(isinstance(got.error, OpError), "a kernel refuses what inference refuses", changed, got, refusal)
            continue
        except Exception as error:  # a contract's
            report.expect(False, "inference refuses by one of td.errors", changed, error, got)
            continue
        if got.error is not None:
            report.expect(isinstance(got.error, OpError), "a refusal is one of td.errors", changed, got, "an OpError")
            report.expect(case.op.can_fail, "an op that is not said to fail does not (or its inference refuses)", changed, got, inferred)
        else:
            compare_specs(report, "inference agrees with the result", changed, inferred, {}, got.arrays)
