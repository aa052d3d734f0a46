"""The default schedule: what runs, in order, when no configuration says otherwise."""

from __future__ import annotations

SCHEDULE = ("constant-folding", "arithmetic", "common-subexpression", "prune")
