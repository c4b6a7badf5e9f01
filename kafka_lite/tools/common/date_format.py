"""The format of times that a tool prints, which ``--date-format`` gives as a pattern of Java's SimpleDateFormat.

Kafka 0.10.2: core/.../tools/ConsumerPerformance.scala, JmxTool.scala (--date-format) · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.java.simple_date_format import SimpleDateFormat
from kafka_lite.tools.common.tool_errors import ToolError

DateFormat = Callable[[float], str]


def date_format(pattern: str) -> DateFormat:
    """A formatter of epoch ms, in local time. Raises ToolError if this is not a pattern."""
    try:
        local = SimpleDateFormat(pattern, zone=None)
    except ValueError as error:
        raise ToolError(f"--date-format {pattern!r}: {error}") from None
    return lambda time_ms: local.format(int(time_ms))
