"""Exception classes of treadle: TensorFlow's names, each also a fitting builtin.

A caller may therefore catch ``InvalidArgumentError``, as TensorFlow code does, or ``ValueError``, as Python code does.
``str(error)`` is always the message. Names and codes are those of ``tf.errors`` in TensorFlow 2.21.
"""

from __future__ import annotations

from typing import Any, ClassVar

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """What goes wrong while an op is traced or run.

    Both ``OpError("text")`` and TensorFlow's ``OpError(node_def, op, "text")`` are accepted.

    Args:
        node_def: the node's description, or None; the message when it is the only argument.
        op: the op or node that failed, or None.
        message: what is wrong.
        *args: for ``OpError`` itself the error code; then, as in TensorFlow, a dict of payloads.
    """

    code: ClassVar[int] = UNKNOWN
    """The error code of instances of this class."""

    node_def: Any
    op: Any
    message: str
    error_code: int
    experimental_payloads: dict[Any, Any]

    def __init__(self, node_def: Any = None, op: Any = None, message: Any = None, *args: Any) -> None:
        if message is None and op is None:
            node_def, message = None, "" if node_def is None else node_def
        super().__init__(str(message))
        self.node_def = node_def
        self.op = op
        self.message = str(message)
        self.error_code = type(self).code
        if args and type(self) is OpError:
            self.error_code, *args = args  # type: ignore[assignment]  # a code that TensorFlow's signature has no type for
        self.experimental_payloads = args[0] if args and isinstance(args[0], dict) else {}

    def __str__(self) -> str:
        return self.message

    def __copy__(self) -> OpError:
        return _rebuild(type(self), self.args, dict(self.__dict__))

    def __deepcopy__(self, memo: dict[int, Any]) -> OpError:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        # A graph must not travel with its error (it may not even pickle), so what failed goes by name.
        state = {**self.__dict__, "op": _name(self.op), "node_def": _name(self.node_def)}
        return _rebuild, (type(self), self.args, state)


def prefix(error: Exception, subject: str) -> None:
    """Put in front of an error's message what it is about."""
    error.args = (f"{subject}: {error}",)
    if isinstance(error, OpError):
        error.message = error.args[0]


def _name(op: Any) -> str | None:
    return op if op is None or isinstance(op, str) else str(getattr(op, "name", op))


def _rebuild(cls: type[OpError], args: tuple[Any, ...], state: dict[str, Any]) -> OpError:
    base: Any = cls  # the one that lays out the instance: MemoryError's own __new__ refuses a mixed class
    while "__new__" not in base.__dict__:
        base = base.__base__
    error: OpError = base.__new__(cls)  # without __init__: a subclass may have changed its signature
    error.args = args
    error.__dict__.update(state)
    return error


class CancelledError(OpError, RuntimeError):
    """The work was cancelled."""

    code = CANCELLED


class UnknownError(OpError, RuntimeError):
    """An error for which there is no better class."""

    code = UNKNOWN


class InvalidArgumentError(OpError, ValueError):
    """An op was given an argument that it cannot accept."""

    code = INVALID_ARGUMENT


class DeadlineExceededError(OpError, TimeoutError):
    """The work did not finish in time."""

    code = DEADLINE_EXCEEDED


class NotFoundError(OpError, LookupError):
    """Something asked for by name does not exist."""

    code = NOT_FOUND


class AlreadyExistsError(OpError, RuntimeError):
    """Something to be created exists already."""

    code = ALREADY_EXISTS


class PermissionDeniedError(OpError, PermissionError):
    """The caller may not do this."""

    code = PERMISSION_DENIED


class UnauthenticatedError(OpError, RuntimeError):
    """The caller is not known."""

    code = UNAUTHENTICATED


class ResourceExhaustedError(OpError, MemoryError):
    """Memory, or another resource, ran out."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError, RuntimeError):
    """The system is not in the state that the op needs."""

    code = FAILED_PRECONDITION


class AbortedError(OpError, RuntimeError):
    """The work was aborted, typically by a conflict."""

    code = ABORTED


class OutOfRangeError(OpError, IndexError):
    """The work went past the end of what there is."""

    code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """The op exists, but not in this form."""

    code = UNIMPLEMENTED


class InternalError(OpError, RuntimeError):
    """An invariant of treadle itself does not hold."""

    code = INTERNAL


class UnavailableError(OpError, RuntimeError):
    """A resource is not available at present."""

    code = UNAVAILABLE


class DataLossError(OpError, RuntimeError):
    """Data is lost or corrupt."""

    code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a symbolic tensor for what only an eager tensor can do."""


class ShapeError(InvalidArgumentError):
    """Shapes do not fit each other or the op."""


class DTypeError(InvalidArgumentError, TypeError):
    """Dtypes do not fit each other or the op, or a value has none in treadle."""


class IndexOutOfRangeError(InvalidArgumentError, IndexError):
    """An index lies outside its axis."""


class DeviceError(InvalidArgumentError, RuntimeError):
    """A device does not exist, cannot be used here, or holds the wrong buffers."""


class GraphError(OpError, RuntimeError):
    """A graph breaks one of its invariants."""

    code = INTERNAL


class UnknownOpError(NotFoundError, AttributeError):
    """No op or public name of this spelling is registered."""


class KernelNotFoundError(NotFoundError, InvalidArgumentError, NotImplementedError):
    """The op exists, but has no kernel for this device and these dtypes."""

    code = NOT_FOUND


class SymbolicTensorError(OperatorNotAllowedInGraphError, InvalidArgumentError):
    """A symbolic tensor was used as a value: by ``bool()``, iteration or ``numpy()``, or outside its trace."""

    undecided: Any = None
    """The tensor whose truth Python asked for, if that is what went wrong."""

    def __init__(self, node_def: Any = None, op: Any = None, message: Any = None, *args: Any) -> None:
        InvalidArgumentError.__init__(self, node_def, op, message, *args)  # TypeError's would come first


class PluginError(RuntimeError):
    """A plugin is broken, or breaks the rules of registration."""


class ConfigError(ValueError):
    """A setting is unknown or has a value that it cannot have."""
