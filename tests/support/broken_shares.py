"""Brokers with known bugs in share groups, to show that the simulator finds them."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.coordinator.share.persister import PartitionErrorData
from kafka_lite.coordinator.share.share_coordinator_shard import ShareCoordinatorShard
from kafka_lite.server.share import acknowledgement
from kafka_lite.server.share.record_state import RELEASE, STATE_OF_ACKNOWLEDGE_TYPE, RecordState
from kafka_lite.testing.simulation.programs import broker


def forgetting_what_is_released(properties: Mapping[str, str]) -> None:
    """Records that a member releases are done with, as if it had rejected them."""
    released_is_archived = {**STATE_OF_ACKNOWLEDGE_TYPE, RELEASE: RecordState.ARCHIVED}
    setattr(acknowledgement, "STATE_OF_ACKNOWLEDGE_TYPE", released_is_archived)  # noqa: B010
    broker(properties)


def without_persisted_acknowledgements(properties: Mapping[str, str]) -> None:
    """A share coordinator says that it has written what it has not: the next leader delivers everything again."""
    nothing = lambda _self, _key, _data, respond: respond(PartitionErrorData())  # noqa: E731
    ShareCoordinatorShard.write_state = nothing  # type: ignore[method-assign]
    broker(properties)
