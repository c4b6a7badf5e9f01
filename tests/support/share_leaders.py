"""A broker that leads partitions which share groups consume: real logs, requests as clients send them, no socket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.modern.share_group_config import EARLIEST_TIMESTAMP, ShareGroupConfig
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupAutoOffsetResetStrategy as Strategy
from kafka_lite.coordinator.share.persister import PartitionStateData
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages import api_78_share_fetch as fetch
from kafka_lite.protocol.messages import api_79_share_acknowledge as acknowledge
from kafka_lite.server.apis.leader_hints import LeaderNode
from kafka_lite.server.apis.share.share_fetch_apis import KnownTopics, ShareFetchApis
from kafka_lite.server.share.acquisition_lock_timer import AcquisitionLockTimer
from kafka_lite.server.share.delayed_share_fetch import DelayedShareFetch
from kafka_lite.server.share.share_group_metrics import ShareGroupMetrics
from kafka_lite.server.share.share_partition_manager import SharePartitionManager
from kafka_lite.server.share.share_session import ShareSessionCache
from tests.support.in_memory_persister import InMemoryPersister
from tests.support.replica_managers import TP, TP1, Broker

ORDERS = UUID(int=7)
AT, AT1 = TopicIdPartition(ORDERS, 0), TopicIdPartition(ORDERS, 1)
MEMBERS = {name: UUID(int=number + 100) for number, name in enumerate("abc")}


class ShareLeader:
    """Leads the two partitions of ``orders``. Groups begin at the beginning."""

    def __init__(self, directory: Path, **config: object) -> None:
        self.broker = Broker(directory, retention_ms=-1)
        self.broker.lead(TP, TP1, topic_id=ORDERS)
        defaults: dict[str, Any] = {"auto_offset_reset": Strategy(EARLIEST_TIMESTAMP)}
        self.config = ShareGroupConfig(**(defaults | config))
        self.persister = InMemoryPersister()
        states = dict.fromkeys((AT, AT1), PartitionStateData(1, -1))
        self.persister.initialize_state("g", states, lambda _results: None)
        self.time = self.broker.time
        self.timer = SystemTimer(time=self.time)
        self.waiting = SystemTimer(time=self.time)
        self.purgatory: DelayedOperationPurgatory[DelayedShareFetch] = DelayedOperationPurgatory(
            "ShareFetch", timer=self.waiting, reaper_enabled=False, time=self.time
        )
        self.registry = MetricsRegistry()
        self.manager = SharePartitionManager(
            self.broker.replicas,
            ShareSessionCache(self.config.max_share_sessions, self.registry, self.time),
            lambda _group: self.config,
            self.persister,
            AcquisitionLockTimer(0, self.timer, reaper_enabled=False),
            self.purgatory,
            ShareGroupMetrics(self.registry, self.time),
            self.time,
        )
        self.denied: set[str] = set()
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.quotas = SimpleNamespace(is_enabled=False)
        self.apis = ShareFetchApis(
            self.manager,
            KnownTopics(
                lambda topic_id: TP.topic if topic_id == ORDERS else None,
                lambda log: log in (TP, TP1),
                lambda _request, topics: topics & self.denied,
            ),
            lambda _group: self.config,
            lambda _log, _listener: LeaderNode(2, 9, None),
            SimpleNamespace(quotas=self.quotas),  # type: ignore[arg-type]
            50_000_000,
            lambda ms, do: self.later.append((ms, do)),
        )

    def sleep(self, ms: float) -> None:
        """Let time pass: fetches and locks expire."""
        self.time.sleep(ms)
        self.purgatory.advance_clock(0)
        self.timer.advance_clock(0)

    def client(self, name: str, group: str = "g") -> ShareClient:
        """A member of the group with a connection of its own."""
        return ShareClient(self, MEMBERS[name], group)


class ShareClient:
    """A member that sends requests; responses are collected."""

    def __init__(self, leader: ShareLeader, member: UUID, group: str) -> None:
        self.leader, self.member_id, self.group = leader, encode_uuid(member), group
        self.epoch = 0
        self.responses: list[Any] = []
        self.leaves: Callable[[], object] | None = None
        self.request: Any = SimpleNamespace(
            connection_id=f"connection-{self.member_id}",
            listener_name="PLAINTEXT",
            client_has_left=False,
            when_client_leaves=self._when_client_leaves,
        )

    def _when_client_leaves(self, do: Callable[[], object] | None) -> None:
        self.leaves = do

    def fetch(
        self,
        *partitions: TopicIdPartition,
        said: Sequence[tuple[int, int, int]] = (),
        forgotten: Sequence[TopicIdPartition] = (),
        epoch: int | None = None,
        **fields: Any,
    ) -> Any:
        """Send ShareFetch; returns the response, or None if there is none yet. ``said``: of partition 0."""
        topics: list[fetch.FetchTopic] = []
        for at in partitions or ([AT] if said else []):
            batches = [
                fetch.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[kind])
                for first, last, kind in (said if at == AT else ())
            ]
            each = fetch.FetchPartition(partition_index=at.partition, acknowledgement_batches=batches)
            topics.append(fetch.FetchTopic(topic_id=at.topic_id, partitions=[each]))
        wants = {"max_wait_ms": 500, "min_bytes": 1, "max_records": 500, "batch_size": 500, **fields}
        body = fetch.ShareFetchRequest(
            group_id=self.group,
            member_id=self.member_id,
            share_session_epoch=self._next(epoch),
            topics=topics,
            forgotten_topics_data=[
                fetch.ForgottenTopic(topic_id=at.topic_id, partitions=[at.partition]) for at in forgotten
            ],
            **wants,
        )
        before = len(self.responses)
        self.leader.apis.handle_share_fetch(self.request, body, self.responses.append)
        return self.responses[-1] if len(self.responses) > before else None

    def acknowledge(self, *said: tuple[int, int, int], epoch: int | None = None, at: TopicIdPartition = AT) -> Any:
        """Send ShareAcknowledge; returns the response."""
        batches = [
            acknowledge.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[kind])
            for first, last, kind in said
        ]
        each = acknowledge.AcknowledgePartition(partition_index=at.partition, acknowledgement_batches=batches)
        body = acknowledge.ShareAcknowledgeRequest(
            group_id=self.group,
            member_id=self.member_id,
            share_session_epoch=self._next(epoch),
            topics=[acknowledge.AcknowledgeTopic(topic_id=at.topic_id, partitions=[each])],
        )
        self.leader.apis.handle_share_acknowledge(self.request, body, self.responses.append)
        return self.responses[-1]

    def _next(self, epoch: int | None) -> int:
        if epoch is not None:
            return epoch
        self.epoch += 1
        return self.epoch - 1

    def leave(self) -> None:
        """Close the connection."""
        self.request.client_has_left = True
        if self.leaves is not None:
            self.leaves()
        self.leader.manager.on_connection_ended(self.request.connection_id)


def acquired(response: Any) -> dict[int, list[tuple[int, int, int]]]:
    """Partition → what the response says is acquired."""
    assert response.error_code == 0, Errors.for_code(response.error_code)
    return {
        data.partition_index: [
            (each.first_offset, each.last_offset, each.delivery_count) for each in data.acquired_records
        ]
        for topic in response.responses
        for data in topic.partitions
    }


def errors(response: Any) -> dict[int, tuple[Errors, Errors]]:
    """Partition → its error, and that of its acknowledgements."""
    return {
        data.partition_index: (
            Errors.for_code(data.error_code),
            Errors.for_code(getattr(data, "acknowledge_error_code", 0)),
        )
        for topic in response.responses
        for data in topic.partitions
    }


__all__ = ["AT", "AT1", "ORDERS", "TP", "TP1", "ShareClient", "ShareLeader", "TopicPartition", "acquired", "errors"]
