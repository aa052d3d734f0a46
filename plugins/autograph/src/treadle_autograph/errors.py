"""What goes wrong with the variables of branches and loops that depend on tensors."""

from __future__ import annotations

from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, SymbolicTensorError


class VariableTypeError(InvalidArgumentError, TypeError):
    """A variable is a tensor on one way through a branch or loop, and something else on another."""


class VariableDTypeError(DTypeError):
    """A variable has different dtypes on the ways through a branch or loop."""


class VariableShapeError(ShapeError):
    """A loop variable changes its shape from turn to turn."""


class UndefinedVariableError(InvalidArgumentError, UnboundLocalError):
    """A variable is read where it may have no value."""


class NotStagedError(SymbolicTensorError):
    """A construct cannot depend on a tensor."""


class ChangedContainerError(InvalidArgumentError, TypeError):
    """A Python container gets a tensor of a branch or loop that depends on a tensor."""
