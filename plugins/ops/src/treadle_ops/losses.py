"""Losses that are not softmax cross-entropy: logistic, Poisson, sums of squares, and averages of losses over a batch."""

from __future__ import annotations

import math
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import float32, int32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.assertions import assert_non_negative
from treadle_ops.broadcasting import shape_of
from treadle_ops.casting import cast, cast_op
from treadle_ops.comparison import greater, greater_equal, less_equal
from treadle_ops.elementwise import add, exp, log, multiply, negative, subtract
from treadle_ops.inference import FLOATING, common_dims, require_kind, same_dtype
from treadle_ops.logic import logical_and
from treadle_ops.masking import where_op
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.shape_assertions import assert_scalar
from treadle_ops.shaping import expand_dims_op, squeeze_op
from treadle_ops.sigmoids import sigmoid, sigmoid_grad, softplus
from treadle_ops.zero_safe import divide_no_nan
