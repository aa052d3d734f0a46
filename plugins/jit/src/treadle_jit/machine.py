"""Machine code of LLVM modules, for the processor that this process runs on.

What is compiled stays as long as the process. A product and a sum are rounded one by one: nothing is contracted, nothing reassociated.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding, ir

_engines: list[Any] = []


def compiled(module: ir.Module, name: str) -> Callable[..., None]:
    """A function of a module as one of Python. It holds no lock of the interpreter while it runs.

    Args:
        module: with a function of that name, whose parameters are pointers and 64-bit integers and which gives back nothing.
        name: of the function.

    Returns:
        A function of addresses and integers.
    """
    host, cpu, features = _host()
    module.triple = binding.get_process_triple()
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    target = host.create_target_machine(cpu=cpu, features=features, opt=2)
    _keep_variables_in_registers(parsed, target)
    engine = binding.create_mcjit_compiler(parsed, target)  # which owns the module and the target from here on
    _engines.append(engine)
    engine.finalize_object()
    kinds = [ctypes.c_void_p if isinstance(a.type, ir.PointerType) else ctypes.c_int64 for a in module.get_global(name).args]
    return ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(name))


def check() -> None:
    """Compile a function and call it.

    Raises:
        OSError: the system lets no process run what it has written.
        RuntimeError: LLVM cannot compile for this processor.
    """
    binding.check_jit_execution()
    module = ir.Module("check")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "check")
    ir.IRBuilder(function.append_basic_block()).ret_void()
    compiled(module, "check")()


@cache
def register_bytes() -> int:
    """The bytes of a vector register."""
    features = binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


def _keep_variables_in_registers(module: Any, target: Any) -> None:
    """The one pass that modules need: their loops are written as they are to run, and the whole pipeline would double the time of compiling."""
    builder = binding.create_pass_builder(target, binding.create_pipeline_tuning_options())
    passes = binding.create_new_function_pass_manager()
    passes.add_sroa_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


@cache
def _host() -> tuple[Any, str, str]:
    """LLVM's back end for this process, and the name and the features of the processor."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    host = binding.Target.from_triple(binding.get_process_triple())
    return host, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
