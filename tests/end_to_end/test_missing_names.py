"""What is said when a program asks for a name that TensorFlow has and treadle has not."""

from __future__ import annotations

import operator

import pytest

import treadle as td


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("keras", "td.Module"),
        ("keras.layers", "td.Module"),
        ("losses", "td.nn"),
        ("optimizers.Adam", "assign_sub"),
        ("data.Dataset", "iterable"),
        ("compat.v1.layers", "td"),
        ("register_tensor_conversion_function", "__array__"),
        ("saved_model.save", "not part of treadle yet"),
    ],
)
def test_an_attribute_says_that_it_is_missing_and_what_to_use(path, instead):
    with pytest.raises(AttributeError, match=rf"TensorFlow has it, and treadle does not; .*{instead}"):
        operator.attrgetter(path)(td)


@pytest.mark.parametrize("statement", ["import treadle.keras", "from treadle import keras", "from treadle.keras import layers"])
def test_an_import_says_so_too(statement):
    with pytest.raises(ModuleNotFoundError, match=r"TensorFlow has it, and treadle does not; use td\.Module"):
        exec(statement)


@pytest.mark.parametrize("statement", ["import treadle.nonsense", "from treadle import nonsense", "import treadle.nn.relu"])
def test_other_names_get_pythons_own_message(statement):
    with pytest.raises(ImportError, match=r"nonsense|treadle\.nn\.relu"):
        exec(statement)


def test_a_misspelt_name_gets_near_ones():
    with pytest.raises(AttributeError, match=r"did you mean .*reduce_mean"):
        td.reduce_maen  # noqa: B018  the attribute is the test
