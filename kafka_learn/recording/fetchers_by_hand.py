"""Fetchers of followers whose turns are made by hand, and the leader that they read without a connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer, Part
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.server.fetch_params import FetchParams, LogReadResult
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replication.leader_end_point import EpochEnd, ReplicaFetchRequest, ReplicaPartitionData
from kafka_lite.server.replication.replica_fetcher_manager import ReplicaFetcherManager
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread

MAX_BYTES = 1 << 20


class LeadingBroker(Protocol):
    """The part of a broker that its followers use."""

    @property
    def manager(self) -> ReplicaManager:
        """Its replica manager."""
        ...

    def read(self, params: FetchParams, offset: int, leader_epoch: int = ...) -> LogReadResult:
        """Read as a fetch request does."""
        ...


class FetchersByHand(ReplicaFetcherManager):
    """Makes the fetchers as threads that are never started."""

    def create_fetcher_thread(self, fetcher_id: int, source_broker: BrokerEndPoint) -> ReplicaFetcherThread:
        """A fetcher whose turns are made by ``BrokerByHand.fetch``."""
        thread = super().create_fetcher_thread(fetcher_id, source_broker)
        start: Callable[[], None] = lambda: None  # noqa: E731
        thread.start = start  # type: ignore[method-assign]
        return thread


class LeaderByHand:
    """A leader as a follower's fetcher sees it, without a connection between them."""

    def __init__(self, leader: LeadingBroker, follower_id: int) -> None:
        self._leader = leader
        self._follower_id = follower_id

    def fetch(self, request: ReplicaFetchRequest) -> list[tuple[TopicPartition, ReplicaPartitionData]]:
        """The records after these positions."""
        params = FetchParams(self._follower_id, 0, 0, MAX_BYTES, False)
        ((partition, position),) = request.positions.items()
        read = self._leader.read(params, position.fetch_offset, position.leader_epoch)
        records = FetchedRecords(bytes_of(read.records))
        data = ReplicaPartitionData(read.error, read.high_watermark, read.log_start_offset, records)
        return [(partition, data)]

    def latest_offset(self, partition: TopicPartition) -> int:
        """Where the leader's log ends."""
        return self._log(partition).log_end_offset

    def earliest_offset(self, partition: TopicPartition) -> int:
        """Where the leader's log starts."""
        return self._log(partition).log_start_offset

    def epoch_ends(self, epochs: Mapping[TopicPartition, tuple[int, int]]) -> dict[TopicPartition, EpochEnd]:
        """Where epochs end."""
        return {
            tp: EpochEnd(Errors.NONE, *self._log(tp).end_offset_for_epoch(asked)) for tp, (_, asked) in epochs.items()
        }

    def _log(self, partition: TopicPartition) -> Log:
        return self._leader.manager.get_leader_log(partition)[2]

    def abort(self) -> None:
        """There is nothing to interrupt."""

    def close(self) -> None:
        """There is nothing to close."""


def bytes_of(part: Part) -> bytes:
    """The records that a response would carry."""
    return bytes(part) if isinstance(part, Buffer) else part.to_bytes()
