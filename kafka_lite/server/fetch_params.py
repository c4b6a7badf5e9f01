"""The parameters of a fetch request, and the result of reading the logs for it.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (parameters of fetchMessages, LogReadResult),
clients/.../common/requests/FetchRequest.java (PartitionData); since 3.2 core/.../server/FetchParams.scala,
clients/.../common/replica/ClientMetadata.java · book 6.2.1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.aborted_txn import AbortedTxn

DEBUGGING_CONSUMER_ID = -2
"""The replica id of a reader that reads from any replica."""
READ_COMMITTED = 1
"""The isolation level of readers that see only committed records; 0 is read_uncommitted."""


class ClientMetadata(NamedTuple):
    """A consumer that fetches, as the broker knows it."""

    rack_id: str
    """Its ``client.rack``; empty if it has none."""
    client_id: str
    client_address: str
    principal: KafkaPrincipal
    listener_name: str


class FetchParams:
    """The parameters that apply to all partitions of a fetch request."""

    __slots__ = (
        "client_metadata",
        "committed_only",
        "from_any_replica",
        "from_follower",
        "hard_max_bytes",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "replica_id",
        "when_client_leaves",
    )

    def __init__(
        self,
        replica_id: int,
        max_wait_ms: int,
        min_bytes: int,
        max_bytes: int,
        hard_max_bytes: bool,
        committed_only: bool = False,
        client_metadata: ClientMetadata | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.hard_max_bytes = hard_max_bytes
        """Fetch up to version 2 cuts off records at the limit, even within the first message."""
        self.from_follower = replica_id >= 0
        """Whether the client is another broker (consumers send -1)."""
        self.client_metadata = client_metadata
        """The facts about a consumer that can read from followers (Fetch 11, KIP-392); None for all others."""
        self.from_any_replica = not self.from_follower and (
            client_metadata is not None or replica_id == DEBUGGING_CONSUMER_ID
        )
        """Whether a follower may respond, too: to a consumer since Fetch 11, and to tools, which look at each
        replica."""
        self.committed_only = committed_only and not self.from_follower
        """Whether to stop at the last stable offset (``isolation.level=read_committed``)."""
        self.when_client_leaves: Callable[[Callable[[], object] | None], None] | None = None
        """``Request.when_client_leaves``; None for a reader that does not leave."""


class FetchPartition:
    """One partition of a fetch request: the offset and the maximum size.

    ``last_fetched_epoch`` is that of the reader's last record; -1 if it does not want to know whether its log and the
    leader's diverge.
    """

    __slots__ = ("current_leader_epoch", "fetch_offset", "last_fetched_epoch", "log_start_offset", "max_bytes")

    def __init__(
        self,
        fetch_offset: int,
        max_bytes: int,
        log_start_offset: int = -1,
        current_leader_epoch: int = -1,
        last_fetched_epoch: int = -1,
    ) -> None:
        self.fetch_offset = fetch_offset
        self.max_bytes = max_bytes
        self.log_start_offset = log_start_offset
        self.current_leader_epoch = current_leader_epoch
        self.last_fetched_epoch = last_fetched_epoch


class LogReadResult:
    """One partition's part of the response; ``records`` is a slice of a log file, not read yet."""

    __slots__ = (
        "aborted_transactions",
        "diverging_epoch",
        "error",
        "fetch_offset_metadata",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "preferred_read_replica",
        "records",
        "size_in_bytes",
    )

    def __init__(
        self,
        error: Errors,
        high_watermark: int = -1,
        log_start_offset: int = -1,
        fetch_offset_metadata: LogOffsetMetadata | None = None,
        records: Part = b"",
        last_stable_offset: int = -1,
        aborted_transactions: list[AbortedTxn] | None = None,
        diverging_epoch: EpochEntry | None = None,
        preferred_read_replica: int | None = None,
    ) -> None:
        self.error = error
        self.high_watermark = high_watermark
        self.log_start_offset = log_start_offset
        self.fetch_offset_metadata = fetch_offset_metadata
        self.records = records
        self.size_in_bytes = size_of(records)
        """Size of the records."""
        self.last_stable_offset = last_stable_offset
        self.aborted_transactions = aborted_transactions
        """For readers of committed records; None for others."""
        self.diverging_epoch = diverging_epoch
        """The last epoch that the reader may share with the log, and its end; None if nothing diverges."""
        self.preferred_read_replica = preferred_read_replica
        """The broker that the consumer should read from; None if it is this one."""

    @property
    def is_news(self) -> bool:
        """Whether the client must learn of it at once, even without records."""
        return (
            self.error is not Errors.NONE or self.diverging_epoch is not None or self.preferred_read_replica is not None
        )


def unknown_last(results: list[tuple[TopicPartition, LogReadResult]]) -> list[tuple[TopicPartition, LogReadResult]]:
    """The results in Kafka's order, which has partitions that do not exist after all others."""
    return sorted(results, key=lambda each: each[1].error is Errors.UNKNOWN_TOPIC_OR_PARTITION)
