"""Which passes run, in which order, with which options, and where each of these was decided."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from treadle import plugins, settings
from treadle.contracts.pass_options import check_options
from treadle.errors import ConfigError
from treadle.registry import registry

DEFAULT = "default-schedule"


class ScheduledPass(NamedTuple):
    """One line of a schedule.

    Attributes:
        instance: the pass with its options.
        plugin: that offers it.
        origin: where the line comes from.
        options: option name to (value, where it comes from).
    """

    instance: Any
    plugin: str
    origin: str
    options: dict[str, tuple[Any, str]]


class Schedule(NamedTuple):
    """The passes in order, and how often they may go round."""

    passes: tuple[ScheduledPass, ...]
    rounds: int
    verify: str
    fast_math: bool


_cached: tuple[Any, Schedule] | None = None


def in_force() -> Schedule:
    """The schedule that the settings ask for.

    Raises:
        ConfigError: it names a pass or an option that does not exist.
    """
    global _cached
    current = settings.current()
    if _cached is not None and _cached[0] is current:
        return _cached[1]
    schedule = _make(current)
    _cached = (current, schedule)
    return schedule


def _forget() -> None:
    global _cached
    _cached = None


registry.on_invalidate(_forget)


def _make(current: settings.Settings) -> Schedule:
    if current.schedule is None:
        record = plugins.host.load("treadle.plugins", DEFAULT)
        names = () if record is None or record.thing is None else _names(record)
        origin = f"default of {record.distribution} {record.version}" if record is not None else "default"
    else:
        names, origin = tuple(current.schedule), current.origin.get("optimizer.schedule", "default")
    for name, given in current.pass_options.items():
        if name not in names and plugins.host.record("treadle.passes", name) is None and name not in registry.passes:
            raise ConfigError(f"{given.origin} [optimizer.{name}]: no pass is called {name!r}; passes: {', '.join(available())}")
    passes = tuple(line for line in (_line(name, origin, current) for name in names) if line is not None)
    _check_order(passes, origin)
    return Schedule(passes, current.rounds, current.verify, current.fast_math)


def _names(record: plugins.PluginRecord) -> tuple[str, ...]:
    """The default schedule that a plugin offers.

    Raises:
        ConfigError: it is no tuple of names.
    """
    thing = record.thing
    if not isinstance(thing, tuple | list) or not all(isinstance(n, str) for n in thing):
        raise ConfigError(
            f"the default schedule of {record.distribution} {record.version} ({record.value}) is {thing!r}; expected a tuple of names of passes"
        )
    return tuple(thing)


def available() -> list[str]:
    """Names of all passes that any plugin offers, loaded or not."""
    return sorted({r.name for r in plugins.host.records("treadle.passes")} | set(registry.passes))


def find(name: str) -> Any:
    """The class of a pass, loading its plugin if need be; None if there is none or it failed."""
    if name not in registry.passes:
        plugins.host.load("treadle.passes", name)
    entry = registry.passes.get(name)
    return None if entry is None else entry.value


def options_of(pass_class: Any) -> dict[str, Any]:
    """Option name to type."""
    return {f.name: f.type for f in dataclasses.fields(pass_class)} if dataclasses.is_dataclass(pass_class) else {}


def _line(name: str, origin: str, current: settings.Settings) -> ScheduledPass | None:
    pass_class = find(name)
    if pass_class is None:
        if plugins.host.record("treadle.passes", name) is not None:
            return None  # found but failed or disabled: reported where that happened, the program goes on without it
        raise ConfigError(f"{origin} [optimizer] schedule: no pass is called {name!r}; passes: {', '.join(available()) or 'none'}")
    given = current.pass_options.get(name)
    checked = {} if given is None else check_options(name, options_of(pass_class), given.options, given.origin)
    try:
        instance = pass_class(**checked)
    except Exception as error:
        where = origin if given is None else given.origin
        raise ConfigError(f"{where} [optimizer.{name}]: the pass refuses these options {checked}: {type(error).__name__}: {error}") from error
    options = {o: (getattr(instance, o), given.origin if given is not None and o in checked else "default") for o in options_of(pass_class)}
    return ScheduledPass(instance, registry.passes[name].plugin, origin, options)


def _check_order(passes: tuple[ScheduledPass, ...], origin: str) -> None:
    seen: set[str] = set()
    for line in passes:
        missing = [r for r in line.instance.requires if r not in seen]
        if missing:
            raise ConfigError(f"{origin} [optimizer] schedule: the pass {line.instance.name!r} must stand after {', '.join(missing)}")
        seen.add(line.instance.name)
