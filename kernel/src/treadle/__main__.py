"""``python -m treadle``: hands over to the plugin ``cli``, which another distribution offers."""

from __future__ import annotations

import sys
import warnings

from treadle.errors import ConfigError, PluginError
from treadle.plugins import PluginWarning, host


def main() -> int:
    """Run the command line, or say how to get one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PluginWarning)
            record = host.load("treadle.plugins", "cli")
    except (ConfigError, PluginError) as error:
        print(f"treadle: {error}", file=sys.stderr)
        return 2
    if record is not None and record.thing is not None:
        code: int = record.thing() or 0
        return code
    if record is None:
        told = "there is no command line: no plugin 'cli' is installed; `pip install treadle-cli` brings one"
    elif record.disabled:
        told = f"the plugin 'cli' ({record.distribution} {record.version}) is disabled by the settings"
    else:
        told = f"the plugin 'cli' ({record.distribution} {record.version}) failed: {record.cause}"
    print(f"treadle: {told}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
