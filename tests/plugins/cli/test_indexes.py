"""The indexes of our own plugins name everything that their modules declare."""

from __future__ import annotations

import pytest

from treadle_cli import indexes


@pytest.mark.parametrize("package", indexes.PACKAGES)
def test_the_index_in_the_repository_is_fresh(package):
    assert indexes.path(package).read_text() == indexes.text(package), "run `make indexes`"
