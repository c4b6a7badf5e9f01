"""A mirror with a known bug, to show that the simulator finds it. A world runs it in place of the mirror."""

from __future__ import annotations

from typing import Any

from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.testing.simulation.mirror.programs import mirror
from kafka_lite.testing.simulation.programs import PRODUCER_DEFAULTS


def committing_before_the_acknowledgement(*args: Any) -> None:
    """A commit does not wait for what was sent, which a producer that lingers keeps for a while."""
    PRODUCER_DEFAULTS["linger.ms"] = 2_000
    MirrorMakerProducer.flush = lambda _self: None  # type: ignore[assignment, method-assign]
    mirror(*args)
