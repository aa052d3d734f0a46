"""TensorShape behaves as TensorFlow's and compares as a tuple."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from treadle.dims import Dim
from treadle.errors import ShapeError
from treadle.shapes import TensorShape, as_shape, unknown_shape

n, m = Dim.symbol("n"), Dim.symbol("m")


class Dimension:
    def __init__(self, value: int | None) -> None:
        self.value = value


def test_it_is_made_of_what_tensorflow_accepts() -> None:
    assert TensorShape([2, None]).as_list() == [2, None]
    assert TensorShape((2, 3)) == (2, 3)
    assert TensorShape(3) == (3,)
    assert TensorShape([]) == ()
    assert TensorShape(TensorShape([1])) == (1,)
    assert TensorShape(np.array([2, 3])) == (2, 3)
    assert TensorShape(np.array(2)) == (2,)
    assert TensorShape(range(2)) == (0, 1)
    assert TensorShape([np.int64(2), Dimension(3), Dimension(None)]).as_list() == [2, 3, None]
    assert all(type(d) is int for d in TensorShape(np.array([2, 3])))
    assert TensorShape(None).rank is None


@pytest.mark.parametrize("dims", [[1.5], ["2"], "23", 2.0, [[1]], object()])
def test_what_is_no_size_is_a_type_error(dims: object) -> None:
    with pytest.raises(TypeError, match="no size"):
        TensorShape(dims)


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        TensorShape([2, -1])


def test_a_symbolic_size_reads_as_none() -> None:
    shape = TensorShape([n, 3])
    assert shape.as_list() == shape.dims == [None, 3]
    assert list(shape) == [None, 3]
    assert shape[0] is None
    assert shape[1] == 3
    assert repr(shape) == "TensorShape([None, 3])"
    assert shape == TensorShape([m, 3]) == (None, 3)
    assert hash(shape) == hash(TensorShape([None, 3]))
    assert not shape.is_fully_defined()
    assert shape.num_elements() is None
    assert shape[:1]._dims == (n,)


def test_it_compares_and_hashes_as_its_tuple() -> None:
    shape = TensorShape([2, 3])
    assert shape == (2, 3)
    assert (2, 3) == shape  # noqa: SIM300
    assert shape == [2, 3]
    assert shape != (2, 4)
    assert shape != (2,)
    assert shape != "x"
    assert shape != object()
    assert hash(shape) == hash((2, 3))
    assert TensorShape(None) == TensorShape(None)
    assert TensorShape(None) != TensorShape([])
    assert TensorShape([None]) != TensorShape([1])
    assert shape == TensorShape._of((2, 3))


def test_it_unpacks_and_indexes() -> None:
    a, b = TensorShape([2, 3])
    assert (a, b) == (2, 3)
    shape = TensorShape([2, None, 4])
    assert (len(shape), shape.rank, shape.ndims) == (3, 3, 3)
    assert shape[-1] == 4
    assert shape[np.int64(0)] == 2
    assert shape[1:] == (None, 4)
    assert isinstance(shape[1:], TensorShape)
    with pytest.raises(IndexError):
        shape[3]


def test_an_unknown_rank_has_no_sizes() -> None:
    shape = TensorShape(None)
    assert not shape
    assert TensorShape([])
    assert shape.dims is None
    assert shape[0] is None
    assert shape[1:].rank is None
    assert shape[1:3].rank == 2
    assert shape[:-1].rank is None
    assert shape.num_elements() is None
    assert not shape.is_fully_defined()
    for read in (len, list, TensorShape.as_list):
        with pytest.raises(ValueError, match="rank is unknown"):
            read(shape)


def test_it_prints_as_tensorflow_does() -> None:
    assert [str(TensorShape(d)) for d in (None, [], [2], [2, None])] == [
        "<unknown>",
        "()",
        "(2,)",
        "(2, None)",
    ]
    assert [repr(TensorShape(d)) for d in (None, [2, None])] == [
        "TensorShape(None)",
        "TensorShape([2, None])",
    ]


def test_num_elements_is_the_product() -> None:
    assert [TensorShape(d).num_elements() for d in ([], [2, 3], [0, 3], [None])] == [1, 6, 0, None]


def test_concatenation_takes_either_side() -> None:
    shape = TensorShape([2])
    assert shape + [3] == (2, 3)  # noqa: RUF005
    assert [3] + shape == (3, 2)  # noqa: RUF005
    assert (3,) + shape == (3, 2)  # noqa: RUF005
    assert shape.concatenate(None).rank is None
    assert (TensorShape(None) + shape).rank is None


def test_merging_keeps_what_either_knows() -> None:
    assert TensorShape([2, None]).merge_with([None, 3]) == (2, 3)
    assert TensorShape(None).merge_with([2]) == TensorShape([2]).merge_with(None) == (2,)
    assert TensorShape([n, None]).merge_with([4, m])._dims == (4, m)
    for other in ([3, 3], [2]):
        with pytest.raises(ShapeError, match="incompatible"):
            TensorShape([2, None]).merge_with(other)


def test_rank_is_asserted() -> None:
    shape, unknown = TensorShape([2, 3]), TensorShape(None)
    assert shape.with_rank(2) == shape
    assert unknown.with_rank(2) == (None, None)
    assert shape.with_rank_at_least(2) is shape.with_rank_at_most(2) is shape
    assert unknown.with_rank_at_least(9) is unknown.with_rank_at_most(0) is unknown
    shape.assert_has_rank(2), unknown.assert_has_rank(5), shape.assert_same_rank(unknown)
    for refused in (
        lambda: shape.with_rank(3),
        lambda: shape.with_rank_at_least(3),
        lambda: shape.with_rank_at_most(1),
        lambda: shape.assert_has_rank(1),
        lambda: shape.assert_same_rank([1]),
    ):
        with pytest.raises(ValueError, match="rank"):
            refused()


def test_compatible_is_what_some_known_shape_fits() -> None:
    shape = TensorShape([2, None])
    assert shape.is_compatible_with([None, 5])
    assert shape.is_compatible_with(None)
    assert not shape.is_compatible_with([3, 5])
    assert not shape.is_compatible_with([2])
    assert not TensorShape([n]).is_compatible_with(TensorShape([n + 1]))
    shape.assert_is_compatible_with([2, 2])
    with pytest.raises(ValueError, match=r"\(2, None\) and \(3, 5\) are incompatible"):
        shape.assert_is_compatible_with([3, 5])
    TensorShape([2]).assert_is_fully_defined()
    with pytest.raises(ValueError, match="not fully defined"):
        shape.assert_is_fully_defined()


def test_subtypes_and_their_common_supertype() -> None:
    assert TensorShape([2, 3]).is_subtype_of(TensorShape([2, None]))
    assert TensorShape([2]).is_subtype_of(TensorShape(None))
    assert not TensorShape([None]).is_subtype_of(TensorShape([2]))
    assert not TensorShape(None).is_subtype_of(TensorShape([2]))
    assert not TensorShape([2]).is_subtype_of((2,))
    one = TensorShape([2, 3])
    assert one.most_specific_common_supertype([TensorShape([2, 4])]) == (2, None)
    assert one.most_specific_common_supertype([TensorShape([2])]) == TensorShape(None)
    assert one.most_specific_common_supertype([(2, 3)]) is None
    assert one.most_specific_compatible_shape([2, 4]) == (2, None)
    assert one.most_specific_compatible_shape([2]).rank is None
    assert TensorShape([n]).most_specific_compatible_shape([n])._dims == (n,)


def test_it_is_immutable_and_copies() -> None:
    shape = TensorShape([2, None])
    with pytest.raises(AttributeError):
        shape.rank = 3  # type: ignore[misc]
    assert copy.deepcopy(shape) is shape
    assert pickle.loads(pickle.dumps(shape)) == shape


def test_as_shape_returns_a_shape_itself() -> None:
    shape = TensorShape([2])
    assert as_shape(shape) is shape
    assert as_shape([2]) == shape
    assert unknown_shape(2) == (None, None)
    assert unknown_shape().rank is None
