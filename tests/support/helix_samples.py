"""What a real Helix 0.6.9 wrote: tests/data/helix, from the transaction log of a ZooKeeper."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from kafka_lite.mirror.helix.zn_record import ZNRecord

SAMPLES = Path(__file__).parents[1] / "data" / "helix"


def record_of(data: dict[str, Any]) -> ZNRecord:
    """A record from its JSON."""
    return ZNRecord(data["id"], data["simpleFields"], data["listFields"], data["mapFields"])


@cache
def state_models() -> dict[str, dict[str, Any]]:
    """The state models that a controller wrote, and those that a program built."""
    models: dict[str, dict[str, Any]] = json.loads((SAMPLES / "state-models-0.6.9.json").read_text(encoding="utf-8"))
    return models


@cache
def _writes() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / "writes-0.6.9.jsonl").read_text(encoding="utf-8").splitlines()]


def writes(step: str) -> Iterator[tuple[str, str, ZNRecord | None]]:
    """The writes of a step, in their order: type, path, record."""
    current = ""
    for line in _writes():
        current = line.get("step", current)
        if current == step and "path" in line:
            yield line["type"], line["path"], record_of(line["record"]) if "record" in line else None


def record(step: str, path_part: str, which: int = 0) -> ZNRecord:
    """The record of a step's write to a path with that part."""
    return [found for _, path, found in writes(step) if path_part in path and found is not None][which]
