"""What kernels of linear algebra share: the shapes they refuse, the dtypes they compute in, and the errors of the array module's LAPACK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.errors import InvalidArgumentError


def matrix(x: Any, what: str = "the input") -> Any:
    """The array itself, which must be of matrices.

    Raises:
        ValueError: the rank is below 2.
    """
    if x.ndim < 2:
        raise ValueError(f"{what} has shape {x.shape}; matrices have rank 2 or more")
    return x


def square(x: Any, what: str = "the input") -> Any:
    """The array itself, which must be of square matrices.

    Raises:
        ValueError: the rank is below 2, or rows and columns differ.
    """
    if matrix(x, what).shape[-1] != x.shape[-2]:
        raise ValueError(f"{what} has shape {x.shape}; the matrices must be square")
    return x


def widened(xp: Any, x: Any) -> Any:
    """Short floats as float32, others as they are: LAPACK knows no short ones."""
    return x.astype(xp.float32) if x.dtype.itemsize == 2 else x


def back(xp: Any, x: Any, like: Any) -> Any:
    """A result in C order and, if the input was a short float, of its dtype."""
    if like.dtype.itemsize == 2:
        return x.astype(like.dtype, order="C")
    return x if x.flags.c_contiguous else xp.ascontiguousarray(x)


def decomposed(function: Callable[..., Any], a: Any, *arguments: Any) -> Any:
    """Call a decomposition.

    Raises:
        InvalidArgumentError: it fails to converge, or an element is not finite.
    """
    try:
        return function(a, *arguments)
    except Exception as error:
        if type(error).__name__ != "LinAlgError":
            raise
        raise InvalidArgumentError(f"the decomposition was not successful ({error}); the input might not be valid") from error


def is_one_memory(a: Any, b: Any) -> bool:
    """True for views of one array: BLAS multiplies a matrix by its own transpose another way, with other bits."""
    return (a if a.base is None else a.base) is (b if b.base is None else b.base)
