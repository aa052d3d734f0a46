"""The plugin in processes of its own: when LLVM is loaded, what happens where it cannot be used, memory, threads, forks and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

START = """
import ctypes, os, signal, sys, threading, time
import numpy as np
import treadle as td

def depthwise(size=32, taps=(3, 3), channels=32):
    y = td.nn.depthwise_conv2d(td.ones([8, size, size, channels]), td.ones([*taps, channels, 1]), [1, 1, 1, 1], "SAME")
    assert y.numpy()[0, 10, 10, 0] == taps[0] * taps[1], y.numpy()[0, 10, 10, 0]

def state():
    record = td.plugins.host.record("treadle.devices", "cpu.jit")
    return record.state, record.cause
"""


def run(program, folder, *options, **environment):
    """Standard output and error of a program, which must end well."""
    env = {**os.environ, "TREADLE_CONFIG": "none", **environment}
    command = [sys.executable, *options, "-c", START + textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, check=False, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip(), done.stderr


def test_llvm_is_loaded_when_there_is_work_that_is_worth_it(tmp_path):
    program = """
        td.nn.depthwise_conv2d(td.ones([1, 4, 4, 3]), td.ones([3, 3, 3, 1]), [1, 1, 1, 1], "SAME")
        print(state()[0], "llvmlite" in sys.modules)
        depthwise()
        print(state()[0], "llvmlite" in sys.modules)
    """
    assert run(program, tmp_path) == ("loaded False\nloaded True", "")


def test_the_plugin_can_be_disabled(tmp_path):
    (tmp_path / "treadle.toml").write_text('[plugins]\ndisabled = ["cpu.jit"]\n')
    out, _ = run("depthwise(); print(state()[0], 'llvmlite' in sys.modules)", tmp_path, TREADLE_CONFIG=str(tmp_path / "treadle.toml"))
    assert out == "disabled False"


BROKEN = {
    "llvmlite is broken": ("sys.modules['llvmlite'] = None", "ModuleNotFoundError"),
    "LLVM fails to compile": (
        "from treadle_jit import machine; machine.compiled = lambda *a: (_ for _ in ()).throw(RuntimeError('no such target'))",
        "RuntimeError: no such target",
    ),
    "its kernels cannot be imported": ("sys.modules['treadle_jit.kernels.convolution'] = None", "cannot be imported"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_without_llvm_one_warning_says_so_and_the_array_kernels_do_the_work(how, tmp_path):
    breaking, cause = BROKEN[how]
    program = f"""
        {breaking}
        depthwise()
        depthwise(taps=(5, 5))
        print(state())
    """
    out, err = run(program, tmp_path)
    assert out.startswith("('failed'") and cause in out
    assert err.count("PluginWarning") == 1 and "goes on without plugin 'cpu.jit' (treadle-jit" in err and cause in err


def test_failures_can_be_exceptions(tmp_path):
    (tmp_path / "treadle.toml").write_text("[plugins]\nstrict = true\n")
    program = """
        sys.modules["llvmlite"] = None
        try:
            depthwise()
        except Exception as error:
            print(type(error).__name__, error)
        depthwise()
    """
    out, _ = run(program, tmp_path, TREADLE_CONFIG=str(tmp_path / "treadle.toml"))
    assert "'cpu.jit'" in out and "llvmlite" in out


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_where_nothing_written_may_be_run_the_array_kernels_do_the_work(tmp_path):
    program = """
        forbidden = ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0  # PR_SET_MDWE
        depthwise()
        print(forbidden, state()[0])
    """
    out, err = run(program, tmp_path)
    if out == "False loaded":
        pytest.skip("this kernel knows no PR_SET_MDWE")
    assert out == "True failed" and "PluginWarning" in err


def test_threads_compile_a_function_once(tmp_path):
    program = """
        from treadle_jit import functions, machine, windows
        depthwise(taps=(1, 5))
        before, barrier, errors = len(machine._engines), threading.Barrier(8), []

        def work():
            try:
                barrier.wait()
                for taps in ((2, 2), (2, 3), (3, 2)):
                    depthwise(taps=taps)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(len(machine._engines) - before, errors)
    """
    assert run(program, tmp_path)[0] == "3 []"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_another_thread_compiles(tmp_path):
    program = """
        depthwise(taps=(1, 5))
        shapes = [(a, b) for a in range(2, 5) for b in range(2, 6)]
        thread = threading.Thread(target=lambda: [depthwise(taps=s) for s in shapes])
        thread.start()
        forks = 0
        while thread.is_alive():
            child = os.fork()
            if not child:
                depthwise(taps=(1, 7))
                os._exit(0)
            deadline = time.time() + 30
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                if time.time() > deadline:
                    os.kill(child, signal.SIGKILL)
                    sys.exit("the child hangs")
                time.sleep(0.002)
            forks += 1
        print(forks > 0)
    """
    assert run(program, tmp_path, "-W", "ignore")[0] == "True"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("delay", [0.003, 0.01, 0.02])
def test_an_interrupted_compilation_harms_no_later_one(delay, tmp_path):
    program = f"""
        depthwise(taps=(1, 5))

        def interrupt(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, interrupt)
        hits = 0
        for taps in [(a, b) for a in range(2, 6) for b in range(2, 5)]:
            try:
                signal.setitimer(signal.ITIMER_REAL, {delay})
                depthwise(taps=taps)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                hits += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        for taps in [(a, b) for a in range(2, 6) for b in range(2, 5)]:
            depthwise(taps=taps)
        print(hits > 0)
    """
    assert run(program, tmp_path)[0] == "True"


GUARDED = """
from treadle.runtime import workers
from treadle_array.kernels import convolution as plain
from treadle_array.kernels.window import geometry
from treadle_jit import functions, machine, windows
from treadle_jit.kernels import convolution

width = int(sys.argv[1])
if width < machine.register_bytes():
    machine.register_bytes = lambda: width
windows.LEAST, windows.LEAST_CHANNELS, workers.LEAST = 0, 1, 1
np.seterr(all="ignore")
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE = 4096


class Guarded:
    \"\"\"An array that begins right after a page that nobody may touch, or ends right before one.\"\"\"

    def __init__(self, like, at_end):
        pages = max(1, -(-like.nbytes // PAGE))
        self.size = (pages + 2) * PAGE
        self.base = libc.mmap(None, self.size, 3, 0x22, -1, 0)
        libc.mprotect(self.base, PAGE, 0)
        libc.mprotect(self.base + (pages + 1) * PAGE, PAGE, 0)
        start = self.base + (pages + 1) * PAGE - like.nbytes if at_end else self.base + PAGE
        self.array = np.frombuffer((ctypes.c_char * like.nbytes).from_address(start), like.dtype).reshape(like.shape)
        self.array[...] = like

    def free(self):
        libc.munmap(self.base, self.size)


rng, done = np.random.default_rng(int(sys.argv[2])), 0
while done < 150:
    rank = int(rng.integers(1, 3))
    draw = lambda low, high: tuple(int(n) for n in rng.integers(low, high, rank))
    sizes, taps, strides, dilations = draw(1, 9), draw(1, 5), draw(1, 4), draw(1, 4)
    padding = "SAME" if rng.random() < 0.4 else tuple((int(a), int(b)) for a, b in rng.integers(0, 9, (rank, 2)))
    channels, batch = int(rng.integers(2, 20)), int(rng.integers(1, 4))
    dtype = rng.choice([np.float32, np.float64])
    inner, outer = (1, channels * int(rng.integers(1, 3))) if rng.random() < 0.5 else (channels, int(rng.integers(1, 20)))
    attrs = {"strides": strides, "padding": padding, "dilations": dilations}
    workers.set_count(int(rng.integers(1, 4)))
    make = lambda *shape: rng.normal(size=shape).astype(dtype)
    try:
        counts, _ = geometry(sizes, taps, strides, dilations, padding)
    except ValueError:
        continue
    x, w, g = make(batch, *sizes, channels), make(*taps, inner, outer), make(batch, *counts, outer)
    guards = [Guarded(a, rng.random() < 0.5) for a in (x, w, g, g, x)]
    gx, gw, gg, y, dx = (guard.array for guard in guards)
    tolerance = {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(convolution.conv(np)(gx, gw, **attrs, out=y), plain.conv(np)(x, w, **attrs), **tolerance)
    got = convolution.conv_backprop_input(np)(x.shape, gw, gg, **attrs, out=dx)
    np.testing.assert_allclose(got, plain.conv_backprop_input(np)(x.shape, w, g, **attrs), **tolerance)
    got = convolution.conv_backprop_filter(np)(gx, w.shape, gg, **attrs)
    np.testing.assert_allclose(got, plain.conv_backprop_filter(np)(x, w.shape, g, **attrs), **tolerance)
    del gx, gw, gg, y, dx, got
    for guard in guards:
        guard.array = None
        guard.free()
    done += 1
print(done, len(functions._made) > 3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the numbers of mmap are Linux's")
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_no_geometry_reads_or_writes_outside_its_arrays(vector_bytes, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", START + GUARDED, str(vector_bytes), str(vector_bytes)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert done.stdout.strip() == "150 True"
