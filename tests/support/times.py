"""Timestamps for the records of tests."""

from __future__ import annotations

import time

AN_HOUR_AGO_MS = time.time_ns() // 1_000_000 - 3_600_000
"""Not so long ago that retention would take the records away."""
