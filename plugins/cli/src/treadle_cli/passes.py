"""``treadle passes``: the schedule in force, where each line and option of it was decided, and the passes that it leaves out."""

from __future__ import annotations

import warnings
from typing import Any

from rich.text import Text

from treadle import settings
from treadle.errors import PluginError
from treadle.grappler import schedule
from treadle.plugins import PluginWarning, host
from treadle_cli.console import console, place, plain, plural, table


def _options(options: dict[str, tuple[Any, str]]) -> Text:
    lines = [plain(f"{name} = {value!r}") + plain(f"  ({place(origin)})", "dim") for name, (value, origin) in options.items()]
    return Text("\n").join(lines)


def _left_out(scheduled: set[str]) -> list[str]:
    """Names of the passes that are not scheduled; those that fail to load are told of elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        for name in schedule.available():
            try:
                schedule.find(name)
            except PluginError:
                continue
    return [name for name in schedule.available() if name not in scheduled]


def show() -> None:
    """Print the schedule and what it could have besides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        in_force = schedule.in_force()
    current = settings.current()
    out = console()
    out.print(plain(f"The schedule in force: {plural(len(in_force.passes), 'pass')}, from {_origin(in_force, current)}", "bold"), soft_wrap=True)
    is_wide = out.width >= 110
    rows = table("", "pass", "offered by", "options~", *(["ensures~"] if is_wide else []), right=("",))
    for number, line in enumerate(in_force.passes, 1):
        told = [plain(line.instance.ensures, "dim")] if is_wide else []
        rows.add_row(str(number), plain(line.instance.name, "bold"), plain(_plugin(line.instance.name)), _options(line.options), *told)
    if in_force.passes:
        out.print(rows)
    for name, value in (("rounds", in_force.rounds), ("verify", in_force.verify), ("fast_math", in_force.fast_math)):
        out.print(plain(f"{name:<10}{str(value).lower():<10}") + plain(f"({place(current.origin[f'optimizer.{name}'])})", "dim"), soft_wrap=True)
    left = _left_out({line.instance.name for line in in_force.passes})
    if left:
        rows = table("not scheduled", "offered by", "ensures~")
        for name in left:
            found = schedule.find(name)
            rows.add_row(plain(name), plain(_plugin(name)), plain("failed, see below" if found is None else found.ensures))
        out.print(rows)
    if told := host.failures("treadle.passes"):
        out.print(plain(told, "red"), soft_wrap=True)


def _origin(in_force: schedule.Schedule, current: settings.Settings) -> str:
    return place(in_force.passes[0].origin if in_force.passes else current.origin["optimizer.schedule"])


def _plugin(name: str) -> str:
    record = host.record("treadle.passes", name)
    return f"{record.distribution} {record.version}" if record is not None else "registered by the program itself"
