"""Kernels are held to what their contracts promise, eagerly and in plans, at every call until they keep it."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from treadle.declare import Spec, kernel, op
from treadle.errors import PluginError
from treadle.registry import registry

RESULTS = {
    "another_dtype": lambda x: np.ones(x.shape),
    "another_shape": lambda x: np.ones(7, np.float32),
    "no_array": lambda x: "text",
    "its_input": lambda x: x,
    "too_many": lambda x: (x + 1, x + 2),
    "writes": lambda x: np.multiply(x, 2, out=x) + 0,
}


@pytest.fixture(scope="module")
def lies(toy):
    module = types.ModuleType("lying_kernels")
    sys.modules["lying_kernels"] = module
    entries = {}
    for name, result in RESULTS.items():

        def infer(x: Spec) -> Spec:
            return Spec(x.dims, x.dtype)

        infer.__module__ = "lying_kernels"
        entries[name] = op(f"lying.{name}")(infer)

        def factory(xp, result=result):
            return result

        factory.__module__ = "lying_kernels"
        kernel(f"lying.{name}")(factory)
    with registry.transaction("liar"):
        registry.add_ops("lying_kernels")
        registry.add_kernels(for_="CPU", module="lying_kernels")
    yield entries
    for name in RESULTS:
        del registry.ops[f"lying.{name}"], registry.kernels[f"lying.{name}"]
    del sys.modules["lying_kernels"]


@pytest.mark.parametrize("name", RESULTS)
def test_a_kernel_that_breaks_its_promise_is_refused_at_every_call(tf, toy, lies, name):
    x = tf.constant([1.0, 2.0])
    traced = tf.function(lambda x: toy.add(lies[name](x), x))
    for call in (lies[name], lies[name], traced, traced):
        with pytest.raises(PluginError, match=rf"the kernel of op 'lying.{name}' for CPU \(plugin 'liar'\) gives"):
            call(x)
    assert x.numpy().tolist() == [1.0, 2.0]
