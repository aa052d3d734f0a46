"""The recorded vectors of TensorFlow 2.21, eager and traced: all of them must agree."""

from __future__ import annotations

from pathlib import Path

import check
import numpy as np
import pytest

import treadle as td

FOLDER = Path(__file__).parent
INDEX, FILES = check.load(FOLDER)
OPS = sorted({(c["group"], c["op"]) for c in INDEX["cases"]})


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("mode", ["eager", "traced"])
@pytest.mark.parametrize(("group", "op"), OPS, ids=[f"{g}-{o}" for g, o in OPS])
def test_an_op_computes_what_tensorflow_computes(group, op, mode):
    traced = mode == "traced"
    problems = []
    for case in INDEX["cases"]:
        if case["group"] == group and case["op"] == op and not (traced and case.get("eager_only")):
            status, detail = check.check_case(td, INDEX, case, FILES[group], traced)
            if status != "passed":
                problems.append(f"{case['id']} {status}: {detail}")
    assert not problems, "\n".join(problems)


def test_public_aliases_are_the_same_objects():
    for op, aliases in INDEX["aliases"].items():
        for alias in aliases:
            assert check.resolve(td, alias) is check.resolve(td, op), f"{alias} and {op}"
