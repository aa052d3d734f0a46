"""What settings are in force, where they came from, and what a wrong one says."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from treadle import settings
from treadle.errors import ConfigError

VARIABLES = (
    "TREADLE_CONFIG",
    "TREADLE_SCHEDULE",
    "TREADLE_ROUNDS",
    "TREADLE_VERIFY",
    "TREADLE_FAST_MATH",
    "TREADLE_DISABLED_PLUGINS",
    "TREADLE_STRICT_PLUGINS",
    "TREADLE_DEVICE",
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current directory and no variable of ours; nothing cached before or after."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    settings.reset()
    yield tmp_path
    settings.reset()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def message(*args, **kwargs) -> str:
    with pytest.raises(ConfigError) as caught:
        settings.load(*args, **kwargs)
    return str(caught.value)


# --- sources


def test_without_any_source_the_defaults_hold():
    s = settings.load(environ={})
    assert (s.schedule, s.rounds, s.verify, s.fast_math) == (None, 4, "off", False)
    assert (dict(s.pass_options), s.disabled, s.strict, s.device) == ({}, (), False, "/CPU:0")
    assert set(s.origin.values()) == {"default"}
    assert set(s.origin) == {
        "optimizer.schedule",
        "optimizer.rounds",
        "optimizer.verify",
        "optimizer.fast_math",
        "plugins.disabled",
        "plugins.strict",
        "device.default",
        "function.most_traces",
    }


def test_every_key_is_read_from_the_file(folder):
    path = write(
        folder / "treadle.toml",
        """
        [optimizer]
        schedule = ["one", "two"]
        rounds = 2
        verify = "numeric"
        fast_math = true
        [optimizer.one]
        max_bytes = 65_536
        anything = [1, "raw"]
        [plugins]
        disabled = ["cuda"]
        strict = true
        [device]
        default = "/GPU:1"
        [function]
        most_traces = 8
        """,
    )
    s = settings.load(environ={})
    assert (s.schedule, s.rounds, s.verify, s.fast_math) == (("one", "two"), 2, "numeric", True)
    assert (s.disabled, s.strict, s.device, s.most_traces) == (("cuda",), True, "/GPU:1", 8)
    assert s.pass_options["one"].origin == str(path)
    assert dict(s.pass_options["one"].options) == {"max_bytes": 65536, "anything": [1, "raw"]}
    assert s.origin["optimizer.one"] == str(path)
    assert set(s.origin.values()) == {str(path)}


def test_the_nearest_file_upward_wins(folder):
    write(folder / "treadle.toml", "[optimizer]\nrounds = 1")
    near = write(folder / "a" / "treadle.toml", "[optimizer]\nrounds = 2")
    deep = folder / "a" / "b" / "c"
    deep.mkdir(parents=True)
    s = settings.load(str(deep), {})
    assert (s.rounds, s.origin["optimizer.rounds"]) == (2, str(near))


def test_in_one_folder_treadle_toml_wins_over_pyproject(folder):
    write(folder / "treadle.toml", "[optimizer]\nrounds = 1")
    write(folder / "pyproject.toml", "[tool.treadle.optimizer]\nrounds = 2")
    assert settings.load(environ={}).rounds == 1


def test_a_pyproject_with_the_table_is_read(folder):
    path = write(folder / "pyproject.toml", "[tool.treadle.optimizer]\nrounds = 2")
    s = settings.load(environ={})
    assert (s.rounds, s.origin["optimizer.rounds"]) == (2, str(path))


@pytest.mark.parametrize("text", ["[tool.other]\nx = 1", "[project]\ndependencies = ['treadle']", "", "not = = toml"])
def test_a_pyproject_without_the_table_is_skipped(folder, text):
    write(folder / "treadle.toml", "[optimizer]\nrounds = 7")
    write(folder / "inner" / "pyproject.toml", text)
    assert settings.load(str(folder / "inner"), {}).rounds == 7


def test_an_empty_table_in_pyproject_ends_the_search(folder):
    write(folder / "treadle.toml", "[optimizer]\nrounds = 7")
    write(folder / "inner" / "pyproject.toml", "[tool.treadle]")
    assert settings.load(str(folder / "inner"), {}).rounds == 4


def test_the_named_file_is_read_instead_of_the_nearest(folder):
    write(folder / "treadle.toml", "[optimizer]\nrounds = 1\nfast_math = true")
    named = write(folder / "elsewhere" / "mine.toml", "[optimizer]\nrounds = 2")
    for spelling in (str(named), "elsewhere/mine.toml"):
        s = settings.load(environ={"TREADLE_CONFIG": spelling})
        assert (s.rounds, s.fast_math, s.origin["optimizer.rounds"]) == (2, False, str(named))


@pytest.mark.parametrize(("value", "rounds"), [("", 1), ("none", 4), ("/dev/null", 4)])
def test_the_named_file_may_be_none(folder, value, rounds):
    write(folder / "treadle.toml", "[optimizer]\nrounds = 1")
    assert settings.load(environ={"TREADLE_CONFIG": value}).rounds == rounds


def test_a_named_file_that_is_missing_is_an_error(folder):
    text = message(environ={"TREADLE_CONFIG": "gone.toml"})
    assert "TREADLE_CONFIG is 'gone.toml'" in text
    assert str(folder / "gone.toml") in text


def test_a_named_pyproject_without_the_table_is_an_error(folder):
    path = write(folder / "pyproject.toml", "[project]")
    assert f"{path} has no table [tool.treadle]" in message(environ={"TREADLE_CONFIG": str(path)})


def test_a_named_folder_is_an_error_and_no_traceback(folder):
    assert f"{folder}: the configuration file cannot be read" in message(environ={"TREADLE_CONFIG": str(folder)})


def test_the_environment_overrides_the_file_key_by_key(folder):
    path = write(folder / "treadle.toml", "[optimizer]\nrounds = 1\nverify = 'structure'\nschedule = ['x']")
    s = settings.load(
        environ={
            "TREADLE_SCHEDULE": "a, b,c",
            "TREADLE_ROUNDS": "9",
            "TREADLE_FAST_MATH": "1",
            "TREADLE_DISABLED_PLUGINS": "p,q",
            "TREADLE_STRICT_PLUGINS": "1",
            "TREADLE_DEVICE": "/GPU:0",
        }
    )
    assert (s.schedule, s.rounds, s.verify, s.fast_math) == (("a", "b", "c"), 9, "structure", True)
    assert (s.disabled, s.strict, s.device) == (("p", "q"), True, "/GPU:0")
    assert s.origin["optimizer.rounds"] == "environment TREADLE_ROUNDS"
    assert s.origin["optimizer.verify"] == str(path)


def test_an_empty_variable_counts_as_unset_and_none_is_the_empty_list(folder):
    write(folder / "treadle.toml", "[optimizer]\nschedule = ['x']\n[plugins]\ndisabled = ['p']")
    assert settings.load(environ={"TREADLE_SCHEDULE": "", "TREADLE_ROUNDS": " "}).schedule == ("x",)
    s = settings.load(environ={"TREADLE_SCHEDULE": "none", "TREADLE_DISABLED_PLUGINS": "none"})
    assert (s.schedule, s.disabled) == ((), ())


@pytest.mark.parametrize(("text", "value"), [("true", True), ("ON", True), ("0", False), ("no", False)])
def test_a_switch_in_the_environment_takes_the_usual_words(text, value):
    assert settings.load(environ={"TREADLE_FAST_MATH": text}).fast_math is value


def test_an_empty_schedule_is_not_the_default_schedule(folder):
    write(folder / "treadle.toml", "[optimizer]\nschedule = []")
    assert settings.load(environ={}).schedule == ()


# --- what a wrong file says


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[optimiser]", "treadle.toml: unknown table [optimiser]; tables: optimizer, plugins, device, function; did you mean 'optimizer'?"),
        (
            "fast_math = true",
            "treadle.toml: unknown key 'fast_math' = True; tables: optimizer, plugins, device, function; did you mean fast_math in [optimizer]?",
        ),
        ("optimizer = 3", "treadle.toml [optimizer]: optimizer is 3 (int), expected a table"),
        (
            "[optimizer]\nround = 3",
            (
                "treadle.toml [optimizer]: unknown key 'round' = 3; keys: schedule, rounds, verify, fast_math;"
                " options of a pass go in [optimizer.<pass-name>]; did you mean 'rounds'?"
            ),
        ),
        ("[plugins]\ndisable = ['a']", "treadle.toml [plugins]: unknown key 'disable' = ['a']; keys: disabled, strict; did you mean 'disabled'?"),
        ("[plugins.disable]", "treadle.toml [plugins]: unknown key 'disable' = {}"),
        ("[device]\nname = 'x'", "treadle.toml [device]: unknown key 'name' = 'x'; keys: default"),
        ("[optimizer]\nrounds = 'four'", "treadle.toml [optimizer]: rounds is 'four' (str), expected int, at least 1"),
        ("[optimizer]\nrounds = true", "treadle.toml [optimizer]: rounds is True (bool), expected int, at least 1"),
        ("[optimizer]\nrounds = 4.0", "rounds is 4.0 (float), expected int"),
        ("[optimizer]\nrounds = 0", "rounds is 0 (int), expected int, at least 1"),
        ("[optimizer.rounds]\nx = 1", "rounds is {'x': 1} (table), expected int"),
        (
            "[optimizer]\nverify = 'numerik'",
            "treadle.toml [optimizer]: verify is 'numerik' (str), expected one of off, structure, numeric; did you mean 'numeric'?",
        ),
        ("[optimizer]\nverify = false", "verify is False (bool), expected one of off, structure, numeric"),
        ("[optimizer]\nfast_math = 1", "fast_math is 1 (int), expected bool: true or false"),
        ("[optimizer]\nschedule = 'a'", "schedule is 'a' (str), expected a list of str"),
        ("[optimizer]\nschedule = ['a', 3]", "schedule[1] is 3 (int), expected str in ['a', 3]"),
        ("[optimizer]\nschedule = ['a', '']", "schedule[1] is '', expected a name in ['a', '']"),
        ("[optimizer]\nschedule = ['a', 'b', 'a']", "schedule has 'a' twice, at [0] and [2], expected it once"),
        ("[plugins]\ndisabled = ['a', 'a']", "treadle.toml [plugins]: disabled has 'a' twice"),
        ("[plugins]\nstrict = 'yes'", "strict is 'yes' (str), expected bool"),
        ("[device]\ndefault = ''", "default is '' (str), expected the name of a device, such as '/CPU:0'"),
        ("[optimizer]\nrounds = = 2", "treadle.toml, line 2: not valid TOML: "),
        ("[optimizer]\n\nschedule = ['a',", "treadle.toml, line 3: not valid TOML: "),
    ],
)
def test_a_wrong_file_names_itself_the_table_the_key_and_both_values(folder, text, said):
    path = write(folder / "treadle.toml", text)
    got = message(environ={})
    assert said in got
    assert got.startswith(str(path))


def test_a_wrong_pyproject_names_the_table_as_it_stands_there(folder):
    path = write(folder / "pyproject.toml", "[tool.treadle.optimizer]\nrounds = 0")
    assert message(environ={}).startswith(f"{path} [tool.treadle.optimizer]: rounds is 0")
    write(path, "[tool.treadle.optimiser]")
    assert message(environ={}).startswith(f"{path} [tool.treadle]: unknown table [optimiser]")
    write(path, "[tool]\ntreadle = 3")
    assert message(environ={}).startswith(f"{path} [tool]: treadle is 3 (int), expected a table")


def test_a_file_that_is_not_utf8_names_the_line(folder):
    (folder / "treadle.toml").write_bytes(b"[optimizer]\n# caf\xe9\n")
    assert "treadle.toml, line 2: not valid TOML: byte 0xe9 is not UTF-8" in message(environ={})


def test_a_removed_current_directory_has_no_file(folder, monkeypatch):
    gone = folder / "gone"
    gone.mkdir()
    named = write(folder / "named.toml", "[optimizer]\nrounds = 2")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert settings.load(environ={}).rounds == 4
    assert settings.load(environ={"TREADLE_CONFIG": str(named)}).rounds == 2
    assert "there is no file" in message(environ={"TREADLE_CONFIG": "x.toml"})


def test_a_byte_order_mark_does_no_harm(folder):
    (folder / "treadle.toml").write_bytes(b"\xef\xbb\xbf[optimizer]\nrounds = 3\n")
    assert settings.load(environ={}).rounds == 3


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("TREADLE_ROUNDS", "four", "environment TREADLE_ROUNDS [optimizer]: rounds is 'four' (str), expected int"),
        ("TREADLE_VERIFY", "on", "environment TREADLE_VERIFY [optimizer]: verify is 'on' (str), expected one of off"),
        ("TREADLE_FAST_MATH", "maybe", "environment TREADLE_FAST_MATH [optimizer]: fast_math is 'maybe'"),
        ("TREADLE_SCHEDULE", "a,,b", "environment TREADLE_SCHEDULE [optimizer]: schedule[1] is ''"),
        ("TREADLE_SCHEDULE", "a,a", "environment TREADLE_SCHEDULE [optimizer]: schedule has 'a' twice"),
        ("TREADLE_STRICT_PLUGINS", "2", "environment TREADLE_STRICT_PLUGINS [plugins]: strict is '2'"),
    ],
)
def test_a_wrong_variable_names_itself(variable, text, said):
    assert message(environ={variable: text}).startswith(said)


# --- the settings of the process


def test_current_is_loaded_once_and_reset_forgets_it(folder, monkeypatch):
    first = settings.current()
    monkeypatch.setenv("TREADLE_ROUNDS", "2")
    assert settings.current() is first
    settings.reset()
    assert settings.current().rounds == 2


def test_a_failed_load_is_tried_again(folder):
    path = write(folder / "treadle.toml", "[optimizer]\nrounds = 0")
    with pytest.raises(ConfigError):
        settings.current()
    path.write_text("[optimizer]\nrounds = 5")
    assert settings.current().rounds == 5


def test_many_threads_load_once(monkeypatch):
    calls = []
    real = settings.load
    monkeypatch.setattr(settings, "load", lambda: calls.append(1) or real())
    barrier = threading.Barrier(8)
    seen = []

    def work():
        barrier.wait()
        seen.append(settings.current())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), len(seen), len({id(s) for s in seen})) == (1, 8, 1)


def test_settings_cannot_be_changed_in_place():
    s = settings.current()
    with pytest.raises(AttributeError):
        s.rounds = 1
    with pytest.raises(TypeError):
        s.origin["optimizer.rounds"] = "me"
    with pytest.raises(TypeError):
        s.pass_options["x"] = None


def test_override_holds_at_once_and_without_with():
    settings.override(rounds=1, schedule=["a"], disabled=["p"], device="/GPU:0", strict=True)
    s = settings.current()
    assert (s.rounds, s.schedule, s.disabled, s.device, s.strict) == (1, ("a",), ("p",), "/GPU:0", True)
    assert s.origin["optimizer.rounds"] == s.origin["device.default"] == "code"
    assert s.origin["optimizer.verify"] == "default"


def test_leaving_the_with_restores_also_after_an_error():
    before = settings.current()
    with settings.override(rounds=1) as s:
        assert s is settings.current()
        assert s.rounds == 1
    assert settings.current() == before
    with pytest.raises(KeyError), settings.override(rounds=1):
        raise KeyError
    assert settings.current() == before


def test_overrides_nest_and_may_end_in_any_order():
    outer = settings.override(rounds=1, fast_math=True)
    inner = settings.override(rounds=2)
    outer.__exit__(None, None, None)
    assert (settings.current().rounds, settings.current().fast_math) == (2, False)
    inner.__exit__(None, None, None)
    assert settings.current().rounds == 4


def test_an_override_may_be_entered_again():
    change = settings.override(rounds=1)
    for _ in range(2):
        with change:
            assert settings.current().rounds == 1
        assert settings.current().rounds == 4


def test_reset_inside_a_with_wins():
    with settings.override(rounds=1):
        settings.reset()
        assert settings.current().rounds == 4
    assert settings.current().rounds == 4


def test_override_replaces_the_options_of_the_passes_it_names(folder):
    path = write(folder / "treadle.toml", "[optimizer.one]\na = 1\nb = 2\n[optimizer.two]\nc = 3")
    with settings.override(pass_options={"one": {"a": 5}}) as s:
        assert (dict(s.pass_options["one"].options), s.pass_options["one"].origin) == ({"a": 5}, "code")
        assert (dict(s.pass_options["two"].options), s.pass_options["two"].origin) == ({"c": 3}, str(path))
        assert (s.origin["optimizer.one"], s.origin["optimizer.two"]) == ("code", str(path))
    assert dict(settings.current().pass_options["one"].options) == {"a": 1, "b": 2}


def test_override_can_return_to_the_default_schedule(folder):
    write(folder / "treadle.toml", "[optimizer]\nschedule = ['x']")
    with settings.override(schedule=None) as s:
        assert s.schedule is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"round": 1},
            (
                "code: unknown setting 'round' = 1; settings: schedule, rounds, verify,"
                " fast_math, disabled, strict, device, most_traces, pass_options; did you mean 'rounds'?"
            ),
        ),
        ({"origin": {}}, "code: unknown setting 'origin'"),
        ({"rounds": True}, "code [optimizer]: rounds is True (bool), expected int, at least 1"),
        ({"schedule": "abc"}, "code [optimizer]: schedule is 'abc' (str), expected a list of str"),
        ({"disabled": None}, "code [plugins]: disabled is None (NoneType), expected a list of str"),
        ({"verify": "all"}, "code [optimizer]: verify is 'all'"),
        ({"pass_options": {"one": 3}}, "code [optimizer]: one is 3 (int), expected a mapping"),
        ({"pass_options": {"rounds": {}}}, "code [optimizer]: pass_options has the key 'rounds'"),
        ({"pass_options": []}, "code [optimizer]: pass_options is [] (list), expected a mapping"),
    ],
)
def test_a_wrong_override_changes_nothing(changes, said):
    before = settings.current()
    with pytest.raises(ConfigError) as caught:
        settings.override(**{"fast_math": True, **changes})
    assert str(caught.value).startswith(said)
    assert settings.current() is before


def test_listeners_hear_of_every_change_after_it_holds():
    heard = []
    cancel = settings.on_change(lambda: heard.append(settings.current().rounds))
    settings.current()
    assert heard == []
    with settings.override(rounds=1):
        assert heard == [1]
    assert heard == [1, 4]
    settings.reset()
    assert heard == [1, 4, 4]
    cancel()
    cancel()
    settings.override(rounds=2)
    assert heard == [1, 4, 4]


def test_toml_is_not_imported_unless_a_file_is_read(folder):
    write(folder / "pyproject.toml", "[project]\nname = 'unrelated'")
    code = (
        "import sys, types, importlib.util as u\n"
        "e = sys.modules['treadle.errors'] = types.ModuleType('treadle.errors'); e.ConfigError = ValueError\n"
        "sys.modules['treadle'] = types.ModuleType('treadle')\n"
        f"spec = u.spec_from_file_location('treadle.settings', {settings.__file__!r})\n"
        "m = sys.modules['treadle.settings'] = u.module_from_spec(spec); spec.loader.exec_module(m)\n"
        "m.current(); print(sorted({'tomllib', 'pathlib', 'difflib'} & set(sys.modules)))\n"
    )
    out = subprocess.run([sys.executable, "-S", "-E", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("variable", "meant"), [("TREADLE_ROUND", "TREADLE_ROUNDS"), ("TREADLE_DEVICES", "TREADLE_DEVICE"), ("TREADLE_CONIFG", "TREADLE_CONFIG")]
)
def test_a_misspelt_variable_is_refused(variable, meant):
    with pytest.raises(ConfigError, match=rf"environment {variable}: there is no such variable; did you mean {meant}\?"):
        settings.load(environ={variable: "1"})


def test_variables_of_others_are_left_alone():
    assert settings.load(environ={"TREADLE_MY_PLUGIN_PORT": "80", "TREADLES": "x"}).rounds == 4
