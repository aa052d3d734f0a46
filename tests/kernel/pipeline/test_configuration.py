"""TensorFlow's settings of threads and execution."""

from __future__ import annotations


def test_threads_are_kept(tf):
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    tf.config.threading.set_inter_op_parallelism_threads(3)
    assert tf.config.threading.get_inter_op_parallelism_threads() == 3
    tf.config.threading.set_inter_op_parallelism_threads(0)


def test_execution_stays_synchronous(tf):
    tf.config.experimental.set_synchronous_execution(False)
    assert tf.config.experimental.get_synchronous_execution()
