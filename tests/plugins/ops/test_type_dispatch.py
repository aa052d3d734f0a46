"""Public functions on a user's own types."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


class Masked:
    def __init__(self, values, mask):
        self.values, self.mask = td.convert_to_tensor(values), td.convert_to_tensor(mask)


A = Masked([1.0, 2.0], [True, False])
B = Masked([3.0, 4.0], [True, True])


@pytest.fixture
def taken_back():
    targets = []
    yield targets.append
    for target in targets:
        td.experimental.unregister_dispatch_for(target)


def test_a_function_runs_instead_for_the_types_of_its_annotations(taken_back):
    @td.experimental.dispatch_for_api(td.math.add)
    def masked_add(x: Masked, y: Masked | td.Tensor, name=None):
        other = y if isinstance(y, td.Tensor) else y.values
        return Masked(x.values + other, x.mask)

    taken_back(masked_add)
    assert td.add(A, B).values.numpy().tolist() == [4.0, 6.0]
    assert td.math.add(A, y=td.constant([1.0, 1.0])).values.numpy().tolist() == [2.0, 3.0]
    assert td.add(1.0, 2.0).numpy() == 3.0
    with pytest.raises(TypeError):
        td.add(1.0, A)


def test_signatures_may_be_given_and_lists_looked_into(taken_back):
    @td.experimental.dispatch_for_api(td.concat, {"values": list[Masked]}, {0: tuple[Masked, ...]})
    def masked_concat(values, axis, name="concat"):
        return Masked(td.concat([v.values for v in values], axis), td.concat([v.mask for v in values], axis))

    taken_back(masked_concat)
    for values in ([A, B], (A, B)):
        assert td.concat(values, 0).values.numpy().tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(td.concat([[1.0], [2.0]], 0), [1, 2])


def test_one_handler_serves_all_elementwise_functions(taken_back):
    @td.experimental.dispatch_for_unary_elementwise_apis(Masked)
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    @td.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
    def binary(api, x, y):
        return Masked(api(x.values, y.values), td.logical_and(x.mask, y.mask))

    taken_back(unary)
    taken_back(binary)
    np.testing.assert_allclose(td.exp(A).values, np.exp([1, 2]), rtol=1e-6)
    np.testing.assert_allclose(td.nn.relu(A).values, [1, 2])
    np.testing.assert_allclose(td.multiply(A, B).values, [3, 8])
    assert td.maximum(A, B).mask.numpy().tolist() == [True, False]


def test_assertions_are_served_too(taken_back):
    seen = []

    @td.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    def handler(api, x, y):
        seen.append(api.__name__)

    taken_back(handler)
    td.debugging.assert_equal(A, B)
    assert seen == ["assert_equal"]


def test_what_is_taken_back_is_gone_and_mistakes_are_told():
    before = td.subtract

    @td.experimental.dispatch_for_api(td.subtract)
    def other(x: Masked, y: Masked):
        return 7

    assert td.subtract(A, B) == 7
    td.experimental.unregister_dispatch_for(other)
    assert td.subtract is td.math.subtract is before
    with pytest.raises(TypeError):
        td.subtract(A, B)
    with pytest.raises(ValueError, match="is not registered"):
        td.experimental.unregister_dispatch_for(other)
    with pytest.raises(ValueError, match="none of treadle's public functions"):
        td.experimental.dispatch_for_api(len)
    with pytest.raises(ValueError, match="does not fit subtract; its parameters: x, y, name"):
        td.experimental.dispatch_for_api(td.subtract, {"z": Masked})(other)
