"""The sample plugins, built and installed with pip into an environment of their own, and used from a user's program."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).parents[2]
OURS = ["kernel", "plugins/ops", "plugins/array", "plugins/cpu", "plugins/jit", "plugins_passes"]
FIXTURES = ["plugin_good", "plugin_broken", "plugin_halfway", "plugin_taken", "plugin_other_kernel"]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment that has treadle's wheels and the sample plugins', made without any index."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages") if sys.platform != "win32" else folder.glob("Lib/site-packages")
    here = Path(numpy.__file__).parents[1]
    (site / "libraries.pth").write_text(f"{here}\n")  # NumPy, SciPy, pluggy: below on the path, and only these are used from there
    wheels = folder / "wheels"
    sources = [ROOT / p for p in OURS] + [ROOT / "tests" / "fixtures" / f for f in FIXTURES]
    build = ["wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(wheels)]
    subprocess.run([sys.executable, "-m", "pip", *build, *map(str, _copies(sources, folder / "sources"))], check=True)
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(site), *map(str, wheels.glob("*.whl"))]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def _copies(sources, target):
    """Copies without build outputs, so that nothing is written into the checkout."""
    import shutil

    for source in sources:
        copy = target / source.name
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"), symlinks=False)
        yield copy


def run(python, program, tmp_path, **environment):
    """Run a program; gives back what it printed, standard error last."""
    file = tmp_path / "program.py"
    file.write_text("import treadle as td\n" + textwrap.dedent(program))
    env = {"PATH": "/usr/bin:/bin", "TREADLE_CONFIG": "none", **environment}
    return subprocess.run([str(python), str(file)], capture_output=True, text=True, env=env, cwd=tmp_path, timeout=60)


def test_treadle_comes_from_the_new_environment(python, tmp_path):
    done = run(python, "print(td.__file__)", tmp_path)
    assert str(python.parent.parent) in done.stdout, done.stderr


def test_the_op_works_eagerly_traced_and_in_gradients(python, tmp_path):
    program = """
        x = td.constant([1.0, 2.0])
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.function(td.good.cube)(x)
        print(y.numpy().tolist(), td.good.cube(x).numpy().tolist(), tape.gradient(y, x).numpy().tolist())
    """
    done = run(python, program, tmp_path)
    assert done.stdout.strip() == "[1.0, 8.0] [1.0, 8.0] [3.0, 12.0]", done.stderr


def test_the_pass_runs_when_the_schedule_names_it_with_its_option(python, tmp_path):
    (tmp_path / "treadle.toml").write_text('[optimizer]\nschedule = ["good-pass"]\n[optimizer.good-pass]\nmost = 1\n')
    program = """
        f = td.function(lambda x: (x + x) + (x + x))
        x = td.constant(1.0)
        print(float(f(x)), f.get_concrete_function(x).atomic.executable().reports[0].rewrites)
    """
    done = run(python, program, tmp_path, TREADLE_CONFIG=str(tmp_path / "treadle.toml"))
    assert done.stdout.strip() == "4.0 {'double': 1}", done.stderr


def test_the_device_has_memory_of_its_own(python, tmp_path):
    program = """
        import numpy as np
        with td.device("/SIM:1"):
            x = td.constant([[1.0, 2.0], [3.0, 4.0]])
            y = td.function(lambda x: td.tanh(x) @ x + 1.0)(x)
        z = td.good.cube(x) - x
        print(x.device, y.device, z.device, type(z._buffer).__name__)
        print(np.array_equal(z.numpy(), [[0, 6], [24, 60]]), z.cpu().device, td.constant(1.0).device)
        print((x + td.constant(1.0)).device)
    """
    done = run(python, program, tmp_path)
    assert done.stdout.splitlines() == ["/SIM:1 /SIM:1 /SIM:1 SimArray", "True /CPU:0 /CPU:0", "/SIM:1"], done.stderr


@pytest.mark.parametrize(
    ("namespace", "cause"),
    [
        ("broken", "libbroken.so.1"),
        ("halfway", "licence server"),
        ("taken", "registers op 'add', which plugin 'core' already registered"),
        ("other_kernel", "is built for treadle-kernel"),
    ],
)
def test_a_bad_plugin_is_reported_with_its_cause_and_the_program_goes_on(python, tmp_path, namespace, cause):
    program = f"""
        try:
            td.{namespace}.anything
        except AttributeError as error:
            print("asked:", error)
        from treadle.registry import registry
        print(float(td.add(td.constant(1.0), 2.0)), [n for n in ("halfway.same", "taken.mine") if n in registry.ops])
    """
    done = run(python, program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert cause in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[1] == "3.0 []"
    assert cause in done.stderr
    assert done.stderr.count("PluginWarning") == 1


def test_the_strict_switch_makes_it_an_exception(python, tmp_path):
    done = run(python, "td.broken.anything", tmp_path, TREADLE_STRICT_PLUGINS="1")
    assert done.returncode == 1
    assert "PluginError" in done.stderr
    assert "libbroken.so.1" in done.stderr
