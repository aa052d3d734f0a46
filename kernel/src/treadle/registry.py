"""Who offers what: ops, public names, kernels, devices, passes and roles, each entry with the plugin it came from.

Everything is registered inside a transaction; an exception rolls all of it back. Registering clears the kernels that ops have
resolved, the only invalidation there is.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from treadle.contracts.declared import declarations
from treadle.contracts.device import Device
from treadle.contracts.kernels import Kernel
from treadle.contracts.kernels import declared as declared_kernels
from treadle.contracts.op import Op
from treadle.errors import PluginError, UnknownOpError
from treadle.state import own_packages

KERNEL = "treadle-kernel"


class Entry:
    """A registered thing and its plugin; the thing may be loaded when it is first asked for.

    Attributes:
        plugin: that registered it.
        is_loaded: whether ``value`` can be read without importing anything.
    """

    __slots__ = ("_load", "_value", "plugin")

    def __init__(self, value: Any, plugin: str, load: Callable[[], Any] | None = None) -> None:
        self._value = value
        self._load = load
        self.plugin = plugin

    @property
    def is_loaded(self) -> bool:
        """See the class."""
        return self._load is None

    @property
    def value(self) -> Any:
        """The thing."""
        if self._load is not None:
            self._value = self._load()
            self._load = None
        return self._value

    def __iter__(self) -> Iterator[Any]:
        """``thing, plugin = entry``."""
        return iter((self.value, self.plugin))


class KernelModule(NamedTuple):
    """A module of kernels for a device type (or ``array``), imported when such a device is first opened."""

    for_: str
    module: str
    plugin: str


class Registry:
    """The tables, and the transactions that fill them.

    Attributes:
        ops: name to op.
        names: public path (``math.log``) to the object offered.
        devices: device type to Device class.
        passes: name to Pass class.
        roles: what the kernel needs of a plugin, by role (``"__add__"``, ``"accumulate"``, ``"zeros_like"``, ``"cast"``).
        failures: tells which op plugins failed or are switched off; the plugin host sets it.
        load_roles: loads what fills roles, asked for when one is missing; the plugin host sets it.
        contain: told of a plugin whose kernels cannot be imported, and of why; the plugin host sets it.
        kernels: op name to device type (or ``array``) to the declared kernel.
    """

    def __init__(self) -> None:
        self.ops: dict[str, Entry] = {}
        self.names: dict[str, Entry] = {}
        self.devices: dict[str, Entry] = {}
        self.passes: dict[str, Entry] = {}
        self.roles: dict[str, Entry] = {}
        self.kernels: dict[str, dict[str, Entry]] = {}
        self._pending: list[KernelModule] = []
        self._resolvers: list[Callable[[], None]] = []
        self._plugin = KERNEL
        self.failures: Callable[[], str] = str
        self.load_roles: Callable[[], Any] = str
        self.contain: Callable[[str, BaseException], None] = _raise
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ registering

    @contextmanager
    def transaction(self, plugin: str) -> Iterator[Registry]:
        """Register on behalf of ``plugin``: all of it, or nothing if the body raises."""
        with self._lock:
            before = (
                dict(self.ops),
                dict(self.names),
                dict(self.devices),
                dict(self.passes),
                dict(self.roles),
                {name: dict(rows) for name, rows in self.kernels.items()},
                list(self._pending),
            )
            outer, self._plugin = self._plugin, plugin
            try:
                yield self
            except BaseException:
                self.ops, self.names, self.devices, self.passes, self.roles, self.kernels, self._pending = before
                raise
            finally:
                self._plugin = outer
                self.invalidate()

    def _require_transaction(self) -> None:
        """Refuse what comes outside a transaction: nothing could take it back, and it would belong to nobody.

        Raises:
            PluginError: there is none.
        """
        if self._plugin == KERNEL:
            raise PluginError(
                "the registry takes nothing now: a plugin registers inside its treadle_register, a program inside `with registry.transaction(name):`"
            )

    def _put(self, table: dict[str, Entry], kind: str, name: str, value: Any, load: Callable[[], Any] | None = None) -> None:
        self._require_transaction()
        taken = table.get(name)
        if taken is not None:
            raise PluginError(f"plugin {self._plugin!r} registers {kind} {name!r}, which plugin {taken.plugin!r} already registered")
        table[name] = Entry(value, self._plugin, load)

    def add_op(self, op: Op) -> None:
        """Register one op."""
        if not isinstance(op, Op):
            raise PluginError(f"plugin {self._plugin!r} registers {op!r} as an op; expected an Op made by treadle.declare.op")
        self._put(self.ops, "op", op.name, op)
        op.plugin = self._plugin

    def add_public(self, path: str, thing: Any) -> None:
        """Offer ``thing`` as ``treadle.<path>``."""
        if not isinstance(path, str) or not all(part.isidentifier() for part in path.split(".")):
            raise PluginError(f"plugin {self._plugin!r} offers the public name {path!r}; expected names joined by dots")
        self._put(self.names, "the public name", path, thing)

    def add_ops(self, *modules: str) -> None:
        """Import modules and register the ops and public names that they declare."""
        for module in modules:
            importlib.import_module(module)
            found = declarations(module)
            if not found.ops and not found.public:
                raise PluginError(f"plugin {self._plugin!r} registers the module {module!r}, which declares no op and no public name")
            for op in found.ops:
                self.add_op(op)
            for path, thing in found.public.items():
                self.add_public(path, thing)

    def add_op_index(self, index: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> None:
        """Register what modules declare without importing them yet.

        Args:
            index: module name to the names of its ops and its public names, as ``declarations_index`` gives it. A module is imported when one of them
                is first asked for.
        """
        for module, (ops, names) in index.items():
            for name in ops:
                self._put(self.ops, "op", name, None, functools.partial(_declared_op, module, name, self._plugin))
            for path in names:
                self._put(self.names, "the public name", path, None, functools.partial(_declared_name, module, path, self._plugin))

    def add_kernel_index(self, *, for_: str, index: Mapping[str, Sequence[str]]) -> None:
        """Offer kernels without importing their modules yet.

        Args:
            for_: a device type, or ``"array"``.
            index: module name to the names of the ops that it has kernels for, as ``kernels_index`` gives it.
        """
        for module, ops in index.items():
            self._own(module)
            for op in ops:
                self._put_kernel(op, for_, self._plugin, None, functools.partial(_declared_kernel, module, op, self._plugin))

    def add_kernel(self, kernel: Kernel, *, for_: str) -> None:
        """Offer one kernel to devices of type ``for_`` (``"array"``: to all that have an array module)."""
        self._put_kernel(kernel.op, for_, self._plugin, kernel)

    def add_kernels(self, *, for_: str, module: str) -> None:
        """Offer the kernels of a module to devices of type ``for_`` (``"array"``: to all that have an array module).

        The module is imported when such a device is first opened; at once if one is open already.
        """
        self._own(module)
        self._require_transaction()
        pending = KernelModule(for_, module, self._plugin)
        if any(device.type == for_ or (for_ == "array" and device.array_module is not None) for device in open_devices.values()):
            self._import_kernels(pending)
        else:
            self._pending.append(pending)

    def _own(self, module: str) -> None:
        """Count the package of a plugin's kernels among those whose lines are not the user's."""
        if self._plugin != KERNEL:
            own_packages.add(module.partition(".")[0])

    def add_device(self, device: type[Device]) -> None:
        """Register a device type. This does not open a device."""
        if not (isinstance(device, type) and issubclass(device, Device)) or not isinstance(getattr(device, "type", None), str):
            raise PluginError(f"plugin {self._plugin!r} registers {device!r} as a device; expected a subclass of Device with a `type`")
        if device.type != device.type.upper():
            raise PluginError(f"plugin {self._plugin!r} registers the device type {device.type!r}; device types are written in upper case")
        self._put(self.devices, "device type", device.type, device)

    def add_pass(self, pass_class: Any, name: str | None = None) -> None:
        """Register an optimizer pass under its name."""
        own = getattr(pass_class, "name", None)
        name = own if name is None else name
        requires = getattr(pass_class, "requires", ())
        is_sound = isinstance(pass_class, type) and isinstance(own, str) and isinstance(name, str) and callable(getattr(pass_class, "run", None))
        if not is_sound or not isinstance(requires, tuple | list) or not all(isinstance(r, str) for r in requires):
            raise PluginError(
                f"plugin {self._plugin!r} registers {pass_class!r} as a pass; expected a Pass class with a `name`, a `run`, and names in `requires`"
            )
        self._put(self.passes, "pass", str(name), pass_class)

    def fill(self, role: str, function: Callable[..., Any] | str) -> None:
        """Fill a role that the kernel leaves to plugins.

        Args:
            role: its name.
            function: what fills it, or ``"module:name"`` of that, to be imported when it is first needed.
        """
        is_path = isinstance(function, str) and ":" in function
        if not isinstance(role, str) or not (is_path or callable(function)):
            raise PluginError(f"plugin {self._plugin!r} fills the role {role!r} with {function!r}; expected a function, or 'module:name' of one")
        load = functools.partial(_named, function) if isinstance(function, str) else None
        self._put(self.roles, "the role", role, None if load else function, load)

    def renew_lock(self) -> None:
        """After a fork: a thread that is gone may have held the lock."""
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ asking

    def op(self, name: str) -> Op:
        """The op of that name.

        Raises:
            UnknownOpError: no loaded plugin offers it.
        """
        entry = self.ops.get(name)
        if entry is None:
            import difflib

            near = difflib.get_close_matches(name, self.ops, 3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise UnknownOpError(f"no op is called {name!r}{hint} Run `treadle ops` to see what there is.")
        found: Op = entry.value
        return found

    def role(self, name: str) -> Any:
        """What fills a role.

        Raises:
            PluginError: nothing does.
        """
        entry = self.roles.get(name)
        if entry is None:
            self.load_roles()
            entry = self.roles.get(name)
        if entry is None:
            why = self.failures() or "install a distribution that does, such as treadle-ops (`pip install treadle-ops`)"
            raise PluginError(f"nothing fills the role {name!r}: {why}")
        return entry.value

    def kernel_rows(self, op: str) -> dict[str, Entry]:
        """Device type (or ``array``) to the kernel declared for it."""
        return self.kernels.get(op, {})

    # ------------------------------------------------------------------ kernels

    def import_kernels(self, device: Device) -> None:
        """Import the kernel modules that serve ``device`` and are not imported yet; a plugin whose kernels fail is withdrawn whole."""
        with self._lock:
            for pending in list(self._pending):
                if pending not in self._pending or not (pending.for_ == device.type or (pending.for_ == "array" and device.array_module is not None)):
                    continue
                self._pending.remove(pending)
                try:
                    with self.transaction(pending.plugin):
                        self._import_kernels(pending)
                except (KeyboardInterrupt, GeneratorExit):
                    raise
                except BaseException as error:  # a plugin may call sys.exit while importing
                    self.give_up(pending.plugin, error)

    def give_up(self, plugin: str, error: BaseException) -> None:
        """Take back everything that a plugin registered, as it turns out to be of no use here, and report why.

        Raises:
            PluginError: failures of plugins are to be exceptions.
        """
        with self._lock:
            for table in (self.ops, self.names, self.devices, self.passes, self.roles, *self.kernels.values()):
                for name in [name for name, entry in table.items() if entry.plugin == plugin]:
                    del table[name]
            self._pending = [pending for pending in self._pending if pending.plugin != plugin]
            self.invalidate()
        self.contain(plugin, error)

    def _import_kernels(self, pending: KernelModule) -> None:
        importlib.import_module(pending.module)
        for name in [pending.module, *_submodules(pending.module)]:
            for kernel in declared_kernels.get(name, ()):
                self._put_kernel(kernel.op, pending.for_, pending.plugin, kernel)

    def _put_kernel(self, op: str, for_: str, plugin: str, kernel: Kernel | None, load: Callable[[], Any] | None = None) -> None:
        self._require_transaction()
        rows = self.kernels.setdefault(op, {})
        taken = rows.get(for_)
        if taken is not None:
            raise PluginError(f"plugin {plugin!r} registers a kernel of op {op!r} for {for_!r}, which plugin {taken.plugin!r} already registered")
        rows[for_] = Entry(kernel, plugin, load)

    def on_invalidate(self, forget: Callable[[], None]) -> None:
        """Have ``forget`` called whenever resolved kernels may be out of date."""
        self._resolvers.append(forget)

    def invalidate(self) -> None:
        """Forget every resolved kernel."""
        for forget in self._resolvers:
            forget()


def _raise(plugin: str, error: BaseException) -> None:
    raise error


def declarations_index(modules: Iterable[str]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """What modules declare, for ``add_op_index``: module name to the names of its ops and its public names."""
    index = {}
    for module in sorted(modules):
        importlib.import_module(module)
        found = declarations(module)
        if found.ops or found.public:
            index[module] = (tuple(sorted(op.name for op in found.ops)), tuple(sorted(found.public)))
    return index


def kernels_index(modules: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What kernels modules declare, for ``add_kernel_index``: module name to the names of the ops."""
    index = {}
    for module in sorted(modules):
        importlib.import_module(module)
        if declared_kernels.get(module):
            index[module] = tuple(sorted(kernel.op for kernel in declared_kernels[module]))
    return index


def _import(module: str, plugin: str) -> None:
    """Import a plugin's module that its index names.

    Raises:
        PluginError: it cannot be imported.
    """
    try:
        importlib.import_module(module)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # a plugin may call sys.exit while importing
        raise PluginError(f"plugin {plugin!r}: its module {module!r} cannot be imported: {type(error).__name__}: {error}") from error


def _declared_op(module: str, name: str, plugin: str) -> Op:
    _import(module, plugin)
    for op in declarations(module).ops:
        if op.name == name:
            op.plugin = plugin
            return op
    raise PluginError(f"plugin {plugin!r}: its index says that {module!r} declares op {name!r}, which it does not; make the index anew")


def _declared_name(module: str, path: str, plugin: str) -> Any:
    _import(module, plugin)
    found = declarations(module).public
    if path not in found:
        raise PluginError(f"plugin {plugin!r}: its index says that {module!r} offers {path!r}, which it does not; make the index anew")
    return found[path]


def _declared_kernel(module: str, op: str, plugin: str) -> Kernel:
    _import(module, plugin)
    for kernel in declared_kernels.get(module, ()):
        if kernel.op == op:
            return kernel
    raise PluginError(f"plugin {plugin!r}: its index says that {module!r} has a kernel of {op!r}, which it has not; make the index anew")


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _submodules(package: str) -> list[str]:
    return [name for name in declared_kernels if name.startswith(package + ".")]


registry = Registry()
open_devices: dict[str, Device] = {}
"""Canonical name to the open device."""
