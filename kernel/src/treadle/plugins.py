"""The plugin host: finds plugins by their entry points, loads them when something asks, contains what goes wrong.

Four entry-point groups: the three contracts and ``treadle.plugins`` for the rest. Loading a plugin of ``treadle.ops`` or
``treadle.devices`` calls its ``treadle_register`` hook inside a transaction. A plugin that fails is recorded with its cause and
reported by a warning; it never breaks the program, unless the strict switch is on.
"""

from __future__ import annotations

import importlib
import re
import threading
from typing import Any

from treadle import settings, state
from treadle.discovery import entry_points
from treadle.errors import PluginError
from treadle.registry import Registry
from treadle.registry import registry as the_registry
from treadle.user_warnings import warn
from treadle.version import __version__

GROUPS = ("treadle.ops", "treadle.devices", "treadle.passes", "treadle.plugins")
CORE = "core"
OWN = frozenset(f"treadle-{name}" for name in ("ops", "array", "cpu", "passes", "cli", "autograph", "cuda", "jit"))
"""Our own distributions: a stranger that takes the name of one of their plugins does not put them out of use."""


class PluginRecord:
    """What is known of one plugin.

    Attributes:
        name: of the entry point.
        group: entry-point group.
        value: what the entry point names, ``package.module`` or ``package.module:attribute``.
        distribution: the wheel it came in.
        version: of that distribution.
        requires: what that distribution requires.
        error: why it could not be used, or None.
        conflict: another distribution offers a plugin of the same name.
        disabled: switched off by the settings.
        loaded: it has been imported and, where it has a hook, registered.
        thing: what the entry point names, once it is loaded.
    """

    def __init__(
        self,
        name: str,
        group: str,
        value: str,
        distribution: str,
        version: str,
        requires: tuple[str, ...] = (),
        error: BaseException | None = None,
        conflict: PluginError | None = None,
        disabled: bool = False,
        loaded: bool = False,
        thing: Any = None,
    ) -> None:
        self.name = name
        self.group = group
        self.value = value
        self.distribution = distribution
        self.version = version
        self.requires = requires
        self.error = error
        self.conflict = conflict
        self.disabled = disabled
        self.loaded = loaded
        self.thing = thing

    @property
    def state(self) -> str:
        """``loaded``, ``failed``, ``disabled`` or ``found`` (not asked for yet)."""
        if self.disabled:
            return "disabled"
        if self.error is not None or self.conflict is not None:
            return "failed"
        return "loaded" if self.loaded else "found"

    @property
    def cause(self) -> str:
        """The failure in one line, or an empty text."""
        error = self.error or self.conflict
        return "" if error is None else f"{type(error).__name__}: {' '.join(str(error).split())}"


class PluginWarning(UserWarning):
    """A plugin could not be used; the program goes on without it."""


class Host:
    """Discovery, loading and hooks. ``host`` is the process's; tests make their own.

    Args:
        registry: where plugins register; the process's by default.
        path: folders to look for distributions in; ``sys.path`` by default.
    """

    def __init__(self, registry: Registry | None = None, path: list[str] | None = None) -> None:
        self.registry = registry or the_registry
        self._path = path
        self.registry.failures = lambda: self.failures("treadle.ops")
        self.registry.load_roles = self.load_ops
        self.registry.contain = self._contain
        self._records: dict[tuple[str, str], PluginRecord] | None = None
        self._manager: Any = None
        self._lock = threading.RLock()
        self._loading: set[tuple[str, str]] = set()

    # ------------------------------------------------------------------ discovery

    def records(self, group: str | None = None) -> list[PluginRecord]:
        """Every plugin found, sorted by group and name; nothing is imported."""
        if self._records is None:
            with self._lock:
                if self._records is None:
                    self._records = self._discover()
        return [r for r in self._records.values() if group is None or r.group == group]

    def _discover(self) -> dict[tuple[str, str], PluginRecord]:
        disabled = set(settings.current().disabled)
        found: dict[tuple[str, str], PluginRecord] = {}
        for point in entry_points(GROUPS, self._path):
            key = (point.group, point.name)
            state.own_packages.add(point.value.partition(":")[0].partition(".")[0])
            off = point.name in disabled or point.distribution in disabled
            record = PluginRecord(point.name, point.group, point.value, point.distribution, point.version, point.requires, disabled=off)
            taken = found.get(key)
            if taken is None or (taken.disabled and not record.disabled):
                found[key] = record
            elif taken.value != record.value and not record.disabled:
                ours, other = (record, taken) if record.distribution in OWN and taken.distribution not in OWN else (taken, record)
                both = f"{ours.distribution} {ours.version} and {other.distribution} {other.version}"
                conflict = PluginError(
                    f"two distributions offer a plugin {record.name!r} in {record.group!r}: {both}; uninstall one, or name its distribution in "
                    f"[plugins] disabled, such as disabled = [{other.distribution!r}]"
                )
                other.conflict = conflict
                if ours.distribution not in OWN:
                    ours.conflict = conflict
                found[key], found[point.group, f"{point.name} ({other.distribution})"] = ours, other
        return dict(sorted(found.items()))

    def record(self, group: str, name: str) -> PluginRecord | None:
        """The plugin of that name in a group, or None."""
        self.records()
        return (self._records or {}).get((group, name))

    def distribution_of(self, plugin: str) -> str:
        """``distribution version`` of a plugin, for messages."""
        if plugin == "treadle-kernel":
            return f"treadle-kernel {__version__}"
        for record in self.records():
            if record.name == plugin:
                return f"{record.distribution} {record.version}"
        return "registered by the program itself"

    def failures(self, group: str) -> str:
        """One sentence a failed or disabled plugin of a group, for messages."""
        told = []
        for record in self.records(group):
            if record.disabled:
                told.append(f"Plugin {record.name!r} ({record.distribution}) is disabled by the settings.")
            elif record.error is not None:
                told.append(f"Plugin {record.name!r} ({record.distribution} {record.version}) failed: {record.cause}")
        return " ".join(told)

    # ------------------------------------------------------------------ loading

    def load(self, group: str, name: str) -> PluginRecord | None:
        """Import and register one plugin, once; None if there is no such plugin."""
        record = self.record(group, name)
        if record is None or record.loaded or record.disabled:
            return record
        if record.error is not None:
            if settings.current().strict:
                raise self._refusal(record) from record.error
            return record
        with self._lock:
            key = (group, name)
            if record.loaded or record.error is not None or key in self._loading:
                return record
            self._loading.add(key)
            try:
                self._load(record)
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # a plugin may call sys.exit while importing
                self._failed(record, error)
            finally:
                self._loading.discard(key)
        return record

    def _load(self, record: PluginRecord) -> None:
        if record.conflict is not None:
            raise record.conflict
        refuse_other_kernel(record)
        module_name, _, attribute = record.value.partition(":")
        module = importlib.import_module(module_name)
        thing: Any = module
        for part in filter(None, attribute.split(".")):
            thing = getattr(thing, part)
        if record.group in ("treadle.ops", "treadle.devices") or (record.group == "treadle.passes" and not attribute):
            self._register(record, thing)
        elif record.group == "treadle.passes":
            with self.registry.transaction(record.name):
                self.registry.add_pass(thing, record.name)
        record.thing = thing
        record.loaded = True

    def _register(self, record: PluginRecord, thing: Any) -> None:
        if not callable(getattr(thing, "treadle_register", None)):
            raise PluginError(f"{record.value!r} has no function treadle_register(registry) marked with treadle.hookspecs.hookimpl")
        manager = self.manager()
        name = f"{record.group}:{record.name}"
        with self.registry.transaction(record.name):
            try:
                manager.register(thing, name=name)  # the hook is historic: registering calls it
                callers = manager.get_hookcallers(thing) or []
                if not any(caller.name == "treadle_register" for caller in callers):
                    raise PluginError(f"treadle_register of {record.value!r} is not marked with treadle.hookspecs.hookimpl")
                for caller in callers:
                    if not caller.has_spec():
                        raise PluginError(f"{record.value!r} implements the hook {caller.name!r}, which does not exist")
            except BaseException:
                if manager.get_plugin(name) is not None:  # pluggy keeps a plugin whose historic hook raised
                    manager.unregister(name=name)
                raise

    def _contain(self, plugin: str, error: BaseException) -> None:
        """Note that a plugin failed after it was loaded, when its kernels were wanted; the registry has taken back what it had of it."""
        records = [r for r in self.records() if r.name == plugin and r.loaded]
        if not records:
            raise error
        for record in records:
            record.loaded = False
            self._failed(record, error)

    def _failed(self, record: PluginRecord, error: BaseException) -> None:
        record.error = error
        if settings.current().strict:
            raise self._refusal(record) from error
        warn(
            f"treadle goes on without plugin {record.name!r} ({record.distribution} {record.version}), which failed: {record.cause}. "
            f"To silence this, disable it: [plugins] disabled = [{record.name!r}].",
            PluginWarning,
        )

    def _refusal(self, record: PluginRecord) -> PluginError:
        return PluginError(f"plugin {record.name!r} ({record.distribution} {record.version}) failed: {record.cause}")

    def load_group(self, group: str) -> None:
        """Load every plugin of a group, by name."""
        for record in self.records(group):
            self.load(group, record.name)

    def load_for_device(self, device_type: str) -> None:
        """Load device plugins until one offers ``device_type``, the one of that name first, and those whose names add to it, such as ``cpu.fast``."""
        if device_type not in self.registry.devices:
            self.load("treadle.devices", device_type.lower())
        if device_type not in self.registry.devices:
            self.load_group("treadle.devices")
        for record in self.records("treadle.devices"):
            if record.name.startswith(f"{device_type.lower()}."):
                self.load("treadle.devices", record.name)

    def load_ops(self, namespace: str = CORE) -> PluginRecord | None:
        """Load the op plugin that owns a namespace; ``core`` is the one without a namespace of its own."""
        return self.load("treadle.ops", namespace)

    # ------------------------------------------------------------------ hooks

    def manager(self) -> Any:
        """The pluggy manager, made at first use."""
        if self._manager is None:
            import pluggy

            from treadle import hookspecs

            self._manager = pluggy.PluginManager(hookspecs.PROJECT)
            self._manager.add_hookspecs(hookspecs)
            self._manager.hook.treadle_register.call_historic(kwargs={"registry": self.registry})
        return self._manager

    def observe(self, observer: Any) -> None:
        """Have an object's hooks (``treadle_trace_finished``, ...) called."""
        self.manager().register(observer)

    def call(self, hook: str, **arguments: Any) -> list[Any]:
        """Call the observers of a cold hook and give what they answer; one that raises is reported, and the others are called all the same."""
        answers: list[Any] = []
        if self._manager is None:
            return answers
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            try:
                answers.append(implementation.function(*(arguments[a] for a in implementation.argnames)))
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # an observer is a plugin's code; it may even call sys.exit
                warn(f"observer {implementation.plugin_name!r} of {hook} raised {type(error).__name__}: {error}", PluginWarning)
        return answers

    def forget(self) -> None:
        """Look for plugins anew at the next question. What is registered stays."""
        with self._lock:
            known, found = self._records or {}, self._discover()
            found.update({key: record for key, record in known.items() if record.loaded and key in found})
            self._records = found


_CONSTRAINT = re.compile(r"(>=|<=|==|!=|~=|<|>)\s*([0-9][0-9.]*)")


def refuse_other_kernel(record: PluginRecord) -> None:
    """Refuse a plugin built for another kernel version.

    Raises:
        PluginError: it requires a treadle-kernel that is not this one; the message names both versions.
    """
    for requirement in record.requires:
        match = re.match(r"treadle[-_.]kernel\b(?!\s*\[)([^;]*)", requirement, re.IGNORECASE)
        if match and not all(_holds(op, wanted) for op, wanted in _CONSTRAINT.findall(match.group(1))):
            raise PluginError(
                f"plugin {record.name!r} ({record.distribution} {record.version}) is built for treadle-kernel{match.group(1).strip()}, "
                f"and this is treadle-kernel {__version__}; install a matching version of one of them"
            )


def _holds(operator: str, wanted: str) -> bool:
    mine = [int(p) for p in re.findall(r"\d+", __version__)[:3]]
    theirs = [int(p) for p in wanted.split(".") if p]
    width = max(len(mine), len(theirs))
    a, b = mine + [0] * (width - len(mine)), theirs + [0] * (width - len(theirs))
    if operator == "~=":
        return a >= b and a[: len(theirs) - 1] == b[: len(theirs) - 1]
    return {">=": a >= b, "<=": a <= b, "==": a == b, "!=": a != b, "<": a < b, ">": a > b}[operator]


host = Host()


def _after_fork() -> None:
    """A thread that is gone in the child may have held these."""
    host._lock = threading.RLock()
    the_registry.renew_lock()


state.after_fork(_after_fork)
