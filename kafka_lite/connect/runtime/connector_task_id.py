"""The name of a task: its connector and its number.

Kafka 0.10.2: connect/runtime/.../connect/util/ConnectorTaskId.java · book 8.3.5
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FORMAT = re.compile(r"(.*)-([0-9]{1,9})", re.DOTALL)


class ConnectorTaskId(NamedTuple):
    """Ordered by connector, then by number. Its ``str`` is part of the keys of internal topics: ``file-source-0``."""

    connector: str
    task: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.task}"

    @classmethod
    def parse(cls, text: str) -> ConnectorTaskId | None:
        """The inverse of ``str``: the number follows the last dash, because a connector's name may have some. None if
        the text is not an id."""
        match = _FORMAT.fullmatch(text)
        return None if match is None else cls(match[1], int(match[2]))
