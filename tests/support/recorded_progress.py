"""The progress of two queries, as Spark reported it while a day was replayed with faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition

FILE = Path(__file__).parents[1] / "data" / "pipeline-progress.jsonl"
FLIGHT_ENDS = {TopicPartition("flights", number): end for number, end in enumerate((227, 217, 220, 206))}
"""Where the partitions of the flights ended."""


def recorded_progress() -> list[dict[str, Any]]:
    """Nine batches of ``delays`` and ``dead_letters``, in the order of their arrival."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def recorded_delays(batches: int = 6) -> list[dict[str, Any]]:
    """The first batches of ``delays``."""
    return [progress for progress in recorded_progress() if progress["name"] == "delays"][:batches]
