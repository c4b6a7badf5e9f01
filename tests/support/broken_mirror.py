"""A mirror with a known bug, to show that the simulator finds it. A world runs it in place of the mirror."""

from __future__ import annotations

from typing import Any

from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.testing.simulation.mirror.programs import mirror
from kafka_lite.testing.simulation.programs import PRODUCER_DEFAULTS


def committing_before_the_acknowledgement(*args: Any) -> None:
    """A commit does not wait for the acknowledgement of what was sent."""
    MirrorMakerProducer.flush = lambda _self: None  # type: ignore[method-assign]
    mirror(*args)


def retrying_behind_later_records(*args: Any) -> None:
    """A batch that is sent again goes behind those of its partition that have been waiting meanwhile."""
    PRODUCER_DEFAULTS.update({"enable.idempotence": False, "batch.size": 200})
    RecordAccumulator._insert = lambda _self, queue, batch: queue.append(batch)  # type: ignore[method-assign]
    mirror(*args)
