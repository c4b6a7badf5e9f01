"""Times in the patterns of Java's SimpleDateFormat, which several of Kafka's tools take.

Kafka 0.10.2: core/.../tools/ConsumerPerformance.scala, JmxTool.scala (--date-format) · book 1.4.1
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from kafka_lite.tools.common.tool_errors import ToolError

DateFormat = Callable[[float], str]

_FIELDS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "MMM": "%b", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


def date_format(pattern: str) -> DateFormat:
    """A formatter of epoch ms (in local time) for a pattern of Java's SimpleDateFormat. Raises ToolError."""
    parts = [match.group() for match in re.finditer(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']+", pattern)]
    unknown = [part for part in parts if part.isalpha() and part not in _FIELDS and part != "SSS"]
    if unknown:
        known = ", ".join([*_FIELDS, "SSS"])
        raise ToolError(f"--date-format: {unknown[0]!r} is not supported; these are: {known}")

    def text(time_ms: float) -> str:
        when, ms = datetime.fromtimestamp(time_ms // 1000), int(time_ms) % 1000
        return "".join(_part_text(part, when, ms) for part in parts)

    return text


def _part_text(part: str, when: datetime, ms: int) -> str:
    if part == "SSS":
        return f"{ms:03d}"
    return when.strftime(_FIELDS[part]) if part in _FIELDS else part.strip("'")
