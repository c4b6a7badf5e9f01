"""All methods of the persister reach the coordinator of this broker, and its results come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import pytest

from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
)
from kafka_lite.server.share.persister.default_state_persister import DefaultStatePersister
from kafka_lite.server.share.persister.persister_state_manager import PersisterStateManager
from kafka_lite.server.share.persister.state_messages import StateMessages
from tests.support.share_coordinators import GROUP, P0, P1, P2, ShareCoordination, batch

OK = PartitionErrorData()


@pytest.fixture
def persister() -> Iterator[DefaultStatePersister]:
    share = ShareCoordination()
    methods: dict[str, Callable[..., None]] = {
        "initialize state": share.coordinator.initialize_state,
        "read state": share.coordinator.read_state,
        "write state": share.coordinator.write_state,
        "delete state": share.coordinator.delete_state,
        "read state summary": share.coordinator.read_summary,
    }

    def ask_here(
        messages: StateMessages[Any, Any],
        group_id: str,
        partitions: Mapping[TopicIdPartition, Any],
        respond: Callable[[Mapping[Any, Any]], None],
    ) -> None:
        methods[messages.name](group_id, partitions, respond)

    scheduler = MockScheduler(share.time)
    made = DefaultStatePersister(PersisterStateManager(0, lambda _key: 0, ask_here, cast(Any, None), scheduler))
    yield made
    made.stop()


def test_a_state_from_its_beginning_to_its_end(persister: DefaultStatePersister) -> None:
    told: list[Mapping[TopicIdPartition, Any]] = []
    persister.initialize_state(GROUP, dict.fromkeys((P0, P1, P2), PartitionStateData(1, 10)), told.append)
    assert told.pop() == {P0: OK, P1: OK, P2: OK}

    persister.read_state(GROUP, {P0: 4}, told.append)
    assert told.pop() == {P0: PartitionAllData(1, 10, ())}

    persister.write_state(GROUP, {P0: PartitionStateBatchData(1, 4, 12, [batch(12, 15, 2)])}, told.append)
    assert told.pop() == {P0: OK}

    persister.read_summary(GROUP, {P0: -1, P1: -1}, told.append)
    assert told.pop() == {P0: PartitionStateSummaryData(1, 4, 12), P1: PartitionStateSummaryData(1, 0, 10)}

    persister.delete_state(GROUP, [P0], told.append)
    assert told.pop() == {P0: OK}
    persister.read_summary(GROUP, {P0: -1}, told.append)
    assert told.pop() == {P0: PartitionStateSummaryData(0, 0, -1)}
    assert not told


def test_questions_about_no_partition_are_answered(persister: DefaultStatePersister) -> None:
    told: list[Mapping[TopicIdPartition, Any]] = []
    persister.read_state(GROUP, {}, told.append)
    persister.write_state(GROUP, {}, told.append)
    assert told == [{}, {}]
