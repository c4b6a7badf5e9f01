"""A Persister without a share coordinator: states in a dictionary, with the coordinator's fencing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.persister import (
    DEFAULT_LEADER_EPOCH,
    DEFAULT_STATE_EPOCH,
    UNINITIALIZED_EPOCH,
    UNINITIALIZED_START_OFFSET,
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
    Persister,
    PersisterStateBatch,
    Respond,
    SharePartitionKey,
)

D = TypeVar("D")
R = TypeVar("R")


class RecordState(NamedTuple):
    """Of one record, in the order in which a later one wins."""

    delivery_count: int
    delivery_state: int


@dataclass
class ShareState:
    """What is known of a share partition."""

    state_epoch: int
    start_offset: int
    leader_epoch: int = DEFAULT_LEADER_EPOCH
    records: dict[int, RecordState] = field(default_factory=dict)

    def batches(self) -> list[PersisterStateBatch]:
        """The records, those of the same state together."""
        found: list[PersisterStateBatch] = []
        for offset, (count, state) in sorted(self.records.items()):
            if found and found[-1][1:] == (offset - 1, state, count):
                found[-1] = found[-1]._replace(last_offset=offset)
            else:
                found.append(PersisterStateBatch(offset, offset, state, count))
        return found


class InMemoryPersister(Persister):
    """Responds in the caller's thread, or, after ``hold``, when ``release`` is called."""

    def __init__(self) -> None:
        self.states: dict[SharePartitionKey, ShareState] = {}
        self.errors: list[Errors] = []
        """What the next calls fail with, one call each."""
        self.calls: list[tuple[str, str, object]] = []
        """Method, group id and argument of each call."""
        self.is_stopped = False
        self._held: list[Callable[[], None]] | None = None

    def hold(self) -> None:
        """Keep responses back. The states change at once."""
        self._held = []

    def release(self) -> None:
        """Send the responses that were kept back, and all later ones at once."""
        held, self._held = self._held or [], None
        for respond in held:
            respond()

    def initialize_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateData], respond: Respond
    ) -> None:
        def initialize(key: SharePartitionKey, data: PartitionStateData) -> PartitionErrorData:
            known = self.states.get(key)
            if known is not None and UNINITIALIZED_EPOCH != data.state_epoch < known.state_epoch:
                return PartitionErrorData(Errors.FENCED_STATE_EPOCH)
            self.states[key] = ShareState(max(data.state_epoch, 0), data.start_offset)
            return PartitionErrorData()

        self._change("initialize_state", group_id, partitions, respond, initialize)

    def write_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateBatchData], respond: Respond
    ) -> None:
        def write(key: SharePartitionKey, data: PartitionStateBatchData) -> PartitionErrorData:
            known = self.states.get(key)
            if known is None:
                return PartitionErrorData(Errors.INVALID_REQUEST)
            if UNINITIALIZED_EPOCH != data.leader_epoch < known.leader_epoch:
                return PartitionErrorData(Errors.FENCED_LEADER_EPOCH)
            if UNINITIALIZED_EPOCH != data.state_epoch < known.state_epoch:
                return PartitionErrorData(Errors.FENCED_STATE_EPOCH)
            self.states[key] = _merge(known, data)
            return PartitionErrorData()

        self._change("write_state", group_id, partitions, respond, write)

    def delete_state(self, group_id: str, partitions: Collection[TopicIdPartition], respond: Respond) -> None:
        def delete(key: SharePartitionKey, _: None) -> PartitionErrorData:
            self.states.pop(key, None)
            return PartitionErrorData()

        self._change("delete_state", group_id, dict.fromkeys(partitions), respond, delete)

    def read_state(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionAllData]], None],
    ) -> None:
        def read(key: SharePartitionKey, leader_epoch: int) -> PartitionAllData:
            known = self.states.get(key)
            if known is None:
                return _failed_read(Errors.INVALID_REQUEST)
            if leader_epoch < known.leader_epoch:
                return _failed_read(Errors.FENCED_LEADER_EPOCH)
            known.leader_epoch = leader_epoch
            return PartitionAllData(known.state_epoch, known.start_offset, known.batches())

        failure = self._called("read_state", group_id, leader_epochs)
        self._respond(respond, self._each(group_id, leader_epochs, read, failure and _failed_read(failure)))

    def read_summary(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionStateSummaryData]], None],
    ) -> None:
        def summarize(key: SharePartitionKey, _: int) -> PartitionStateSummaryData:
            known = self.states.get(key)
            if known is None:
                return _summary(UNINITIALIZED_START_OFFSET)
            return PartitionStateSummaryData(known.state_epoch, known.leader_epoch, known.start_offset)

        failure = self._called("read_summary", group_id, leader_epochs)
        failed = failure and _summary(UNINITIALIZED_START_OFFSET, failure)
        self._respond(respond, self._each(group_id, leader_epochs, summarize, failed))

    def stop(self) -> None:
        """Remember that it was stopped."""
        self.is_stopped = True

    def _change(
        self,
        method: str,
        group_id: str,
        partitions: Mapping[TopicIdPartition, D],
        respond: Respond,
        change: Callable[[SharePartitionKey, D], PartitionErrorData],
    ) -> None:
        failure = self._called(method, group_id, partitions)
        failed = None if failure is None else PartitionErrorData(failure)
        self._respond(respond, self._each(group_id, partitions, change, failed))

    def _called(self, method: str, group_id: str, argument: object) -> Errors | None:
        self.calls.append((method, group_id, argument))
        return self.errors.pop(0) if self.errors else None

    def _each(
        self,
        group_id: str,
        partitions: Mapping[TopicIdPartition, D],
        apply: Callable[[SharePartitionKey, D], R],
        failed: R | None,
    ) -> dict[TopicIdPartition, R]:
        return {
            partition: apply(SharePartitionKey(group_id, *partition), data) if failed is None else failed
            for partition, data in partitions.items()
        }

    def _respond(self, respond: Callable[[R], None], results: R) -> None:
        if self._held is None:
            respond(results)
        else:
            self._held.append(lambda: respond(results))


def _failed_read(error: Errors) -> PartitionAllData:
    return PartitionAllData(UNINITIALIZED_EPOCH, UNINITIALIZED_START_OFFSET, (), error)


def _summary(start_offset: int, error: Errors = Errors.NONE) -> PartitionStateSummaryData:
    return PartitionStateSummaryData(DEFAULT_STATE_EPOCH, DEFAULT_LEADER_EPOCH, start_offset, error)


def _merge(known: ShareState, data: PartitionStateBatchData) -> ShareState:
    start_offset = known.start_offset if data.start_offset == UNINITIALIZED_START_OFFSET else data.start_offset
    records = dict(known.records)
    for first, last, state, count in data.state_batches:
        for offset in range(first, last + 1):
            records[offset] = max(records.get(offset, RecordState(-1, -1)), RecordState(count, state))
    return dataclasses.replace(
        known,
        state_epoch=max(known.state_epoch, data.state_epoch),
        leader_epoch=max(known.leader_epoch, data.leader_epoch),
        start_offset=start_offset,
        records={offset: state for offset, state in records.items() if offset >= start_offset},
    )
