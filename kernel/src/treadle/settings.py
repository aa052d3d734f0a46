"""The settings in force, and where each of them came from.

Defaults, then one configuration file, then the environment, then code; a later
source overrides an earlier one key by key. Whether a pass of that name exists is
not known here: the options of passes are kept as written until `treadle.contracts.pass_options`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, cast

from treadle.errors import ConfigError

Verify = Literal["off", "structure", "numeric"]

DEFAULT_DEVICE = "/CPU:0"
VERIFY_LEVELS: tuple[Verify, ...] = ("off", "structure", "numeric")


class PassOptions(NamedTuple):
    """The options of one pass as they were written, unchecked."""

    options: Mapping[str, object]
    origin: str


class Settings(NamedTuple):
    """One consistent set of settings; it never changes, `current` returns another one."""

    schedule: tuple[str, ...] | None = None
    """Names of passes in their order; None stands for the default schedule that a plugin offers."""
    rounds: int = 4
    verify: Verify = "off"
    fast_math: bool = False
    pass_options: Mapping[str, PassOptions] = MappingProxyType({})
    disabled: tuple[str, ...] = ()
    """Names of plugins that are not to be loaded."""
    strict: bool = False
    device: str = DEFAULT_DEVICE
    most_traces: int = 1024
    """Traces that a traced function keeps; the least recently used one goes first."""
    origin: Mapping[str, str] = MappingProxyType({})
    """From dotted key (``optimizer.rounds``) to ``default``, a file's path, ``environment TREADLE_ROUNDS`` or ``code``."""


class Changes(TypedDict, total=False):
    """What `override` accepts."""

    schedule: Iterable[str] | None
    rounds: int
    verify: Verify
    fast_math: bool
    pass_options: Mapping[str, Mapping[str, object]]
    disabled: Iterable[str]
    strict: bool
    device: str
    most_traces: int


# --- one value: ``what`` is the subject of the sentence, such as "/a/treadle.toml [optimizer]: rounds"


def shown(value: object) -> str:
    """A wrong value and its type, as TOML calls it, for a message."""
    kind = "table" if isinstance(value, dict) else type(value).__name__
    return f"{value!r} ({kind})"


def suggestion(word: str, choices: Iterable[str]) -> str:
    """``; did you mean 'rounds'?``, or nothing if no choice is close."""
    known = list(choices)
    if len(known) < 2:  # the list beside it says the same
        return ""
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(word, known, 1) or get_close_matches(word.lower(), known, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _check_names(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{what} is {shown(value)}, expected a list of str")
    first: dict[str, int] = {}
    for index, name in enumerate(value):
        if not isinstance(name, str):
            raise ConfigError(f"{what}[{index}] is {shown(name)}, expected str in {value!r}")
        if not name.strip():
            raise ConfigError(f"{what}[{index}] is {name!r}, expected a name in {value!r}")
        if name in first:
            raise ConfigError(f"{what} has {name!r} twice, at [{first[name]}] and [{index}], expected it once in {value!r}")
        first[name] = index
    return tuple(first)


def _check_schedule(value: object, what: str) -> tuple[str, ...] | None:
    return None if value is None else _check_names(value, what)


def _check_count(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"{what} is {shown(value)}, expected int, at least 1")
    return value


def _check_bool(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{what} is {shown(value)}, expected bool: true or false")
    return value


def _check_verify(value: object, what: str) -> Verify:
    for level in VERIFY_LEVELS:
        if value == level:
            return level
    hint = suggestion(value, VERIFY_LEVELS) if isinstance(value, str) else ""
    raise ConfigError(f"{what} is {shown(value)}, expected one of {', '.join(VERIFY_LEVELS)}{hint}")


def _check_device(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{what} is {shown(value)}, expected the name of a device, such as {DEFAULT_DEVICE!r}")
    return value


# --- the text of an environment variable; what does not parse stays text, and the check above refuses it


def _parse_names(text: str) -> object:
    return [] if text.lower() == "none" else [name.strip() for name in text.split(",")]


def _parse_int(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text


def _parse_bool(text: str) -> object:
    word = text.lower()
    if word in ("1", "true", "yes", "on"):
        return True
    return False if word in ("0", "false", "no", "off") else text


class _Key(NamedTuple):
    field: str
    table: str
    name: str
    variable: str
    check: Callable[[object, str], object]
    parse: Callable[[str], object] = str

    @property
    def dotted(self) -> str:
        return f"{self.table}.{self.name}"


_KEYS = (
    _Key("schedule", "optimizer", "schedule", "TREADLE_SCHEDULE", _check_schedule, _parse_names),
    _Key("rounds", "optimizer", "rounds", "TREADLE_ROUNDS", _check_count, _parse_int),
    _Key("verify", "optimizer", "verify", "TREADLE_VERIFY", _check_verify),
    _Key("fast_math", "optimizer", "fast_math", "TREADLE_FAST_MATH", _check_bool, _parse_bool),
    _Key("disabled", "plugins", "disabled", "TREADLE_DISABLED_PLUGINS", _check_names, _parse_names),
    _Key("strict", "plugins", "strict", "TREADLE_STRICT_PLUGINS", _check_bool, _parse_bool),
    _Key("device", "device", "default", "TREADLE_DEVICE", _check_device),
    _Key("most_traces", "function", "most_traces", "TREADLE_MOST_TRACES", _check_count, _parse_int),
)
_TABLES = {table: {key.name: key for key in _KEYS if key.table == table} for table in ("optimizer", "plugins", "device", "function")}
_FIELDS = {key.field: key for key in _KEYS}


def _default_origin() -> dict[str, str]:
    return {key.dotted: "default" for key in _KEYS}


# --- the configuration file


def _is_pyproject(path: str) -> bool:
    return os.path.basename(path) == "pyproject.toml"


def heading(origin: str, name: str) -> str:
    """``/a/treadle.toml [optimizer]``, or ``/a/pyproject.toml [tool.treadle.optimizer]``."""
    return f"{origin} [{'tool.treadle.' if _is_pyproject(origin) else ''}{name}]"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as exc:
        raise ConfigError(f"{path}: the configuration file cannot be read: {exc.strerror or exc}; TREADLE_CONFIG=none reads no file") from exc


def _parse_toml(path: str, data: bytes) -> dict[str, object]:
    import tomllib  # most programs have no file

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise ConfigError(f"{path}, line {line}: not valid TOML: byte {data[exc.start]:#04x} is not UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        number = str(exc).rpartition("(at line ")[2].partition(",")[0]
        line = int(number) if number.isdecimal() else len(data.splitlines())  # "at end of document"
        raise ConfigError(f"{path}, line {line}: not valid TOML: {exc}") from exc


def _tables_of(path: str) -> dict[str, object] | None:
    """What the file says to treadle; None for a pyproject.toml without [tool.treadle]."""
    data = _read(path)
    if not _is_pyproject(path):
        return _parse_toml(path, data)
    if b"treadle" not in data:  # spares most projects the parser
        return None
    tool = _parse_toml(path, data).get("tool")
    if not isinstance(tool, dict) or "treadle" not in tool:
        return None
    content = tool["treadle"]
    if not isinstance(content, dict):
        raise ConfigError(f"{path} [tool]: treadle is {shown(content)}, expected a table")
    return content


def _find_file(start: str | None, named: str) -> tuple[str, dict[str, object]] | None:
    if named.lower() == "none" or named in ("/dev/null", os.devnull):
        return None
    try:
        folder = os.path.abspath(start or "")
    except FileNotFoundError:  # the current directory was removed
        folder = ""
    if named:
        path = os.path.normpath(os.path.join(folder, os.path.expanduser(named)))
        if not os.path.exists(path):
            raise ConfigError(f"TREADLE_CONFIG is {named!r}, but there is no file {path}; name a TOML file, or 'none' to read none")
        content = _tables_of(path)
        if content is None:
            raise ConfigError(f"TREADLE_CONFIG is {named!r}, but {path} has no table [tool.treadle]")
        return path, content
    while folder:
        for name in ("treadle.toml", "pyproject.toml"):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (content := _tables_of(path)) is not None:
                return path, content
        parent = os.path.dirname(folder)
        folder = parent if parent != folder else ""
    return None


def _unknown_table(path: str, name: str, value: object) -> ConfigError:
    kind = f"unknown table [{name}]" if isinstance(value, dict) else f"unknown key {name!r} = {value!r}"
    home = [table for table, keys in _TABLES.items() if name in keys]
    hint = f"; did you mean {name} in [{home[0]}]?" if home else suggestion(name, _TABLES)
    subject = f"{path} [tool.treadle]" if _is_pyproject(path) else path
    return ConfigError(f"{subject}: {kind}; tables: {', '.join(_TABLES)}{hint}")


def _take_tables(path: str, content: Mapping[str, object], values: dict[str, Any], origin: dict[str, str]) -> None:
    passes: dict[str, PassOptions] = {}
    for table, entries in content.items():
        keys = _TABLES.get(table)
        if keys is None:
            raise _unknown_table(path, table, entries)
        where = heading(path, table)
        if not isinstance(entries, dict):
            raise ConfigError(f"{where}: {table} is {shown(entries)}, expected a table")
        for name, value in entries.items():
            if key := keys.get(name):
                values[key.field] = key.check(value, f"{where}: {name}")
                origin[key.dotted] = path
            elif table == "optimizer" and isinstance(value, dict):
                passes[name] = PassOptions(MappingProxyType(value), path)
                origin[f"optimizer.{name}"] = path
            else:
                more = "; options of a pass go in [optimizer.<pass-name>]" if table == "optimizer" else ""
                raise ConfigError(f"{where}: unknown key {name!r} = {value!r}; keys: {', '.join(keys)}{more}{suggestion(name, keys)}")
    values["pass_options"] = MappingProxyType(passes)


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """Refuse a variable that is nearly one of ours; others may belong to plugins."""
    known = [key.variable for key in _KEYS] + ["TREADLE_CONFIG"]
    for variable in environ:
        if variable.startswith("TREADLE_") and variable not in known:
            from difflib import get_close_matches  # only on the way to an error

            if close := get_close_matches(variable, known, 1, 0.9):
                raise ConfigError(f"environment {variable}: there is no such variable; did you mean {close[0]}? Variables: {', '.join(known)}")


def load(start: str | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the configuration file and the environment; nothing is cached.

    An environment variable that is empty counts as unset. ``none`` is the empty
    list for TREADLE_SCHEDULE and TREADLE_DISABLED_PLUGINS, and no file for
    TREADLE_CONFIG.

    Args:
        start: the folder from which the file is looked for upward; the current directory by default.
        environ: stands for ``os.environ``.
    Returns:
        The settings before any `override`.
    Raises:
        ConfigError: a file cannot be read or parsed, or something in it or in the environment is unknown or wrong.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origin = _default_origin()
    if found := _find_file(start, environ.get("TREADLE_CONFIG", "").strip()):
        _take_tables(*found, values, origin)
    _refuse_misspelt(environ)
    for key in _KEYS:
        if text := environ.get(key.variable, "").strip():
            source = f"environment {key.variable}"
            values[key.field] = key.check(key.parse(text), f"{heading(source, key.table)}: {key.name}")
            origin[key.dotted] = source
    return Settings(**values, origin=MappingProxyType(origin))


# --- the settings of this process

_lock = threading.RLock()


def _after_fork() -> None:
    """A thread that is gone in the child may have held the lock."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
_loaded: Settings | None = None
_current: Settings | None = None
_overrides: list[Override] = []
_listeners: list[Callable[[], object]] = []


def current() -> Settings:
    """The settings in force in this process, loaded at first use.

    Raises:
        ConfigError: as `load`; the next call tries again.
    """
    global _loaded, _current
    if (settings := _current) is not None:
        return settings
    with _lock:
        if _current is None:
            _loaded = _current = load()
        return _current


def reset() -> None:
    """Forget what was loaded and every override; the next `current` loads anew."""
    global _loaded, _current
    with _lock:
        _loaded = _current = None
        _overrides.clear()
    _notify()


def on_change(callback: Callable[[], object]) -> Callable[[], None]:
    """Have ``callback()`` called after every `override`, its end, and every `reset`.

    Returns:
        A function that ends this; calling it twice does no harm.
    """

    def cancel() -> None:
        with _lock:
            if callback in _listeners:
                _listeners.remove(callback)

    with _lock:
        _listeners.append(callback)
    return cancel


def _notify() -> None:
    for callback in tuple(_listeners):  # without the lock: a listener may take its own
        callback()


class Override:
    """Changes in force since `override` returned this; leaving its ``with`` takes them back."""

    def __init__(self, changes: dict[str, Any]) -> None:
        self._changes = changes

    def __enter__(self) -> Settings:
        self._apply()
        return current()

    def __exit__(self, *exc_info: object) -> None:
        global _current
        with _lock:
            if self not in _overrides:  # a reset came first
                return
            _overrides.remove(self)  # not a snapshot: overrides of other threads stay in force
            settings = cast(Settings, _loaded)
            for other in _overrides:
                settings = _changed(settings, other._changes)
            _current = settings
        _notify()

    def _apply(self) -> None:
        global _current
        with _lock:
            if self in _overrides:
                return
            _current = _changed(current(), self._changes)
            _overrides.append(self)
        _notify()


def override(**changes: Unpack[Changes]) -> Override:
    """Change settings of this process from code, for all its threads.

    In force when this returns; as ``with override(rounds=1):`` only until the block
    ends. ``pass_options`` replaces all options of the passes it names and leaves the
    other passes alone; ``schedule=None`` means the default schedule.

    Raises:
        ConfigError: no setting has that name, or the value is wrong; then nothing has changed.
    """
    handle = Override(_check_changes(changes))
    handle._apply()
    return handle


def _check_changes(changes: Mapping[str, object]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "pass_options":
            checked[name] = _check_pass_options(value)
        elif key := _FIELDS.get(name):
            checked[name] = key.check(value, f"{heading('code', key.table)}: {key.name}")
        else:
            names = [*_FIELDS, "pass_options"]
            raise ConfigError(f"code: unknown setting {name!r} = {value!r}; settings: {', '.join(names)}{suggestion(name, names)}")
    return checked


def _check_pass_options(value: object) -> dict[str, PassOptions]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"code [optimizer]: pass_options is {shown(value)}, expected a mapping from pass to options")
    for name, options in value.items():
        if not isinstance(name, str) or name in _TABLES["optimizer"]:
            raise ConfigError(f"code [optimizer]: pass_options has the key {name!r}, expected the name of a pass")
        if not isinstance(options, Mapping):
            raise ConfigError(f"code [optimizer]: {name} is {shown(options)}, expected a mapping from option to value")
    return {name: PassOptions(MappingProxyType(dict(options)), "code") for name, options in value.items()}


def _changed(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    values = dict(changes)
    origin = dict(settings.origin)
    origin.update((_FIELDS[name].dotted, "code") for name in changes if name in _FIELDS)
    if passes := changes.get("pass_options"):
        origin.update((f"optimizer.{name}", "code") for name in passes)
    values["pass_options"] = MappingProxyType({**settings.pass_options, **(passes or {})})
    return settings._replace(**values, origin=MappingProxyType(origin))
