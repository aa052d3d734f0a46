"""Tests of treadle.errors: names, codes, builtins, constructors, copies."""

from __future__ import annotations

import copy
import pickle

import pytest

from treadle import errors

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.OpError)]

BASES = [
    ("AbortedError", RuntimeError, 10),
    ("AlreadyExistsError", RuntimeError, 6),
    ("CancelledError", RuntimeError, 1),
    ("DataLossError", RuntimeError, 15),
    ("DeadlineExceededError", TimeoutError, 4),
    ("FailedPreconditionError", RuntimeError, 9),
    ("InternalError", RuntimeError, 13),
    ("InvalidArgumentError", ValueError, 3),
    ("NotFoundError", LookupError, 5),
    ("OutOfRangeError", IndexError, 11),
    ("PermissionDeniedError", PermissionError, 7),
    ("ResourceExhaustedError", MemoryError, 8),
    ("UnauthenticatedError", RuntimeError, 16),
    ("UnavailableError", RuntimeError, 14),
    ("UnimplementedError", NotImplementedError, 12),
    ("UnknownError", RuntimeError, 2),
    ("ShapeError", ValueError, 3),
    ("DTypeError", TypeError, 3),
    ("DTypeError", ValueError, 3),
    ("IndexOutOfRangeError", IndexError, 3),
    ("DeviceError", RuntimeError, 3),
    ("GraphError", RuntimeError, 13),
    ("UnknownOpError", AttributeError, 5),
    ("UnknownOpError", LookupError, 5),
    ("KernelNotFoundError", NotImplementedError, 5),
    ("KernelNotFoundError", errors.InvalidArgumentError, 5),
    ("SymbolicTensorError", errors.OperatorNotAllowedInGraphError, 3),
    ("SymbolicTensorError", TypeError, 3),
]


class Odd(errors.InvalidArgumentError):
    """A subclass whose constructor differs."""

    def __init__(self, *, size: int) -> None:
        super().__init__(f"size {size}")
        self.size = size


@pytest.mark.parametrize(("name", "builtin", "code"), BASES)
def test_each_error_is_a_builtin_and_bears_tensorflows_code(name: str, builtin: type, code: int) -> None:
    cls = getattr(errors, name)
    assert issubclass(cls, builtin)
    assert cls("x").error_code == code


@pytest.mark.parametrize("cls", CLASSES)
def test_one_message_is_enough(cls: type[errors.OpError]) -> None:
    error = cls("text")
    assert (str(error), error.message, error.op, error.node_def) == ("text", "text", None, None)
    assert error.args == ("text",)


@pytest.mark.parametrize("cls", CLASSES)
def test_tensorflows_arguments_are_accepted(cls: type[errors.OpError]) -> None:
    error = cls("node", "op", "text")
    assert (str(error), error.message, error.op, error.node_def) == ("text", "text", "op", "node")
    assert str(cls(None, None, "text")) == "text"
    assert str(cls(node_def=None, op=None, message="text")) == "text"


def test_op_error_takes_a_code_and_payloads() -> None:
    error = errors.OpError(None, None, "text", errors.ABORTED, {"k": b"v"})
    assert error.error_code == 10
    assert error.experimental_payloads == {"k": b"v"}
    assert errors.AbortedError(None, None, "text", {"k": b"v"}).experimental_payloads == {"k": b"v"}


@pytest.mark.parametrize("cls", CLASSES)
def test_errors_pickle_and_copy(cls: type[errors.OpError]) -> None:
    error = cls("node", "op", "text")
    error.add_note("seen")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is cls
        assert str(twin) == "text"
        assert twin.args == error.args
        assert vars(twin) == vars(error)


def test_a_subclass_with_its_own_constructor_pickles_and_copies() -> None:
    for twin in (pickle.loads(pickle.dumps(Odd(size=3))), copy.copy(Odd(size=3))):
        assert (type(twin), str(twin), twin.size) == (Odd, "size 3", 3)


def test_a_pickled_error_names_its_op_and_a_copied_one_keeps_it() -> None:
    class Node:
        name = "add_1"
        callback = staticmethod(lambda: None)

    node = Node()
    error = errors.InternalError(node, node, "text")
    assert pickle.loads(pickle.dumps(error)).op == "add_1"
    assert copy.deepcopy(error).op is node


def test_the_errors_that_belong_to_no_op_are_plain() -> None:
    assert issubclass(errors.PluginError, RuntimeError)
    assert issubclass(errors.ConfigError, ValueError)
    assert not issubclass(errors.OperatorNotAllowedInGraphError, errors.OpError)
    assert str(errors.OperatorNotAllowedInGraphError("text")) == "text"
