"""Work of one op on several threads: every part is done once, in any state of the pool, and what fails is raised when all is quiet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from treadle.runtime import workers


@pytest.fixture
def threads():
    yield workers.set_count
    workers.set_count(0)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_come_in_the_order_of_the_parts(threads, count):
    threads(count)
    for number in (1, 2, 7):
        assert workers.together(lambda i: i * i, range(number)) == [i * i for i in range(number)]


def test_two_threads_work_at_the_same_time(threads):
    threads(2)
    barrier = threading.Barrier(2, timeout=10)
    assert len(set(workers.together(lambda _: (barrier.wait(), threading.get_ident())[1], range(2)))) == 2


def test_one_thread_is_the_callers(threads):
    threads(1)
    assert set(workers.together(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}


def test_the_caller_takes_what_no_worker_has_begun(threads):
    threads(2)
    release, begun = threading.Event(), threading.Event()

    def occupied(i):
        if i:
            begun.set()
            release.wait(10)
        else:
            begun.wait(10)

    other = threading.Thread(target=workers.together, args=(occupied, range(2)))
    other.start()
    begun.wait(10)
    try:
        assert set(workers.together(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}
    finally:
        release.set()
        other.join()


def test_a_call_inside_a_worker_waits_for_nobody(threads):
    threads(2)
    assert workers.together(lambda i: workers.together(lambda j: 10 * i + j, range(3)), range(3)) == [[0, 1, 2], [10, 11, 12], [20, 21, 22]]


def test_an_error_is_raised_when_the_other_parts_are_done(threads):
    threads(2)
    barrier, done = threading.Barrier(2, timeout=10), []

    def work(i):
        barrier.wait()  # both parts have begun
        if i == 0:
            raise ValueError("part 0")
        time.sleep(0.05)
        done.append(i)

    with pytest.raises(ValueError, match="part 0"):
        workers.together(work, range(2))
    assert done == [1]

    def late(i):
        if i == 1:
            raise ValueError("part 1")

    with pytest.raises(ValueError, match="part 1"):
        workers.together(late, range(4))


def test_numpys_warnings_are_off_in_the_workers(threads):
    threads(2)
    barrier = threading.Barrier(2, timeout=10)

    def divide(i):
        barrier.wait()
        return np.float32(1) / np.zeros(2, np.float32) if i else None

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(workers.together(divide, range(2))[1]).all()


def test_shares_are_as_many_as_are_worth_it_and_cover_everything(threads):
    threads(4)
    assert workers.shares(8, workers.LEAST) == [slice(0, 8)]
    assert workers.shares(8, 2 * workers.LEAST) == [slice(0, 4), slice(4, 8)]
    assert workers.shares(3, 100 * workers.LEAST) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert workers.shares(10, 100 * workers.LEAST) == [slice(0, 2), slice(2, 5), slice(5, 7), slice(7, 10)]
    assert workers.shares(0, 100 * workers.LEAST) == [slice(0, 0)]
    threads(1)
    assert workers.shares(10, 100 * workers.LEAST) == [slice(0, 10)]


def test_a_negative_count_is_refused_and_changes_nothing(threads):
    threads(3)
    with pytest.raises(ValueError, match="cannot use -1 threads"):
        threads(-1)
    assert workers.get_count() == workers.available() == 3


@pytest.mark.parametrize(("text", "want"), [("3", 3), ("2,4", 2), ("", None), ("0", None), ("many", None)])
def test_the_environment_has_a_say(monkeypatch, threads, text, want):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    workers._default.cache_clear()
    try:
        assert workers.available() == (want or len(os.sched_getaffinity(0)))
    finally:
        workers._default.cache_clear()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_of_a_fork_has_workers_of_its_own(threads):
    threads(2)
    workers.together(lambda i: i, range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while threads run, which is what is tested
        child = os.fork()
    if child == 0:
        barrier = threading.Barrier(2, timeout=10)
        try:
            workers.together(lambda _: barrier.wait(), range(2))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_pool_costs_nothing_before_it_is_needed():
    code = "import sys, treadle.runtime.workers; sys.exit('concurrent.futures.thread' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_at_exit_the_caller_does_it_all():
    code = (
        "import atexit, treadle.runtime.workers as w\n"
        "w.set_count(2)\n"
        "w.together(str, range(2))\n"
        "atexit.register(lambda: print(w.together(str, range(3))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['0', '1', '2']", done.stderr


@pytest.mark.parametrize("whose", [0, 1])
def test_an_interrupt_ends_the_work_and_leaves_the_workers_well(threads, whose):
    threads(2)
    barrier = threading.Barrier(2, timeout=10)

    def work(i):
        barrier.wait()
        if i == whose:
            raise KeyboardInterrupt
        return i

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            workers.together(work, range(2))
    assert workers.together(lambda i: barrier.wait() is not None, range(2)) == [True, True]


INTERRUPTED = """
import signal
import numpy as np
from treadle.runtime import workers

workers.set_count(2)


def interrupt(*_):
    raise KeyboardInterrupt


def forever():
    while True:
        workers.together(lambda i: np.ones(1000).sum(), range(3))


signal.signal(signal.SIGALRM, interrupt)
caught = 0
for delay in np.linspace(1e-3, 6e-3, 40):
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        forever()
    except KeyboardInterrupt:
        caught += 1
print(caught, workers.together(lambda i: i, range(3)))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_a_signal_at_any_moment_gets_through():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60)
    assert done.stdout == "40 [0, 1, 2]\n", done.stderr
