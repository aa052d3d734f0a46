"""Every node of a graph tells the user's line that it comes from, those of gradients the line that is differentiated."""

from __future__ import annotations

import treadle as td


def nodes_of(concrete, op):
    return [node for node in concrete.graph.nodes if node.op.name == op]


def test_nodes_of_a_gradient_come_from_the_line_that_is_differentiated():
    @td.function
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.exp(td.sin(x))
            z = td.reduce_sum(y)
        return tape.gradient(z, x)

    (cosine,) = nodes_of(f.get_concrete_function(td.TensorSpec([2])), "cos")
    assert cosine.source.text == "y = td.exp(td.sin(x))"
    assert cosine.source.function == "f"
    assert cosine.source.gradient == "sin"
    assert str(cosine.source).endswith("`y = td.exp(td.sin(x))` (gradient of op 'sin')")
    (sine,) = nodes_of(f.get_concrete_function(td.TensorSpec([2])), "sin")
    assert sine.source.gradient == ""


def test_nodes_of_a_second_gradient_come_from_the_same_line():
    @td.function
    def f(x):
        y = td.sin(x)
        (first,) = td.gradients(y, [x])
        (second,) = td.gradients(first, [x])
        return second

    (sine, again) = nodes_of(f.get_concrete_function(td.TensorSpec([2])), "sin")
    assert {sine.source.text, again.source.text} == {"y = td.sin(x)"}
    assert [sine.source.gradient, again.source.gradient] == ["", "sin"]


def test_nodes_of_a_gradient_that_the_user_wrote_come_from_its_lines():
    @td.custom_gradient
    def double(x):
        def back(g):
            return g * td.tanh(x)

        return x * 2, back

    @td.function
    def f(x):
        return td.gradients(double(x), [x])[0]

    (tanh,) = nodes_of(f.get_concrete_function(td.TensorSpec([2])), "tanh")
    assert tanh.source.text == "return g * td.tanh(x)"
    assert tanh.source.gradient == ""
