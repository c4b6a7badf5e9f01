"""A mirror with a known bug, to show that the simulator finds it. A world runs it in place of the mirror."""

from __future__ import annotations

from typing import Any

from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.testing.simulation.mirror.programs import mirror


def committing_before_the_acknowledgement(*args: Any) -> None:
    """A commit does not wait for the acknowledgement of what was sent."""
    MirrorMakerProducer.flush = lambda _self: None  # type: ignore[method-assign]
    mirror(*args)
