"""Answers of Kafka 3.9.1's security classes, recorded once: an input with its result or its error."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "data" / "security" / "kafka-3.9.1.json"


@cache
def _all() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def accepted(kind: str) -> list[tuple[list[str], Any]]:
    """The inputs that Kafka accepts, with the results."""
    return [(sample["of"], sample["is"]) for sample in _all()[kind] if "is" in sample]


def refused(kind: str) -> list[list[str]]:
    """The inputs for which Kafka raises."""
    return [sample["of"] for sample in _all()[kind] if "error" in sample]
