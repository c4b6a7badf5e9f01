"""The lines of JSON that verifiable tasks print.

Kafka 0.10.2: connect/runtime/.../connect/tools/VerifiableSourceTask.java, VerifiableSinkTask.java · book 8.3.2
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping


def print_line(data: Mapping[str, object]) -> None:
    """Print one line on standard output. The lines of several tasks do not mix."""
    sys.stdout.write(json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()
