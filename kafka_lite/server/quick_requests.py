"""Requests that a network thread handles itself, because they do not block.

Kafka 0.10.2: none; there every request goes through the request queue · book 2.3.3
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sized
from typing import Any, Final

from kafka_lite.clients.fetch_metadata import INVALID_SESSION_ID
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.coordinator.group.modern.consumer_group_member import JOIN_GROUP_MEMBER_EPOCH
from kafka_lite.coordinator.group.modern.heartbeat_checks import says_nothing
from kafka_lite.log.log_config import MAX_LONG
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsRequest
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_lite.server.kafka_request_handler import ApiRequestHandler, KafkaRequestHandler
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quick_batches import MAX_QUICK_EXPANDED_BYTES, MAX_QUICK_RECORDS, quick_cost
from kafka_lite.server.replica_manager import ReplicaManager

FIRST_PRODUCE_VERSION_OF_V2 = 3
FIRST_FETCH_VERSION_OF_V2 = 4
FIRST_METADATA_VERSION_THAT_ASKS_FOR_CREATION = 4
FIRST_METADATA_VERSION_WITH_NO_TOPICS = 1
"""Before, no topics meant all of them."""
FIRST_VERSION_AT_THE_COORDINATOR = 1
"""OffsetCommit and OffsetFetch of version 0 go to ZooKeeper."""
FIRST_OFFSET_FETCH_VERSION_OF_GROUPS = 8
MAX_QUICK_BYTES = 16 * 1024
"""The size of a quick request other than Produce. The smallest element takes a few bytes and, because each becomes part
of a response, some ten microseconds."""
MAX_QUICK_PARTITIONS = 500
"""How many partitions a quick request may be about: those of Produce, whose size is that of its records; those that a
fetch session remembers; those that Metadata tells of."""
SHUTDOWN_POLL_S = 0.001
"""How often ``InlineRequestHandler.shutdown`` checks whether requests are still being handled."""

PRODUCE: Final = int(ApiKey.PRODUCE)

Condition = Callable[[int, Any], bool]
"""Takes the version and the body of a request."""


class InlineRequestHandler:
    """Handles quick requests in the network threads that have read them.

    ::

        Processor ─▶ RequestChannel.dispatch ─┬─ quick ───▶ InlineRequestHandler, in this thread ─▶ response queue
                                              └─ else ─▶ request queue ─▶ KafkaRequestHandler ─▶ response queue

    Because of the GIL, computing is no reason to hand a request over: a request handler that computes keeps the network
    threads waiting just the same. Waiting is a reason: for the disk (fsync), for ZooKeeper, for room in a queue.
    """

    def __init__(
        self,
        request_channel: RequestChannel,
        apis: ApiRequestHandler,
        is_quick: Callable[[Request], bool],
        clock: Time = SYSTEM_TIME,
    ) -> None:
        """``is_quick`` decides, usually ``QuickRequests.includes``. Handling starts immediately."""
        self._request_channel = request_channel
        self._handler = KafkaRequestHandler(-1, request_channel, apis, clock)  # its threads are those of the network
        self._is_quick = is_quick
        # For each network thread, whether it is handling a request, so that shutdown can wait until none is.
        self._at_work = [False] * request_channel.num_processors
        request_channel.quick_handler = self.handle

    def handle(self, request: Request) -> Request | None:
        """Handle a request and those pipelined behind it, up to the first that is not quick; returns that request.

        After ``shutdown`` has begun, none is handled any more. What is left is queued by the caller.
        """
        left: Request | None = request
        self._at_work[request.processor] = True
        try:
            # Read after at_work is set, while shutdown sets it before it reads at_work: at least one sees the other.
            while left is not None and self._request_channel.quick_handler is not None and self._is_quick(left):
                left = self._handler.handle(left)
        finally:
            self._at_work[request.processor] = False
        return left

    def shutdown(self) -> None:
        """Wait for the requests being handled; later ones are queued."""
        self._request_channel.quick_handler = None
        while any(self._at_work):
            time.sleep(SHUTDOWN_POLL_S)


class QuickRequests:
    """Decides, before a request is handled, whether a network thread may handle it.

    While a network thread handles a request, its other connections wait. Because of the GIL they would wait for the
    computing in any case. What counts is the time that a request handler would spend *waiting*, with the GIL released:

    =================  ==================================================================================
    Produce            quick unless the topic is flushed every so many messages (fsync), the batches must be
                       converted or recompressed, or there may be much to decompress, or many records
    Fetch              quick unless the client is so old that batches may have to be converted for it
    ListOffsets        quick for the beginning and the end of a log; a search by time reads files
    Metadata           quick unless a topic may have to be created (ZooKeeper)
    OffsetCommit       quick, because an append to ``__consumer_offsets`` is; version 0 goes to ZooKeeper
    OffsetFetch        quick, except version 0, and all offsets of a group
    Heartbeat,         quick
    ApiVersions,
    OffsetForLeaderEpoch
    ConsumerGroup-       quick if it only says that a member of KIP-848 is alive; one that tells more may have
    Heartbeat            all partitions of its group assigned
    everything else    not quick: it uses ZooKeeper or many files, or it is rare
    =================  ==================================================================================

    None is quick if it names more topics and partitions than fit into ``MAX_QUICK_BYTES``, or is about more than
    ``MAX_QUICK_PARTITIONS``: a handler, which the interpreter interrupts every few milliseconds, does not keep the
    other connections waiting for all of it.

    A write may still wait for a disk that cannot keep up, and a ``sendfile`` for a disk read; the latter happens in
    Kafka's network threads, too. That is what ``num.network.threads`` is for.
    """

    def __init__(
        self,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        auto_create_topics: bool,
        offsets_partition_of: Callable[[str], TopicPartition],
        session_size: Callable[[int], int],
    ) -> None:
        """``offsets_partition_of`` returns a group's partition of ``__consumer_offsets``.

        ``session_size`` returns how many partitions a fetch session remembers.
        """
        self._replicas = replica_manager
        self._metadata_cache = metadata_cache
        self._auto_create_topics = auto_create_topics
        self._offsets_partition_of = offsets_partition_of
        self._session_size = session_size
        self._conditions: dict[int, Condition] = {
            int(ApiKey.PRODUCE): self._is_quick_produce,
            int(ApiKey.FETCH): self._is_quick_fetch,
            int(ApiKey.LIST_OFFSETS): _is_quick_list_offsets,
            int(ApiKey.METADATA): self._is_quick_metadata,
            int(ApiKey.OFFSET_COMMIT): self._is_quick_offset_commit,
            int(ApiKey.OFFSET_FETCH): _is_quick_offset_fetch,
            int(ApiKey.HEARTBEAT): _always,
            int(ApiKey.API_VERSIONS): _always,
            int(ApiKey.OFFSET_FOR_LEADER_EPOCH): _always,
            int(ApiKey.CONSUMER_GROUP_HEARTBEAT): self._is_quick_member_heartbeat,
        }

    def includes(self, request: Request) -> bool:
        """Whether the thread that has read the request may handle it."""
        header = request.header
        condition = self._conditions.get(header.api_key)
        if condition is None or (request.size_in_bytes > MAX_QUICK_BYTES and header.api_key != PRODUCE):
            return False
        return condition(header.api_version, request.body)

    def _is_quick_produce(self, version: int, body: ProduceRequest) -> bool:
        if version < FIRST_PRODUCE_VERSION_OF_V2:
            return False
        records = expanded_bytes = 0
        partitions = len(body.topic_data)
        for topic in body.topic_data:
            name = topic.name or self._metadata_cache.topic_name(topic.topic_id) or ""
            partitions += len(topic.partition_data)
            if partitions > MAX_QUICK_PARTITIONS:
                return False
            for data in topic.partition_data:
                count, size = quick_cost(data.records)
                records += count
                expanded_bytes += size
                partition = self._replicas.get_partition(known_topic_partition(name, data.index))
                log = partition.log if partition is not None else None
                if log is not None and not log.config.appends_v2_as_it_is:
                    return False  # without a log the response is an error, which is quick
        return records <= MAX_QUICK_RECORDS and expanded_bytes <= MAX_QUICK_EXPANDED_BYTES

    def _is_quick_fetch(self, version: int, body: FetchRequest) -> bool:
        """Also by the partitions that its session remembers, which the request need not name."""
        if version < FIRST_FETCH_VERSION_OF_V2:
            return False
        return body.session_id == INVALID_SESSION_ID or self._session_size(body.session_id) <= MAX_QUICK_PARTITIONS

    def _is_quick_offset_commit(self, version: int, body: OffsetCommitRequest) -> bool:
        if version < FIRST_VERSION_AT_THE_COORDINATOR:
            return False
        return self._appends_without_flush(body.group_id)

    def _is_quick_member_heartbeat(self, _version: int, body: ConsumerGroupHeartbeatRequest) -> bool:
        is_sign_of_life = body.member_epoch > JOIN_GROUP_MEMBER_EPOCH and body.topic_partitions is None
        return is_sign_of_life and says_nothing(body) and self._appends_without_flush(body.group_id)

    def _appends_without_flush(self, group_id: str) -> bool:
        partition = self._replicas.get_partition(self._offsets_partition_of(group_id))
        log = partition.log if partition is not None else None
        return log is None or log.config.flush_messages == MAX_LONG

    def _is_quick_metadata(self, version: int, body: MetadataRequest) -> bool:
        asks_for_creation = version < FIRST_METADATA_VERSION_THAT_ASKS_FOR_CREATION or body.allow_auto_topic_creation
        topics = body.topics
        if topics is None or (version < FIRST_METADATA_VERSION_WITH_NO_TOPICS and not topics):
            return self._is_small(self._metadata_cache.snapshot.partitions.values())
        cache = self._metadata_cache
        ids = [topic.topic_id for topic in topics if topic.topic_id.int]
        names = [topic.name or "" for topic in topics if not topic.topic_id.int]
        if self._auto_create_topics and asks_for_creation and not all(map(cache.contains, names)):
            return False  # only a topic that is asked for by its name may be created
        names += [cache.topic_name(topic_id) or "" for topic_id in ids]
        return self._is_small(map(cache.get_partitions, names))

    @staticmethod
    def _is_small(topics: Iterable[Sized]) -> bool:
        partitions = 0
        for topic in topics:
            partitions += len(topic)
            if partitions > MAX_QUICK_PARTITIONS:
                return False
        return True


def _is_quick_offset_fetch(version: int, body: OffsetFetchRequest) -> bool:
    """Not for all offsets of a group, which may have any number."""
    if version < FIRST_VERSION_AT_THE_COORDINATOR:
        return False
    if version < FIRST_OFFSET_FETCH_VERSION_OF_GROUPS:
        return body.topics is not None
    return all(group.topics is not None for group in body.groups)


def _is_quick_list_offsets(_version: int, body: ListOffsetsRequest) -> bool:
    return all(partition.timestamp < 0 for topic in body.topics for partition in topic.partitions)


def _always(_version: int, _body: object) -> bool:
    return True
