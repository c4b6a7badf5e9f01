"""Client properties as the tools accept them: from a file and as ``key=value`` flags.

Kafka 0.10.2: core/.../utils/CommandLineUtils.scala (parseKeyValueArgs) · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kafka_lite.common.properties import load_properties
from kafka_lite.tools.common.tool_errors import ToolError


def parse_key_value_args(flag: str, entries: Iterable[str]) -> dict[str, str]:
    """Parse ``key=value`` entries into a mapping; values may contain ``=``. Raises ToolError naming the flag."""
    properties = {}
    for entry in entries:
        key, equals, value = entry.partition("=")
        if not key or not equals:
            raise ToolError(f"{flag} {entry}: must be of the form key=value")
        properties[key] = value
    return properties


def client_properties(file: Path | None, flag: str, entries: Iterable[str]) -> dict[str, str]:
    """The file's properties, overridden by the ``key=value`` entries.

    Raises ToolError, OSError if the file cannot be read, PropertiesError if it is malformed.
    """
    return (load_properties(file) if file is not None else {}) | parse_key_value_args(flag, entries)
