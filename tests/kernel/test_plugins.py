"""The plugin host, on distributions that are nothing but metadata folders on a path of the test's own."""

from __future__ import annotations

import sys
import textwrap

import pytest

from treadle import plugins, settings
from treadle.contracts.device import Device
from treadle.errors import PluginError
from treadle.plugins import Host, PluginWarning
from treadle.registry import Registry

GOOD = """
from treadle.declare import Spec, op
from treadle.hookspecs import hookimpl

@op("{name}.same", public="{name}.same")
def same(x: Spec) -> Spec:
    return x

@hookimpl
def treadle_register(registry):
    registry.add_ops(__name__)
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder to put distributions in; ``install(name, module text, ...)`` does, ``host()`` looks there and nowhere else."""

    class Site:
        path = tmp_path

        def install(self, name, text=None, *, module=None, group="treadle.ops", entry=None, version="1.0", requires=(), value=None, folder=None):
            folder = folder or tmp_path
            module = module or f"fake_{name}_{tmp_path.name.replace('-', '_')}"
            info = folder / f"fake_{name}-{version}.dist-info"
            info.mkdir(parents=True)
            lines = "".join(f"Requires-Dist: {r}\n" for r in requires)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fake-{name}\nVersion: {version}\n{lines}\nText: below\n")
            (info / "entry_points.txt").write_text(f"[other]\nx = y\n\n[{group}]\n{entry or name} = {value or module}\n")
            if text is not None:
                (folder / f"{module}.py").write_text(textwrap.dedent(text))
            return module

        def host(self, *paths):
            return Host(Registry(), [str(p) for p in (paths or (tmp_path,))])

    monkeypatch.syspath_prepend(str(tmp_path))
    yield Site()
    for module in [m for m in sys.modules if m.startswith("fake_")]:
        del sys.modules[module]


def test_finding_imports_nothing(site):
    module = site.install("a", GOOD.format(name="a"))
    (record,) = site.host().records()
    assert (record.name, record.group, record.distribution, record.version, record.state) == ("a", "treadle.ops", "fake-a", "1.0", "found")
    assert module not in sys.modules


def test_loading_registers_under_the_plugins_name(site):
    site.install("a", GOOD.format(name="a"))
    host = site.host()
    record = host.load("treadle.ops", "a")
    assert record.state == "loaded" and host.registry.ops["a.same"].plugin == "a" and "a.same" in host.registry.names
    assert host.load("treadle.ops", "a") is record


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("raise ImportError('libx.so is missing')", "ImportError: libx.so is missing"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("this is no Python", "SyntaxError"),
        ("x = 1", "no function treadle_register"),
        ("def treadle_register(registry): pass", "not marked"),
        (GOOD.format(name="b") + "    raise RuntimeError('half-way')", "RuntimeError: half-way"),
        ("from treadle.hookspecs import hookimpl\n@hookimpl\ndef treadle_register(registry, extra): pass", "extra"),
        (GOOD.format(name="b") + "\n@hookimpl\ndef treadle_nonsense(): pass", "treadle_nonsense"),
        ("from treadle.hookspecs import hookimpl\n@hookimpl\ndef treadle_register(registry):\n    registry.add_op(42)", "42"),
        ("from treadle.hookspecs import hookimpl\n@hookimpl\ndef treadle_register(registry):\n    registry.add_device(int)", "Device"),
        ("from treadle.hookspecs import hookimpl\n@hookimpl\ndef treadle_register(registry):\n    registry.add_pass(int)", "Pass"),
    ],
)
def test_a_broken_plugin_is_contained_reported_and_leaves_nothing(site, text, cause):
    site.install("b", text)
    site.install("c", GOOD.format(name="c"))
    host = site.host()
    with pytest.warns(PluginWarning, match=r"'b' \(fake-b 1.0\).*disable") as caught:
        record = host.load("treadle.ops", "b")
    assert len(caught) == 1
    assert record.state == "failed" and cause in record.cause
    assert not host.registry.ops and not host.registry.names and not host.registry.devices
    assert host.load("treadle.ops", "b") is record
    assert host.load("treadle.ops", "c").state == "loaded"
    assert "'b' (fake-b 1.0) failed" in host.failures("treadle.ops")


def test_a_keyboard_interrupt_is_not_a_plugins_failure(site):
    site.install("b", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        site.host().load("treadle.ops", "b")


def test_a_name_that_is_taken_names_both_plugins(site):
    site.install("a", GOOD.format(name="shared"))
    site.install("b", GOOD.format(name="shared"))
    host = site.host()
    host.load("treadle.ops", "a")
    with pytest.warns(PluginWarning, match="plugin 'b' registers op 'shared.same', which plugin 'a' already registered"):
        host.load("treadle.ops", "b")


def test_the_strict_switch_turns_failures_into_exceptions(site):
    site.install("b", "raise ImportError('gone')")
    with settings.override(strict=True), pytest.raises(PluginError, match=r"'b' \(fake-b 1.0\).*gone"):
        site.host().load("treadle.ops", "b")


def test_disabled_plugins_are_listed_and_never_imported(site):
    module = site.install("b", "raise AssertionError")
    with settings.override(disabled=("b",)):
        host = site.host()
        record = host.load("treadle.ops", "b")
    assert record.state == "disabled" and module not in sys.modules and "disabled" in host.failures("treadle.ops")


@pytest.mark.parametrize(
    ("requires", "is_refused"),
    [
        ("treadle-kernel>=0.1,<0.2", False),
        ("treadle_kernel (>=0.1)", False),
        ("treadle-kernel", False),
        ("treadle-kernel~=0.1", False),
        ("numpy>=99", False),
        ("treadle-kernel>=9.0,<9.1", True),
        ("treadle-kernel==0.0.9", True),
        ("treadle-kernel<0.1; python_version > '3'", True),
    ],
)
def test_a_plugin_for_another_kernel_is_refused_before_it_is_imported(site, requires, is_refused):
    module = site.install("k", GOOD.format(name="k"), requires=[requires])
    host = site.host()
    if is_refused:
        with pytest.warns(PluginWarning, match=r"is built for treadle-kernel.*this is treadle-kernel 0\.1"):
            host.load("treadle.ops", "k")
        assert module not in sys.modules
    else:
        assert host.load("treadle.ops", "k").state == "loaded"


def test_the_same_distribution_found_twice_registers_once(site, tmp_path):
    site.install("a", GOOD.format(name="a"))
    site.install("a", None, folder=tmp_path / "again", module="fake_other")
    host = site.host(tmp_path, tmp_path, tmp_path / "again")
    assert len(host.records()) == 1
    assert host.load("treadle.ops", "a").state == "loaded"


def test_two_distributions_with_one_plugin_name_are_an_error_that_names_both(site):
    site.install("a", GOOD.format(name="a"), entry="same")
    site.install("b", GOOD.format(name="b"), entry="same")
    records = site.host().records()
    assert [(r.distribution, r.state) for r in records] == [("fake-a", "failed"), ("fake-b", "failed")]
    assert all("fake-a 1.0" in r.cause and "fake-b 1.0" in r.cause and "disabled = ['fake-b']" in r.cause for r in records)
    with settings.override(disabled=["fake-b"]):
        host = site.host()
        assert host.load("treadle.ops", "same").distribution == "fake-a"
        assert not host.records()[0].cause


def test_a_stranger_with_the_name_of_one_of_our_plugins_does_not_put_ours_out_of_use(site, monkeypatch):
    monkeypatch.setattr("treadle.plugins.OWN", frozenset({"fake-b"}))
    site.install("a", GOOD.format(name="a"), entry="same")
    site.install("b", GOOD.format(name="b"), entry="same")
    host = site.host()
    assert host.load("treadle.ops", "same").distribution == "fake-b"
    assert [(r.distribution, r.state) for r in host.records()] == [("fake-b", "loaded"), ("fake-a", "failed")]


KERNELS = """
from treadle.contracts.spec import Spec
from treadle.declare import op
from treadle.hookspecs import hookimpl

@op("{name}.thing", public="{name}.thing")
def thing(x: Spec) -> Spec:
    return x

@hookimpl
def treadle_register(registry):
    registry.add_ops(__name__)
    registry.add_kernels(for_="BOARD", module="{kernels}")
"""


class Board(Device):
    type = "BOARD"
    array_module = None


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (None, "No module named"),
        ("import sys; sys.exit(7)", "SystemExit: 7"),
        ("from treadle.declare import kernel\n@kernel('other.op')\ndef k(xp): return None\nraise ValueError('half-way')", "half-way"),
    ],
)
def test_kernels_that_fail_when_a_device_is_opened_withdraw_their_plugin_and_nothing_else(site, text, cause):
    kernels = f"fake_kernels_{site.path.name.replace('-', '_')}"
    if text is not None:
        (site.path / f"{kernels}.py").write_text(text)
    site.install("b", KERNELS.format(name="b", kernels=kernels))
    site.install("c", GOOD.format(name="c"))
    host = site.host()
    record = host.load("treadle.ops", "b")
    host.load("treadle.ops", "c")
    assert record.state == "loaded"
    with pytest.warns(PluginWarning, match=r"'b' \(fake-b 1.0\), which failed"):
        host.registry.import_kernels(Board(0))
    assert record.state == "failed" and cause in record.cause
    assert set(host.registry.ops) == {"c.same"}
    assert not host.registry.kernels.get("other.op")
    host.registry.import_kernels(Board(0))  # it is not tried again


def test_groups_load_separately(site):
    ops = site.install("a", GOOD.format(name="a"))
    other = site.install("b", "THING = 7", group="treadle.plugins", value=None)
    host = site.host()
    assert host.load("treadle.plugins", "b").thing.THING == 7
    assert other in sys.modules and ops not in sys.modules


def test_a_pass_is_registered_under_its_entry_points_name(site):
    module = f"fake_p_{site.path.name.replace('-', '_')}"
    site.install(
        "p",
        "class Mine:\n    name = 'other'\n    def run(self, item, context): return False",
        group="treadle.passes",
        value=f"{module}:Mine",
        entry="my-pass",
    )
    host = site.host()
    host.load("treadle.passes", "my-pass")
    assert host.registry.passes["my-pass"].plugin == "my-pass"


def test_an_observer_that_raises_is_reported_and_the_others_are_called():
    from treadle.hookspecs import hookimpl

    seen = []

    class Bad:
        @hookimpl
        def treadle_device_opened(self, device):
            raise RuntimeError("observer")

    class Good:
        @hookimpl
        def treadle_device_opened(self, device):
            seen.append(device)

    host = Host(Registry(), [])
    host.observe(Good())
    host.observe(Bad())
    with pytest.warns(PluginWarning, match="observer"):
        host.call("treadle_device_opened", device="d")
    assert seen == ["d"]


def test_what_observers_answer_is_given_back():
    from treadle.hookspecs import hookimpl

    class Knows:
        @hookimpl
        def treadle_explain_condition(self, code):
            return f"{code} is a generator"

    host = Host(Registry(), [])
    assert host.call("treadle_explain_condition", code="f", module={}) == []
    host.observe(Knows())
    assert host.call("treadle_explain_condition", code="f", module={}) == ["f is a generator"]


def test_registering_clears_the_kernels_that_ops_have_resolved():
    forgotten = []
    registry = Registry()
    registry.on_invalidate(lambda: forgotten.append(1))
    with registry.transaction("x"):
        pass
    with pytest.raises(RuntimeError), registry.transaction("x"):
        raise RuntimeError
    assert len(forgotten) == 2


def test_the_process_has_one_host():
    assert isinstance(plugins.host, Host)


LATE = """
from treadle.declare import Spec, op
from treadle.hookspecs import hookimpl

@op("late.thing", public="late.thing")
def thing(x: Spec) -> Spec:
    return x

kept = []

@hookimpl
def treadle_register(registry):
    kept.append(registry)
    raise RuntimeError("later")
"""


def test_a_plugin_that_keeps_the_registry_cannot_register_later(site):
    module = site.install("late", LATE)
    host = site.host()
    with pytest.warns(PluginWarning, match="later"):
        host.load("treadle.ops", "late")
    (registry,) = sys.modules[module].kept
    for late in (
        lambda: registry.add_ops(module),
        lambda: registry.add_device(Board),
        lambda: registry.add_kernels(for_="BOARD", module=module),
        lambda: registry.fill("accumulate", len),
    ):
        with pytest.raises(PluginError, match="the registry takes nothing now"):
            late()
    assert not host.registry.ops and not host.registry.devices and not host.registry.roles


DEVICE = """
from treadle.contracts.device import Device
from treadle.hookspecs import hookimpl

class ThisDevice(Device):
    type = "{type}"

@hookimpl
def treadle_register(registry):
    registry.add_device(ThisDevice)
"""

ADDED = """
from treadle.declare import kernel
from treadle.hookspecs import hookimpl

@kernel("{op}")
def computes(xp):
    return xp.abs

@hookimpl
def treadle_register(registry):
    registry.add_kernels(for_="{type}", module=__name__)
"""


def test_a_plugin_whose_name_adds_to_a_device_is_loaded_with_it(site):
    for name, text in {"one": DEVICE, "one.fast": ADDED, "one2": DEVICE, "two": DEVICE, "two.fast": ADDED}.items():
        module = name.replace(".", "_")
        site.install(module, text.format(type=name.upper(), op=name), group="treadle.devices", entry=name)
    host = site.host()
    host.load_for_device("ONE")
    states = {record.name: record.state for record in host.records("treadle.devices")}
    assert states == {"one": "loaded", "one.fast": "loaded", "one2": "found", "two": "found", "two.fast": "found"}


def test_a_plugin_that_adds_to_a_device_may_fail_without_it(site):
    site.install("one", DEVICE.format(type="ONE"), group="treadle.devices")
    site.install("fast", "raise ImportError('no compiler')", group="treadle.devices", entry="one.fast")
    host = site.host()
    with pytest.warns(PluginWarning, match="'one.fast'.*no compiler"):
        host.load_for_device("ONE")
    assert "ONE" in host.registry.devices
    host.load_for_device("ONE")


def test_a_plugin_may_give_up_later(site):
    site.install("one", DEVICE.format(type="ONE"), group="treadle.devices")
    site.install("fast", ADDED.format(type="ONE", op="x"), group="treadle.devices", entry="one.fast")
    host = site.host()
    host.load_for_device("ONE")
    with pytest.warns(PluginWarning, match=r"goes on without plugin 'one.fast' \(fake-fast 1.0\), which failed: OSError: no such processor"):
        host.registry.give_up("one.fast", OSError("no such processor"))
    assert host.record("treadle.devices", "one.fast").state == "failed" and "ONE" in host.registry.devices
    assert not host.registry._pending
    with settings.override(strict=True), pytest.raises(PluginError, match=r"'one'.*useless"):
        host.registry.give_up("one", OSError("useless"))
