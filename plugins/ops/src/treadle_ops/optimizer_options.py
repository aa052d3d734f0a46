"""The namespace ``td.config.optimizer``: TensorFlow's switches of the optimizer in terms of the schedule of passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treadle import settings
from treadle.declare import public
from treadle.errors import InvalidArgumentError
from treadle.grappler.schedule import in_force

_PASSES = {"constant_folding": "constant-folding", "arithmetic_optimization": "arithmetic", "common_subgraph_elimination": "common-subexpression"}
"""TensorFlow's switch to the pass that it concerns; false takes the pass out of the schedule."""

_WITHOUT_EFFECT = (
    "auto_mixed_precision",
    "auto_mixed_precision_mkl",
    "auto_mixed_precision_onednn_bfloat16",
    "auto_parallel",
    "debug_stripper",
    "dependency_optimization",
    "function_optimization",
    "implementation_selector",
    "layout_optimizer",
    "loop_optimization",
    "min_graph_nodes",
    "pin_to_host_optimization",
    "remapping",
    "scoped_allocator_optimization",
    "shape_optimization",
)
"""Switches of what treadle's optimizer does not have; they are kept and change nothing."""

_options: dict[str, Any] = {}
_jit = ""
_override: settings.Override | None = None


@public("config.optimizer.set_experimental_options")
def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Switch parts of the optimizer for functions traced from now on.

    Args:
        options: switch to bool. ``constant_folding``, ``arithmetic_optimization`` and ``common_subgraph_elimination`` concern the pass of that kind,
            ``disable_model_pruning`` the pass ``prune``, ``disable_meta_optimizer`` all passes. TensorFlow's others are kept, without effect.

    Raises:
        InvalidArgumentError: there is no such switch.

    Sources:
        TensorFlow ``tf.config.optimizer.set_experimental_options``.
    """
    global _override
    known = {*_PASSES, *_WITHOUT_EFFECT, "disable_model_pruning", "disable_meta_optimizer"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise InvalidArgumentError(f"set_experimental_options: there is no option {unknown[0]!r}; options: {', '.join(sorted(known))}")
    _options.update(options)
    if _override is not None:
        _override.__exit__()
        _override = None
    off = {name for switch, name in _PASSES.items() if _options.get(switch) is False}
    if _options.get("disable_model_pruning"):
        off.add("prune")
    everything = [line.instance.name for line in in_force().passes]
    schedule = [] if _options.get("disable_meta_optimizer") else [name for name in everything if name not in off]
    if schedule != everything:
        _override = settings.override(schedule=schedule)


@public("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Any]:
    """The switches that were set.

    Sources:
        TensorFlow ``tf.config.optimizer.get_experimental_options``.
    """
    return dict(_options)


@public("config.optimizer.set_jit")
def set_jit(enabled: bool | str) -> None:
    """Ask for compilation of whatever can be.

    Args:
        enabled: a bool, or ``"autoclustering"``. Kept, without effect: plans are compiled for every function anyway.

    Raises:
        InvalidArgumentError: it is something else.

    Sources:
        TensorFlow ``tf.config.optimizer.set_jit``.
    """
    global _jit
    if enabled not in (True, False, "autoclustering"):
        raise InvalidArgumentError(f"set_jit: enabled is {enabled!r}; give True, False or 'autoclustering'")
    _jit = "autoclustering" if enabled else ""


@public("config.optimizer.get_jit")
def get_jit() -> str:
    """``"autoclustering"`` if ``set_jit`` asked for it, else an empty text.

    Sources:
        TensorFlow ``tf.config.optimizer.get_jit``.
    """
    return _jit
