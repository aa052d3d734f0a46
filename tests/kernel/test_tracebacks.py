"""Filtering of tracebacks: which frames go, which stay, and what of the exception is left alone."""

from __future__ import annotations

import traceback

import pytest

from treadle import tracebacks
from treadle.tracebacks import show_users_lines


def ours(function):
    """A function as if it were one of treadle's."""
    return type(function)(function.__code__, {**function.__globals__, "__name__": "treadle.somewhere"}, function.__name__)


def entrance(function):
    try:
        return function()
    except Exception as error:
        show_users_lines(error)
        raise


def users():
    return inner(lambda: 1 // 0)


def wrong():
    raise KeyError("ours alone")


inner = ours(lambda function: function())
enter = ours(entrance)


def names_of(error):
    return [entry.name for entry in traceback.extract_tb(error.__traceback__)][1:]


def test_the_users_frames_stay_in_their_order():
    with pytest.raises(ZeroDivisionError) as caught:
        enter(users)
    assert names_of(caught.value) == ["users", "<lambda>"]


def test_an_exception_of_ours_alone_begins_where_the_user_called():
    with pytest.raises(KeyError) as caught:
        enter(ours(wrong))
    assert names_of(caught.value) == []


def test_what_led_to_it_is_filtered_and_stays_linked():
    def chained():
        try:
            users()
        except ZeroDivisionError as error:
            raise ValueError("chained") from error

    with pytest.raises(ValueError, match="chained") as caught:
        enter(chained)
    cause = caught.value.__cause__
    assert cause is caught.value.__context__
    assert [entry.name for entry in traceback.extract_tb(cause.__traceback__)] == ["chained", "users", "<lambda>"]


def test_a_circle_of_causes_ends():
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    show_users_lines(first)
    assert first.__cause__ is second


def test_switched_off_everything_stays():
    tracebacks.set_filtering(False)
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            enter(users)
    finally:
        tracebacks.set_filtering(True)
    assert names_of(caught.value) == ["entrance", "users", "<lambda>", "<lambda>"]
