"""The key of a share partition, and the persister that tests use instead of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.persister import (
    UNINITIALIZED_EPOCH,
    UNINITIALIZED_START_OFFSET,
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
    PersisterStateBatch,
    SharePartitionKey,
)
from tests.support.in_memory_persister import InMemoryPersister

TOPIC_ID = UUID(int=2**64)
PARTITION = TopicIdPartition(TOPIC_ID, 3)
R = TypeVar("R")


def _only(call: Callable[[Callable[[Mapping[TopicIdPartition, R]], None]], None]) -> R:
    """The outcome of a call for PARTITION."""
    responses: list[Mapping[TopicIdPartition, R]] = []
    call(responses.append)
    (response,) = responses
    assert list(response) == [PARTITION]
    return response[PARTITION]


def _initialize(persister: InMemoryPersister, state_epoch: int, start_offset: int) -> Errors:
    data = {PARTITION: PartitionStateData(state_epoch, start_offset)}
    return _only(lambda respond: persister.initialize_state("group", data, respond)).error


def _write(persister: InMemoryPersister, state_epoch: int, leader_epoch: int, *batches: PersisterStateBatch) -> Errors:
    data = {PARTITION: PartitionStateBatchData(state_epoch, leader_epoch, UNINITIALIZED_START_OFFSET, batches)}
    return _only(lambda respond: persister.write_state("group", data, respond)).error


def _read(persister: InMemoryPersister, leader_epoch: int) -> PartitionAllData:
    return _only(lambda respond: persister.read_state("group", {PARTITION: leader_epoch}, respond))


def test_coordinator_key_is_group_topic_id_and_partition() -> None:
    key = SharePartitionKey("group", TOPIC_ID, 3)

    assert key.as_coordinator_key() == "group:AAAAAAAAAAEAAAAAAAAAAA:3"
    assert SharePartitionKey.parse(key.as_coordinator_key()) == key


@pytest.mark.parametrize(
    "text", ["", "group", "group:AAAAAAAAAAEAAAAAAAAAAA", " :AAAAAAAAAAEAAAAAAAAAAA:3", "g:AAAA:3", "g:h:i:j"]
)
def test_other_keys_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        SharePartitionKey.parse(text)


def test_what_is_written_is_read_merged() -> None:
    persister = InMemoryPersister()
    assert _initialize(persister, 1, 10) is Errors.NONE
    assert _write(persister, 1, 0, PersisterStateBatch(10, 19, 0, 1)) is Errors.NONE
    assert _write(persister, 1, 0, PersisterStateBatch(12, 13, 2, 1)) is Errors.NONE

    assert _read(persister, 0) == PartitionAllData(
        1,
        10,
        [PersisterStateBatch(10, 11, 0, 1), PersisterStateBatch(12, 13, 2, 1), PersisterStateBatch(14, 19, 0, 1)],
    )


def test_older_leader_and_older_state_are_fenced() -> None:
    persister = InMemoryPersister()
    _initialize(persister, 2, 0)

    assert _read(persister, 5).error is Errors.NONE
    assert _read(persister, 4).error is Errors.FENCED_LEADER_EPOCH
    assert _write(persister, 2, 4) is Errors.FENCED_LEADER_EPOCH
    assert _write(persister, 1, 5) is Errors.FENCED_STATE_EPOCH
    assert _write(persister, UNINITIALIZED_EPOCH, UNINITIALIZED_EPOCH) is Errors.NONE
    assert _initialize(persister, 1, 0) is Errors.FENCED_STATE_EPOCH


def test_state_that_was_deleted_is_not_initialized() -> None:
    persister = InMemoryPersister()
    _initialize(persister, 0, 7)
    assert _only(lambda respond: persister.delete_state("group", [PARTITION], respond)) == PartitionErrorData()

    assert _read(persister, 0).error is Errors.INVALID_REQUEST
    summary = _only(lambda respond: persister.read_summary("group", {PARTITION: 0}, respond))
    assert summary == PartitionStateSummaryData(0, 0, UNINITIALIZED_START_OFFSET)


def test_responses_and_failures_are_at_the_test_s_command() -> None:
    persister = InMemoryPersister()
    persister.hold()
    responses: list[Mapping[TopicIdPartition, PartitionErrorData]] = []
    persister.initialize_state("group", {PARTITION: PartitionStateData(0, 0)}, responses.append)
    assert not responses
    persister.release()
    assert responses == [{PARTITION: PartitionErrorData()}]

    persister.errors = [Errors.COORDINATOR_NOT_AVAILABLE]
    assert _write(persister, 0, 0) is Errors.COORDINATOR_NOT_AVAILABLE
    assert _write(persister, 0, 0) is Errors.NONE
