"""Errors name the public function that the program called, and the argument."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.called_function import subject


def test_the_function_that_was_called_is_named_and_not_one_that_it_calls():
    with pytest.raises(ShapeError, match=r"^image.resize_with_pad: image has shape \(2,\)"):
        td.image.resize_with_pad(td.ones([2]), 2, 2)


def test_the_argument_is_named():
    with pytest.raises(DTypeError, match=r"^nn.conv2d: argument 'filters': 'x' cannot become a tensor"):
        td.nn.conv2d(td.ones([1, 2, 2, 1]), "x", 1, "SAME")


def test_a_function_called_by_a_program_inside_another_is_the_one_that_is_named():
    with pytest.raises(InvalidArgumentError, match=r"^nn.max_pool2d: padding 'HALF' is not known"):
        td.map_fn(lambda x: td.nn.max_pool2d(x, 2, 2, "HALF"), td.ones([1, 1, 2, 2, 1]))


def test_functions_that_share_their_code_are_told_apart():
    for name in ("reduce_sum", "reduce_prod", "reduce_max"):
        with pytest.raises(DTypeError, match=f"^(math.)?{name}: axis must be integers, got 'x'"):
            getattr(td, name)(td.ones([2]), axis="x")


def test_outside_of_a_function_there_is_no_name():
    assert subject() == ""


def test_numbers_are_not_cut_to_integers():
    x = td.ones([2, 2, 4])
    for call in (
        lambda: td.strided_slice(x, [0.5], [2]),
        lambda: td.nn.depth_to_space(x[None], 2.5),
        lambda: td.linalg.diag_part(x, k=0.5),
        lambda: td.gather(x, [0], batch_dims=0.5),
        lambda: td.dynamic_partition(x, [0, 1], 2.5),
        lambda: td.unstack(x, 2.5),
    ):
        with pytest.raises(InvalidArgumentError, match="integer"):
            call()
