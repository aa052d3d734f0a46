"""TensorFlow's switches of the optimizer."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.grappler.schedule import in_force

options = td.config.optimizer


def names():
    return [line.instance.name for line in in_force().passes]


@pytest.fixture
def before():
    """The schedule in force, which is back at the end."""
    schedule = names()
    assert {"constant-folding", "arithmetic", "common-subexpression", "prune"} <= set(schedule)
    yield schedule
    options.set_experimental_options(
        {
            "constant_folding": True,
            "arithmetic_optimization": True,
            "common_subgraph_elimination": True,
            "disable_model_pruning": False,
            "disable_meta_optimizer": False,
        }
    )
    assert names() == schedule


@pytest.mark.parametrize(
    ("switch", "value", "name"),
    [
        ("constant_folding", False, "constant-folding"),
        ("arithmetic_optimization", False, "arithmetic"),
        ("common_subgraph_elimination", False, "common-subexpression"),
        ("disable_model_pruning", True, "prune"),
    ],
)
def test_a_switch_takes_its_pass_out_of_the_schedule_and_puts_it_back(before, switch, value, name):
    options.set_experimental_options({switch: value})
    assert names() == [kept for kept in before if kept != name]
    options.set_experimental_options({switch: not value})
    assert names() == before


def test_all_passes_are_switched_off_at_once(before):
    options.set_experimental_options({"disable_meta_optimizer": True, "layout_optimizer": False})
    assert names() == []
    options.set_experimental_options({"disable_meta_optimizer": False})
    assert names() == before
    kept = options.get_experimental_options()
    assert (kept["disable_meta_optimizer"], kept["layout_optimizer"]) == (False, False)


def test_an_unknown_switch_is_refused():
    with pytest.raises(ValueError, match=r"there is no option 'constant_fold'; options: .*constant_folding"):
        options.set_experimental_options({"constant_fold": True})


def test_jit_is_kept():
    assert options.get_jit() == ""
    options.set_jit(True)
    assert options.get_jit() == "autoclustering"
    options.set_jit(False)
    with pytest.raises(ValueError, match="'fast'"):
        options.set_jit("fast")
