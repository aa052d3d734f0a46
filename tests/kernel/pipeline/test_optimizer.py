"""The optimizer's containment: passes that raise, break the graph or never settle."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from treadle import settings
from treadle.contracts.passes import Pass
from treadle.contracts.spec import Spec
from treadle.dtypes import float32, int32
from treadle.graph.graph import Graph
from treadle.graph.text import from_text, to_text
from treadle.graph.verify import verify
from treadle.grappler.meta import OptimizerWarning
from treadle.registry import registry


@pytest.fixture
def scheduled(toy):
    """Put passes of the test's own into the schedule."""
    registered = []

    def schedule(*classes, **options):
        with registry.transaction("test"):
            for cls in classes:
                if cls.name not in registry.passes:
                    registry.add_pass(cls)
                    registered.append(cls.name)
        override = settings.override(schedule=[cls.name for cls in classes], **options)
        overrides.append(override)
        return override

    overrides = []
    yield schedule
    for override in reversed(overrides):
        override.__exit__(None, None, None)
    for name in registered:
        del registry.passes[name]
    registry.invalidate()


def run(tf, toy):
    f = tf.function(lambda x: toy.neg(toy.neg(toy.add(x, 1.0))))
    value = float(f(tf.constant(1.0)))
    return value, f.get_concrete_function(tf.constant(1.0)).atomic.executable().reports


def test_a_pass_fires_and_is_reported(tf, toy, scheduled):
    scheduled(toy.ToyPass)
    value, reports = run(tf, toy)
    assert value == 2.0
    first = reports[0]
    assert (first.name, first.plugin, first.changed, first.rewrites, first.error) == ("toy-pass", "toy", True, {"negation": 1}, None)


def test_a_pass_that_raises_is_rolled_back_and_named(tf, toy, scheduled):
    @dataclass(frozen=True)
    class Raising(Pass):
        name = "raising"

        def run(self, item, context):
            for node in list(item.graph.nodes):
                if node.op.name == "toy.neg":
                    item.graph.replace(node.out, node.inputs[0])
            raise RuntimeError("half done")

    scheduled(Raising, toy.ToyPass)
    with pytest.warns(OptimizerWarning, match=r"'raising' \(plugin 'test'.*half done"):
        value, reports = run(tf, toy)
    assert value == 2.0
    assert [r.error is None for r in reports if r.name == "raising"] == [False]
    assert any(r.name == "toy-pass" and r.changed for r in reports)


def test_a_pass_that_breaks_the_graph_is_found_without_verification_switched_on(tf, toy, scheduled):
    @dataclass(frozen=True)
    class Breaking(Pass):
        name = "breaking"

        def run(self, item, context):
            nodes = list(item.graph.nodes)
            if nodes[-1].inputs and nodes[-1].inputs[0].node is nodes[-1]:
                return False
            nodes[-1].inputs = [nodes[-1].out]
            return True

    scheduled(Breaking)
    with pytest.warns(OptimizerWarning, match=r"'breaking'.*broke the graph"):
        value, _ = run(tf, toy)
    assert value == 2.0


def test_a_pass_that_never_settles_is_rolled_back(tf, toy, scheduled):
    @dataclass(frozen=True)
    class Restless(Pass):
        name = "restless"

        def run(self, item, context):
            node = next(n for n in item.graph.nodes if n.op.name == "toy.add")
            twin = item.graph.apply(node.op, *reversed(node.inputs), before=node)
            item.graph.replace(node.out, twin)
            item.graph.remove(node)
            return True

    scheduled(Restless)
    with pytest.warns(OptimizerWarning, match=r"'restless'.*never settles"):
        value, _ = run(tf, toy)
    assert value == 2.0


def test_rules_that_undo_each_other_end(tf, toy, scheduled):
    @dataclass(frozen=True)
    class Endless(Pass):
        name = "endless"

        def run(self, item, context):
            node = next(n for n in item.graph.nodes if n.op.name == "toy.add")
            while True:
                context.rewrote("again", node)

    scheduled(Endless)
    with pytest.warns(OptimizerWarning, match="without an end"):
        value, _ = run(tf, toy)
    assert value == 2.0


def test_a_wrong_rewrite_is_found_by_numeric_verification(tf, toy, scheduled):
    @dataclass(frozen=True)
    class Wrong(Pass):
        name = "wrong"

        def run(self, item, context):
            for node in item.graph.nodes:
                if node.op.name == "toy.neg" and node.out.uses:
                    item.graph.replace(node.out, node.inputs[0])
                    return True
            return False

    scheduled(Wrong, verify="numeric")
    with pytest.warns(OptimizerWarning, match=r"'wrong'.*differ"):
        value, _ = run(tf, toy)
    assert value == 2.0


def test_the_text_form_prints_and_parses(tf, toy):
    f = tf.function(lambda x, v: toy.join([*toy.halves(toy.mul(x, v)), toy.full(2.5, [3])]))
    v = tf.Variable([1.0, 2.0, 3.0])
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32), v)
    text = to_text(concrete.graph)
    again = from_text(text)
    verify(again)
    assert to_text(again) == text
    assert "float32&[3]" in text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("%a_1 = toy.neg(%nowhere) : float32[2]", "not defined"),
        ("%a_1 = toy.nope(%x) : float32[2]", "toy.nope"),
        ("%a_1 = toy.neg(%x) : float33[2]", "float33"),
        ("%a_1 toy.neg(%x)", "expected"),
    ],
)
def test_a_text_that_is_no_graph_is_refused_with_its_line(tf, toy, line, problem):
    with pytest.raises(Exception, match=problem):
        from_text(f"graph f(x: float32[2]) {{\n{line}\nreturn %x\n}}")


# ---------------------------------------------------------------------- passes that break a graph


def lose_constants(graph):
    for node in graph.nodes:
        if node.op.name == "const":
            node.attrs = {}


def read_itself(graph):
    for node in graph.nodes:
        if node.op.name == "toy.mul":
            node.inputs = [node.out, node.out]


def lose_an_op(graph):
    for node in graph.nodes:
        if node.op.name == "toy.mul":
            node.op = None


def lie_about_dtypes(graph):
    for node in graph.nodes:
        if node.op.name == "toy.mul":
            node.out.spec = Spec(node.out.spec.dims, int32)


@pytest.mark.parametrize("says", [True, False])
@pytest.mark.parametrize("damage", [lose_constants, read_itself, lose_an_op, lie_about_dtypes])
def test_a_pass_that_breaks_the_graph_is_named_whatever_it_says_and_whichever_pass_stumbles(tf, toy, scheduled, damage, says):
    class Breaks(Pass):
        name = "breaks"

        def run(self, item, context):
            damage(item.graph)
            return says

    class Looks(Pass):
        name = "looks"

        def run(self, item, context):
            return any(node.op.name == "none" or any(v.constant is None and v.spec is None for v in node.inputs) for node in item.graph.nodes)

    scheduled(Breaks, Looks)
    with pytest.warns(OptimizerWarning, match=r"'breaks' \(plugin 'test'") as told:
        result = tf.function(lambda x: toy.add(toy.mul(x, 2.5), x))(tf.constant(2.0))
    assert float(result) == 7.0
    assert len(told) == 1


def test_inputs_and_nodes_never_share_a_name(tf, toy):
    graph, spec = Graph("g"), Spec((2,), float32)
    x = graph.placeholder(spec, "x")
    first, second = graph.apply(toy.neg, x), graph.apply(toy.neg, x)
    taken = [first.name, second.name, f"{second.name}_"]
    inputs = [graph.placeholder(spec, name) for name in taken]
    graph.outputs = [first, second, *inputs]
    assert [value.name for value in graph.outputs] == [f"{taken[0]}_", f"{taken[1]}__", *taken]
    verify(graph)
    again = from_text(to_text(graph))
    verify(again)
    assert to_text(again) == to_text(graph)
