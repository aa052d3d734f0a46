"""What the failing line of a plan was given: sizes and numbers that were not known when the plan was written."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import numpy as np

from treadle.contracts.spec import Spec, is_concrete
from treadle.conversion import host_spec
from treadle.graph.graph import Node, Value


def given_specs(node: Node, line: str, frame: FrameType) -> list[Any]:
    """The specs of a node's inputs as they were when its line failed, as its op's inference takes them.

    Args:
        node: that failed.
        line: of the plan's program, which calls its kernel.
        frame: of the program.
    """
    declared = [node.grouped([v.spec for v in node.inputs]), node.grouped(node.inputs)]
    try:
        arguments = _arguments(line, frame)
    except Exception:  # a buffer was let go already: then what was known ahead is what there is to say
        return list(declared[0])
    specs: list[Any] = []
    for entry, wanted, values in zip(node.op.inputs, arguments, declared[1], strict=False):
        if entry.kind == "host":
            specs.append(values.spec if is_concrete(values.spec.value) else host_spec(wanted))
        elif isinstance(values, list):
            specs.append([_spec(v, buffer) for v, buffer in zip(values, wanted, strict=True)])
        else:
            specs.append(_spec(values, wanted))
    return specs if len(specs) == len(node.op.inputs) else list(declared[0])


def _spec(value: Value, buffer: Any) -> Spec:
    return value.spec if value.spec.is_static or value.spec.dtype.kind == "l" else Spec(np.shape(buffer), value.spec.dtype)


def _arguments(line: str, frame: FrameType) -> list[Any]:
    """The values of the positional arguments of the kernel call in a line."""
    for call in ast.walk(ast.parse(line.strip())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and (call.func.id == "run" or call.func.id.startswith("k")):
            arguments = call.args[1:] if call.func.id == "run" else call.args
            codes = [compile(ast.Expression(argument), "<argument>", "eval") for argument in arguments]
            return [eval(code, frame.f_globals, frame.f_locals) for code in codes]
    return []
