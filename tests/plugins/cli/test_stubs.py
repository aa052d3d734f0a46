"""The generated stubs: fresh, the same every time, and right."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def generate(folder):
    done = subprocess.run([sys.executable, "-m", "treadle_cli.stubs", str(folder)], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("stubs"))


@pytest.fixture(scope="module")
def top(stubs):
    return {getattr(node, "name", "") for node in ast.parse(stubs["src/treadle-stubs/__init__.pyi"]).body}


def test_they_come_out_the_same_every_time(stubs, tmp_path):
    assert generate(tmp_path) == stubs


def test_those_in_the_repository_are_fresh(stubs):
    folder = ROOT / "stubs"
    kept = {str(path.relative_to(folder)): path.read_text() for path in sorted((folder / "src" / "treadle-stubs").rglob("*")) if path.is_file()}
    kept["pyproject.toml"] = (folder / "pyproject.toml").read_text()
    differ = sorted(name for name in {*kept, *stubs} if kept.get(name) != stubs.get(name))
    assert not differ, f"run `make stubs`: {', '.join(differ)}"


def test_every_stub_is_python(stubs):
    for name, text in stubs.items():
        if name.endswith(".pyi"):
            ast.parse(text, name)


def test_they_are_partial_so_that_the_kernels_own_types_stay_visible(stubs):
    assert stubs["src/treadle-stubs/py.typed"] == "partial\n"
    assert "src/treadle-stubs/errors.pyi" not in stubs


def test_every_public_name_is_there(stubs):
    import treadle as td
    from treadle import public
    from treadle.registry import registry

    td.plugins.host.load_ops()
    for path in [*public.OWN, *(name for name, entry in registry.names.items() if entry.plugin == "core")]:
        space, _, leaf = path.rpartition(".")
        base = f"src/treadle-stubs/{space.replace('.', '/')}"
        text = stubs.get(f"{base}.pyi") or stubs.get(f"{base}/__init__.pyi".replace("//", "/"))
        if text is None:
            assert space in ("errors", "nest")
            continue
        names = set()
        for node in ast.parse(text).body:
            if isinstance(node, ast.ImportFrom):
                names |= {alias.asname for alias in node.names}
            elif isinstance(node, ast.AnnAssign):
                names.add(node.target.id)
            else:
                names.add(getattr(node, "name", None))
        assert leaf in names, path


def test_files_of_names_that_are_gone_go_too(tmp_path):
    old = tmp_path / "src" / "treadle-stubs" / "gone.pyi"
    old.parent.mkdir(parents=True)
    old.write_text("x: int\n")
    generate(tmp_path)
    assert not old.exists()


def test_a_wrong_argument_is_answered_with_the_usage():
    done = subprocess.run([sys.executable, "-m", "treadle_cli.stubs", "--nosuch"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


class TestSignatures:
    """What is written for one function."""

    @pytest.fixture
    def write(self):
        from treadle_cli.stub_module import Module
        from treadle_cli.stub_signatures import Signatures

        def run(function, name="f", taken=()):
            stub = Module("doc", taken)
            stub.add(name, Signatures().of_function(function, name, stub))
            return stub.text()

        return run

    def test_markers_stars_and_defaults(self, write):
        def f(a, /, b: int = 3, *rest: str, c: float = float("inf"), d: object = object(), **more: bool) -> None: ...

        assert "def f(a: Any, /, b: int = 3, *rest: str, c: float = ..., d: object = ..., **more: bool) -> None: ..." in write(f)

    def test_a_builtin_that_the_namespace_hides_is_named_in_full(self, write):
        def f(flag: bool | None = None) -> list[bool]: ...

        text = write(f, taken=["bool"])
        assert "import builtins\n" in text
        assert "def f(flag: builtins.bool | None = None) -> list[builtins.bool]: ..." in text

    def test_what_cannot_be_said_is_any(self, write):
        def f(a: NoSuchThing, b: Unknown[int]) -> Unknown: ...  # noqa: F821

        assert "def f(a: Any, b: Any) -> Any: ..." in write(f)

    def test_classes_are_imported_from_where_they_are(self, write):
        from treadle.tensorspec import TensorSpec  # noqa: F401

        text = write(_with_a_class)
        assert "from treadle.tensorspec import TensorSpec\n" in text
        assert "def f(spec: TensorSpec) -> TensorSpec: ..." in text

    def test_a_docstring_survives(self, write):
        def f():
            r"""One \d line with "quotes"."""

        namespace = {}
        exec(compile(write(f), "stub", "exec"), namespace)
        assert namespace["f"].__doc__ == f.__doc__


from treadle.tensorspec import TensorSpec  # noqa: E402


def _with_a_class(spec: TensorSpec) -> TensorSpec: ...


def test_results_of_ops_are_tensors_and_what_cannot_be_seen_is_not(stubs):
    text = stubs["src/treadle-stubs/__init__.pyi"]
    assert "def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:" in text
    assert "def unstack(value: Any" in text
    assert "-> Tensor" not in next(line for line in text.splitlines() if line.startswith("def unstack("))


PROGRAM = """
import numpy as np
import treadle as td

x: td.Tensor = td.constant([1.0]) + 1
y: td.Tensor = 2 * td.nn.relu(x) @ x
dtype: td.DType = td.dtypes.float32
cast: td.Tensor = td.dtypes.cast(x, td.bool)
v = td.Variable(x)
z: td.Tensor = v * 2
error: type[ValueError] = td.errors.ShapeError

@td.function(input_signature=[td.TensorSpec([None])])
def f(a: td.Tensor, b: int = 2) -> td.Tensor:
    return a

class Model(td.Module):
    @td.function
    def __call__(self, x: td.Tensor) -> td.Tensor:
        return x

    @td.function
    def step(self, x: td.Tensor) -> td.Tensor:
        return x

r: td.Tensor = f(x, b=3)
s: td.Tensor = Model().step(x)
t: td.Tensor = Model()(x)
f.get_concrete_function()
with td.GradientTape() as tape:
    tape.watch(x)
"""
WRONG = """
import treadle as td
td.nosuch
td.math.nosuch
td.constant([1.0]).nosuch
"""


def test_pyright_sees_what_editors_should(tmp_path):
    pyright = Path(sys.executable).with_name("pyright")
    if not pyright.exists():
        pytest.skip("pyright is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "pyrightconfig.json").write_text('{"reportUnusedExpression": false}')
    done = subprocess.run([str(pyright), "--pythonpath", sys.executable], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert "program.py" not in done.stdout, done.stdout
    assert done.stdout.count("error: ") == 3, done.stdout
