"""What two workers of Kafka 0.10.2.2 in one group wrote and agreed on, recorded."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tests.support.samples import DATA


@cache
def two_workers() -> dict[str, Any]:
    """``groups``: the members after each step. ``connect-configs``, ``-status``, ``-offsets``: keys and values."""
    found: dict[str, Any] = json.loads((DATA / "connect-two-workers-0.10.2.json").read_text())
    return found
