"""What to say when somebody asks for a name that TensorFlow has and treadle does not."""

from __future__ import annotations

_INSTEAD = {
    "keras": "use td.Module for layers and models, td.GradientTape for training, and td.nn for activations and losses",
    "data": "use any Python iterable of arrays; traced functions take NumPy arrays as arguments",
    "io": "use NumPy or the standard library to read and write files",
    "strings": "treadle has no string dtype; work on strings in Python before they become numbers",
    "string": "treadle has no string dtype; work on strings in Python before they become numbers",
    "sparse": "use dense tensors, or td.IndexedSlices for sparse rows",
    "SparseTensor": "use dense tensors, or td.IndexedSlices for sparse rows",
    "ragged": "pad to dense tensors, and keep the lengths beside them (td.sequence_mask)",
    "RaggedTensor": "pad to dense tensors, and keep the lengths beside them (td.sequence_mask)",
    "distribute": "run one process per device",
    "estimator": "write the training loop with td.GradientTape",
    "feature_column": "compute features in Python or with td ops",
    "lookup": "use a Python dict, and td.gather for tables of numbers",
    "lite": "there is no converter",
    "raw_ops": "use the public functions, or register an op of your own (docs/plugins.md)",
    "summary": "log with the library of your choice",
    "profiler": "use Python's profilers; `treadle explain` shows what the optimizer did and how long it took",
    "quantization": "cast to a narrow dtype with td.cast",
    "queue": "use Python's queue module",
    "xla": "use td.function",
    "tpu": "treadle has no TPU plugin",
    "audio": "read audio with another library; td.signal has transforms",
    "mlir": "`treadle explain FILE.py:FUNCTION` prints a function's graph",
    "sysconfig": "there is nothing to compile against",
    "tools": "use the command `treadle`",
    "compat.v1": "write TensorFlow 2 code: eager, or td.function",
    "compat": "write TensorFlow 2 code: eager, or td.function",
    "Session": "call the function; ops run at once",
    "placeholder": "use the arguments of a td.function",
    "global_variables_initializer": "Variables hold their value from the start",
    "py_func": "use td.numpy_function or td.py_function",
    "train": "keep slots in td.Variables and write the update with assign_sub; see docs/examples",
    "saved_model": "saving models is not part of treadle yet",
    "load_op_library": "install a plugin (docs/plugins.md)",
    "load_library": "install a plugin (docs/plugins.md)",
    "variant": "treadle has no variant dtype",
    "resource": "a td.Variable is its own handle",
    "qint8": "treadle has no quantised dtypes; use td.int8",
    "quint8": "treadle has no quantised dtypes; use td.uint8",
    "to_float": "use td.cast(x, td.float32)",
    "to_int32": "use td.cast(x, td.int32)",
    "div": "use td.divide",
    "log": "it is td.math.log",
    "erf": "it is td.math.erf",
    "ForwardAccumulator": "it is td.autodiff.ForwardAccumulator",
    "matrix_inverse": "it is td.linalg.inv",
    "random_normal": "it is td.random.normal",
    "random_uniform": "it is td.random.uniform",
    "set_random_seed": "it is td.random.set_seed",
    "get_variable": "make a td.Variable and keep it",
}


def explain_missing(path: str) -> str | None:
    """What to use instead of a public name; None if there is nothing to say."""
    instead = _INSTEAD.get(path) or _INSTEAD.get(path.partition(".")[0])
    return None if instead is None else f"TensorFlow has it, and treadle does not; {instead}"
