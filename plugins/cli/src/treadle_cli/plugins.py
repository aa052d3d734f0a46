"""``treadle plugins``: every plugin found, whether it works and, if not, why."""

from __future__ import annotations

import json
import warnings
from typing import Any

from treadle import settings
from treadle.errors import PluginError
from treadle.plugins import PluginRecord, PluginWarning, host
from treadle_cli.console import console, place, plain, plural, table

STYLES = {"loaded": "green", "failed": "bold red", "disabled": "yellow", "found": "dim"}


def load_everything() -> list[PluginRecord]:
    """Load each plugin, so that what is wrong with it shows; nothing is warned about, and strictness does not end it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        for record in host.records():
            try:
                host.load(record.group, record.name)
            except PluginError:
                continue  # the strict switch is on: the record has the cause
    return host.records()


def cause(record: PluginRecord) -> str:
    """Why a plugin is not in use, or an empty text."""
    if record.disabled:
        return f"disabled by {place(settings.current().origin.get('plugins.disabled', 'the settings'))}"
    return record.cause


def describe(record: PluginRecord) -> dict[str, Any]:
    """A record as ``--json`` prints it."""
    return {
        "name": record.name,
        "group": record.group,
        "distribution": record.distribution,
        "version": record.version,
        "state": record.state,
        "cause": cause(record),
        "value": record.value,
    }


def show(as_json: bool = False) -> None:
    """Print all plugins."""
    records = load_everything()
    if as_json:
        print(json.dumps([describe(record) for record in records], indent=2))
        return
    out = console()
    rows = table("name", "group", "distribution", "version", "state")
    for record in records:
        cells = [plain(text) for text in (record.name, record.group, record.distribution, record.version)]
        rows.add_row(*cells, plain(record.state, STYLES[record.state]))
    out.print(rows)
    for record in records:
        if told := cause(record):
            out.print(plain(f"{record.name} ", STYLES[record.state]) + plain(f"({record.group}, {record.distribution} {record.version})"))
            out.print(plain(f"    {told}"), soft_wrap=True)
    counts = {state: sum(record.state == state for record in records) for state in STYLES}
    out.print(plain(f"{plural(len(records), 'plugin')}: " + ", ".join(f"{n} {state}" for state, n in counts.items() if n)))
