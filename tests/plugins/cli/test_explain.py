"""``treadle explain``."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from treadle import settings
from treadle.contracts.passes import Pass
from treadle.registry import registry

PREDICT = """
w = td.Variable(td.ones([4, 2]), name="w")

@td.function(input_signature=[td.TensorSpec([None, 4])])
def predict(x):
    return td.tanh(x @ w * (td.constant(2.0) + 3.0))

def plain(x, twice=False):
    y = x + x
    return y * 1 if not twice else y * 1 * 1

if __name__ == "__main__":
    raise SystemExit("the main part must not run")
"""


def test_the_graph_is_shown_as_traced_and_after_each_pass_that_changed_it(treadle, users_file):
    shown = treadle("explain", f"{users_file(PREDICT)}:predict")
    assert shown.exit_code == 0, shown.stderr
    head, *sections = shown.stdout.split("\n\n")
    assert head == "predict(x: float32[None, 4]) -> float32[None, 2]"
    assert sections[0].startswith("As traced, 9 nodes\ngraph predict(x: float32[")
    assert "tanh(" in sections[0]
    folded = next(s for s in sections if s.startswith("Round 1, constant-folding: "))
    assert "1× fold" in folded.splitlines()[0]
    assert "[5.0]" in folded
    assert "arithmetic:" not in shown.stdout  # it changed nothing
    assert "9 nodes became 7 in 2 rounds" in shown.stdout
    assert "def plan" not in shown.stdout


def test_the_plan_names_the_node_of_each_line(treadle, users_file):
    shown = treadle("explain", f"{users_file(PREDICT)}:predict", "--plan")
    plan = shown.stdout.partition("The plan for /CPU:0\n")[2]
    assert plan.startswith("def plan(p0):\n")
    assert "# matmul" in plan


def test_a_plain_function_is_traced_for_the_specs(treadle, users_file):
    target = f"{users_file(PREDICT)}:plain"
    shown = treadle("explain", target, "--spec", "float32[None,3]", "--spec", "twice=True")
    assert shown.exit_code == 0, shown.stderr
    assert "As traced, 5 nodes" in shown.stdout
    assert "x * 1 -> x" in shown.stdout
    assert treadle("explain", target, "-s", "float32[3]").stdout.startswith("plain(x: float32[3]; fixed: twice=False) -> float32[3]")


def test_a_diff_shows_what_changed(treadle, users_file):
    shown = treadle("explain", f"{users_file(PREDICT)}:plain", "--spec", "float32[3]", "--diff")
    section = shown.stdout.partition("Round 1, arithmetic")[2].partition("\n\n")[0]
    assert [line for line in section.splitlines()[1:] if line.startswith(("+", "-"))]
    assert "graph plain" not in section.partition("\n")[2].replace(" graph plain", "")


def test_sources_stand_behind_the_nodes(treadle, users_file):
    shown = treadle("explain", f"{users_file(PREDICT)}:plain", "--spec", "float32[3]", "--sources")
    assert "y = x + x" in shown.stdout


def test_traces_that_the_file_made_are_explained(treadle, users_file):
    path = users_file("@td.function\ndef f(x):\n    return x + 1\nf(td.constant(1.0)); f(td.constant([1, 2]))\n")
    shown = treadle("explain", f"{path}:f")
    assert shown.exit_code == 0, shown.stderr
    assert "f(x: float32[]) -> float32[]\n" in shown.stdout
    assert "f(x: int32[2]) -> int32[2]\n" in shown.stdout


def test_the_only_traced_function_needs_no_name(treadle, users_file):
    assert treadle("explain", users_file(PREDICT)).stdout.startswith("predict(")


def test_a_method_and_the_functions_that_it_calls(treadle, users_file):
    path = users_file(
        "@td.function\ndef inner(x):\n    return td.tanh(x)\n"
        "class Model:\n    @td.function\n    def step(self, x):\n        return inner(x) + inner(x)\nmodel = Model()\n"
    )
    shown = treadle("explain", f"{path}:model.step", "--spec", "float32[3]")
    assert shown.exit_code == 0, shown.stderr
    assert "call(" in shown.stdout.partition("With the functions that it calls put in")[0]
    assert "1× merge" in shown.stdout


def test_a_file_or_function_that_is_not_there_is_answered_with_what_is(treadle, users_file, tmp_path):
    missing = treadle("explain", f"{tmp_path}/nosuch.py:f")
    assert missing.exit_code == 2
    assert "there is no file" in missing.stderr
    folder = treadle("explain", f"{tmp_path}:f")
    assert "that is a folder" in folder.stderr
    path = users_file(PREDICT)
    for name in ("predic", "predict.nosuch"):
        shown = treadle("explain", f"{path}:{name}")
        assert shown.exit_code == 2
        assert f"has no {name!r}; traced functions: predict; plain functions, which need --spec: plain\n" in shown.stderr
    assert "is a value of type Variable, not a function" in treadle("explain", f"{path}:w").stderr
    assert "it defines no function" in treadle("explain", f"{users_file('', 'empty.py')}:f").stderr


def test_without_specs_it_is_said_how_to_give_them(treadle, users_file):
    path = users_file(PREDICT)
    shown = treadle("explain", f"{path}:plain")
    assert shown.exit_code == 2
    assert f'treadle explain {path}:plain --spec "x=float32[None,3]"' in shown.stderr
    wrong = treadle("explain", f"{path}:plain", "--spec", "nosuch=3")
    assert wrong.exit_code == 2
    assert "plain(x, twice=False) does not take these arguments" in wrong.stderr
    assert "no dtype 'flot'" in treadle("explain", f"{path}:plain", "--spec", "flot[3]").stderr


@pytest.mark.parametrize(
    ("text", "name", "error"),
    [
        ("def f(x):\n    return undefined(x)\n", "f", "NameError: name 'undefined' is not defined"),
        ("1 / 0\n", "f", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(7)\n", "f", "SystemExit: 7"),
        ("import nosuchmodule\n", "f", "ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("def f(x):\n    return x @ x\n", "f", "ShapeError"),
        ("this is no Python\n", "f", "SyntaxError"),
    ],
)
def test_what_the_users_program_raises_keeps_its_own_traceback(treadle, users_file, text, name, error):
    path = users_file(text, "wrong.py")
    shown = treadle("explain", f"{path}:{name}", "--spec", "float32[2,3]")
    assert shown.exit_code == 1
    assert error in shown.stderr
    assert f'File "{path}", line ' in shown.stderr
    assert "treadle_cli" not in shown.stderr
    assert "importlib" not in shown.stderr


def test_a_file_is_not_taken_for_a_module_that_is_there(treadle, users_file):
    path = users_file("import math\nassert math.pi > 3\n@td.function\ndef f():\n    return td.constant(1.0)\n", "math.py")
    shown = treadle("explain", path)
    assert shown.exit_code == 0, shown.stderr


def test_a_file_beside_it_can_be_imported(process, users_file):
    users_file("def double(x):\n    return x * 2\n", "beside.py")
    path = users_file("import beside\n@td.function(input_signature=[td.TensorSpec([])])\ndef f(x):\n    return beside.double(x)\n")
    done = process("explain", path)
    assert done.returncode == 0, done.stderr
    assert "multiply" in done.stdout


def test_without_a_schedule_it_says_so(process, users_file):
    done = process("explain", f"{users_file(PREDICT)}:predict", TREADLE_SCHEDULE="none")
    assert done.returncode == 0, done.stderr
    assert "No pass is scheduled" in done.stdout


@pytest.fixture
def wrong_pass():
    """A scheduled pass that raises."""

    @dataclass(frozen=True)
    class Wrong(Pass):
        name = "wrong"

        def run(self, item, context):
            raise RuntimeError("out of luck [really]")

    before = dict(registry.passes)
    with registry.transaction("test"):
        registry.add_pass(Wrong)
    with settings.override(schedule=["wrong", "prune"]):
        yield
    registry.passes = before


def test_a_pass_that_goes_wrong_is_told_of_in_its_place(treadle, users_file, wrong_pass):
    shown = treadle("explain", f"{users_file(PREDICT)}:predict")
    assert shown.exit_code == 0, shown.stderr
    assert "wrong: rolled back, RuntimeError: out of luck [really]" in shown.stdout
    assert "rolled back" in shown.stdout.rpartition("rewrites by rule")[2]
