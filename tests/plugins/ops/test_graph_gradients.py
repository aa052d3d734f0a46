"""``td.gradients``: what one call costs."""

from __future__ import annotations

import treadle as td
from treadle_ops.graph_gradients import _leading_to


def test_only_what_leads_to_the_targets_is_walked():
    walked = []

    @td.function
    def f(xs):
        out = []
        for x in xs:
            y = td.sin(x) * x
            out.append(td.gradients(y, x)[0])
            walked.append(len(_leading_to([y.value])))
        return out

    out = f([td.constant(float(k)) for k in range(20)])
    assert float(out[0]) == 0.0
    assert set(walked) == {3}


def test_the_order_is_that_of_the_program():
    @td.function
    def f(x):
        a = td.sin(x)
        td.exp(x)
        c = td.cos(a)
        y = c * a
        names = [node.op.name for node in _leading_to([y.value])]
        assert names == ["placeholder", "sin", "cos", "multiply"]
        return td.gradients(y, x)[0]

    f(td.constant(1.0))
