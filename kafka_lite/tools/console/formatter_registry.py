"""Finds the formatter that ``--formatter`` names.

Kafka 0.10.2: core/.../tools/ConsoleConsumer.scala (ConsumerConfig.formatter) · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.new_instance import new_instance
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.console.message_formatters import (
    KAFKA_CLASS,
    ChecksumMessageFormatter,
    DefaultMessageFormatter,
    LoggingMessageFormatter,
    MessageFormatter,
    NoOpMessageFormatter,
)
from kafka_lite.tools.console.offsets_formatters import JSON_FORMATTERS, TEXT_FORMATTERS

KAFKA_FORMATTERS: Mapping[str, type[MessageFormatter]] = {
    kind.__name__: kind
    for kind in (DefaultMessageFormatter, LoggingMessageFormatter, NoOpMessageFormatter, ChecksumMessageFormatter)
}
"""By simple class name, which is the same in kafka.tools and in org.apache.kafka.tools.consumer."""


def create_formatter(name: str, properties: Mapping[str, str]) -> MessageFormatter:
    """Create a formatter, given Kafka's class name or ``package.module.Class``. Raises ToolError, ConfigError."""
    match = KAFKA_CLASS.fullmatch(name)
    if match is None:
        formatter: MessageFormatter = new_instance("formatter", MessageFormatter, name)
    else:
        of_groups = JSON_FORMATTERS if name.startswith("org.apache.kafka.tools.") else TEXT_FORMATTERS
        known = {**KAFKA_FORMATTERS, **of_groups}
        short = match[1] or match[2]
        if short not in known:
            raise ToolError(f"Unknown formatter {name}; use one of {', '.join(known)}, or package.module.Class")
        formatter = known[short]()
    formatter.configure(properties)
    return formatter
