"""TensorFlow's switches of the optimizer."""

from __future__ import annotations

import pytest

from treadle.grappler.schedule import in_force


def names():
    return [line.instance.name for line in in_force().passes]


def test_switches_take_passes_out_of_the_schedule_and_put_them_back(tf, toy):
    before = names()
    options = tf.config.optimizer
    options.set_experimental_options({"disable_meta_optimizer": True, "layout_optimizer": False})
    assert names() == []
    options.set_experimental_options({"disable_meta_optimizer": False})
    assert names() == before
    assert options.get_experimental_options() == {"disable_meta_optimizer": False, "layout_optimizer": False}
    with pytest.raises(ValueError, match=r"there is no option 'constant_fold'; options: .*constant_folding"):
        options.set_experimental_options({"constant_fold": True})


def test_jit_and_threads_are_kept(tf):
    assert tf.config.optimizer.get_jit() == ""
    tf.config.optimizer.set_jit(True)
    assert tf.config.optimizer.get_jit() == "autoclustering"
    tf.config.optimizer.set_jit(False)
    with pytest.raises(ValueError, match="'fast'"):
        tf.config.optimizer.set_jit("fast")
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    tf.config.threading.set_inter_op_parallelism_threads(3)
    assert tf.config.threading.get_inter_op_parallelism_threads() == 3
    tf.config.threading.set_inter_op_parallelism_threads(0)
    tf.config.experimental.set_synchronous_execution(False)
    assert tf.config.experimental.get_synchronous_execution()
