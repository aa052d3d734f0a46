"""What a traced function says when a node fails: the op, the sizes of this call, and the user's line."""

from __future__ import annotations

import warnings

import pytest

from treadle.errors import ShapeError


def test_sizes_unknown_while_tracing_are_told_as_in_an_eager_call(tf, toy):
    spec = tf.TensorSpec([None], tf.float32)
    f = tf.function(lambda x, y: toy.add(x, y), input_signature=[spec, spec])
    with pytest.raises(ShapeError) as caught:
        f(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))
    text = str(caught.value)
    with pytest.raises(ShapeError) as eager:
        toy.add(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))
    assert text.startswith(str(eager.value))
    assert "in op 'toy.add' (float32[2], float32[3]) of function '<lambda>'" in text and "toy.add(x, y), input_signature" in text


def test_a_failure_is_told_on_the_fast_path_too(tf, toy):
    spec = tf.TensorSpec([None], tf.float32)
    f = tf.function(lambda x, y: toy.neg(toy.add(toy.neg(x), y)), input_signature=[spec, spec])
    two, three = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    f(two, two)
    f(two, two)
    with pytest.raises(ShapeError, match=r"float32\[2\], float32\[3\]"):
        f(two, three)


def test_what_inlining_shows_not_to_fit_blames_no_pass(tf, toy):
    spec = tf.TensorSpec(None, tf.float32)
    inner = tf.function(lambda x, y: toy.add(x, y), input_signature=[spec, spec])
    outer = tf.function(lambda x: toy.mul(inner(x, tf.constant([1.0, 2.0, 3.0])), toy.add(tf.constant(1.0), tf.constant(2.0))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ShapeError, match=r"\(2,\) and \(3,\)"):
            outer(tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("shape", [[None], None])
def test_an_assignment_of_unknown_size_is_checked_when_it_runs(tf, toy, shape):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v.assign(x), input_signature=[tf.TensorSpec(shape, tf.float32)])
    f(tf.constant([3.0, 4.0]))
    for wrong in ([1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ShapeError, match=r"assign: Variable 'Variable:0' has shape \(2,\), and the value has \(\d,\).*v\.assign\(x\)"):
            f(tf.constant(wrong))
    assert v.numpy().tolist() == [3.0, 4.0]


def test_a_variable_of_unknown_size_takes_any_size_of_its_rank(tf, toy):
    v = tf.Variable([1.0, 2.0], shape=[None])
    f = tf.function(lambda x: v.assign(x), input_signature=[tf.TensorSpec(None, tf.float32)])
    f(tf.constant([1.0, 2.0, 3.0]))
    assert v.numpy().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ShapeError, match=r"has shape \(None,\), and the value has \(\)"):
        f(tf.constant(3.0))
