"""``treadle ops``."""

from __future__ import annotations

import pytest

from treadle_cli import ops


def test_an_op_is_shown_with_names_signature_kernels_gradient_and_plugin(treadle):
    shown = treadle("ops", "--filter", "relu", width=150)
    assert shown.exit_code == 0
    assert "relu(features)" in shown.stdout
    (row,) = [line.split() for line in shown.stdout.splitlines() if line.strip().startswith("relu(features)")]
    assert row[1:] == ["nn.relu", "CPU", "yes", "core"]


def test_a_namespace_is_what_is_under_it(treadle):
    shown = treadle("ops", "--namespace", "nn", width=150)
    assert "softmax(logits" in shown.stdout
    assert "expand_dims" not in shown.stdout
    assert treadle("ops", "-n", "td.nn", width=150).stdout == shown.stdout


def test_nothing_found_says_what_there_is(treadle):
    shown = treadle("ops", "--filter", "nosuchop")
    assert shown.exit_code == 1
    assert "Nothing has a name with 'nosuchop' in it." in shown.stdout
    assert {"math", "nn"} <= set(shown.stdout.partition("Namespaces: ")[2].replace(",", " ").split())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_no_name_is_broken(treadle, width):
    shown = treadle("ops", width=width)
    assert all(len(line) <= width for line in shown.stdout.splitlines())
    words = set(shown.stdout.replace("(", " ").replace(",", " ").split())
    every, _ = ops.find_all()
    assert {line.name for line in every} <= words


def test_functions_made_of_several_ops_are_listed_too():
    every, composites = ops.find_all()
    assert "nn.sparse_softmax_cross_entropy_with_logits" in {name for line in composites + every for name in line.public}
    assert not {line.name for line in every} & {line.name for line in composites if line.kernels}


def test_a_required_attribute_has_no_default_and_others_have():
    from treadle.registry import registry

    assert ops.op_signature(registry.op("softmax")) == "(logits, *, axis=-1)"
    assert ops.op_signature(registry.op("cast")) == "(x, *, dtype)"
