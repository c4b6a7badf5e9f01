"""A broker inside a selector: responds from the data that the test provides, without sockets or threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_request
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse, JoinGroupResponseMember
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatResponse
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse
from kafka_lite.protocol.schema import Response
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from tests.support.mock_selector import MockSelector

HOST, PORT = "127.0.0.1", 9092
TODAY = {
    ApiKey.FETCH: (0, 12), ApiKey.LIST_OFFSETS: (0, 6), ApiKey.METADATA: (0, 9), ApiKey.OFFSET_COMMIT: (0, 8),
    ApiKey.OFFSET_FETCH: (0, 7), ApiKey.FIND_COORDINATOR: (0, 3), ApiKey.JOIN_GROUP: (0, 7), ApiKey.HEARTBEAT: (0, 4),
    ApiKey.LEAVE_GROUP: (0, 4), ApiKey.SYNC_GROUP: (0, 5), ApiKey.API_VERSIONS: (0, 3),
}  # fmt: skip
KAFKA_0_10_2 = {
    ApiKey.FETCH: (0, 3), ApiKey.LIST_OFFSETS: (0, 1), ApiKey.METADATA: (0, 2), ApiKey.OFFSET_COMMIT: (0, 2),
    ApiKey.OFFSET_FETCH: (0, 2), ApiKey.FIND_COORDINATOR: (0, 0), ApiKey.JOIN_GROUP: (0, 1), ApiKey.HEARTBEAT: (0, 0),
    ApiKey.LEAVE_GROUP: (0, 0), ApiKey.SYNC_GROUP: (0, 0), ApiKey.API_VERSIONS: (0, 0),
}  # fmt: skip

Handler = Callable[[Any, int], Response | None]
"""``handler(request, version)`` makes the answer; None: it never comes."""


class ScriptedBroker(MockSelector):
    """One broker, id 0, that leads all partitions, coordinates every group, and disappears when the test says so."""

    def __init__(self, time: MockTime, versions: dict[ApiKey, tuple[int, int]] = TODAY) -> None:
        super().__init__(time)
        self.topics: dict[str, int] = {}
        self.leader_epoch = -1
        """Of all partitions. A client that knows another one is refused."""
        self.internal_topics: set[str] = set()
        self.logs: dict[TopicPartition, list[bytes]] = {}
        self.ends: dict[TopicPartition, tuple[int, int]] = {}
        """First offset and end of each log."""
        self.committed: dict[TopicPartition, tuple[int, str]] = {}
        self.other_members: list[JoinGroupResponseMember] = []
        self.assignments: dict[str, bytes] = {}
        """What the leader has handed in."""
        self.generation = 0
        self.requests: list[tuple[ApiKey, Any]] = []
        self.connections: Counter[str] = Counter()
        self.handlers: dict[ApiKey, Handler] = {
            ApiKey.API_VERSIONS: lambda _request, _version: ApiVersionsResponse(
                api_keys=[
                    ApiVersion(api_key=k, min_version=low, max_version=high) for k, (low, high) in versions.items()
                ]
            ),
            ApiKey.METADATA: self.metadata,
            ApiKey.FETCH: self.fetch,
            ApiKey.LIST_OFFSETS: self.list_offsets,
            ApiKey.OFFSET_COMMIT: self.offset_commit,
            ApiKey.OFFSET_FETCH: self.offset_fetch,
            ApiKey.FIND_COORDINATOR: lambda _request, _version: FindCoordinatorResponse(
                node_id=0, host=HOST, port=PORT
            ),
            ApiKey.JOIN_GROUP: self.join_group,
            ApiKey.SYNC_GROUP: self.sync_group,
            ApiKey.HEARTBEAT: lambda _request, _version: HeartbeatResponse(),
            ApiKey.LEAVE_GROUP: lambda _request, _version: LeaveGroupResponse(),
        }
        self.errors: dict[ApiKey, list[Errors]] = {}

    # ── What tests call ───────────────────────────────────────────────────────────────────────────────────────────

    def create(self, topic: str, partitions: int = 1) -> None:
        """A topic with empty logs."""
        self.topics[topic] = partitions
        for number in range(partitions):
            self.ends.setdefault(TopicPartition(topic, number), (0, 0))
            self.logs.setdefault(TopicPartition(topic, number), [])

    def append(self, partition: TopicPartition, *values: bytes | None, **batch: Any) -> None:
        """One batch with these values."""
        _, end = self.ends[partition]
        builder = MemoryRecordsBuilder(base_offset=end, **batch)
        for number, value in enumerate(values):
            builder.append(1000 + end + number, b"k", value)
        self.append_batch(partition, builder.build(), end + len(values))

    def append_batch(self, partition: TopicPartition, batch: bytes, next_offset: int) -> None:
        """Append a batch unchanged."""
        start, _ = self.ends[partition]
        self.logs[partition].append(batch)
        self.ends[partition] = start, next_offset

    def fail_next(self, key: ApiKey, *errors: Errors) -> None:
        """Respond to the next requests of this kind with these errors."""
        self.errors.setdefault(key, []).extend(errors)

    def of(self, key: ApiKey) -> list[Any]:
        """The requests of one kind, in order."""
        return [request for api_key, request in self.requests if api_key is key]

    # ── The selector's side ───────────────────────────────────────────────────────────────────────────────────────

    def connect(self, connection_id: str, host: str, port: int, *sizes: int) -> None:
        super().connect(connection_id, host, port, *sizes)
        self.connections[connection_id] += 1

    def poll(self, timeout_ms: float) -> None:
        super().poll(min(timeout_ms, 10_000))
        for send in self.completed_sends:
            frame = b"".join(bytes(part) for part in send._parts)  # type: ignore[arg-type]
            header, request = decode_request(frame[4:])  # after the size
            key = ApiKey(header.api_key)
            self.requests.append((key, request))
            response = self.handlers[key](request, header.api_version)
            if response is not None:
                self.answer(send.destination, header.correlation_id, response, header.api_version)

    def _error(self, key: ApiKey) -> int:
        errors = self.errors.get(key)
        return errors.pop(0).code if errors else 0

    def _epoch_error(self, known: int) -> int:
        if known in (-1, self.leader_epoch):
            return 0
        self._time.sleep(1)  # the client asks again at once
        return (Errors.FENCED_LEADER_EPOCH if known < self.leader_epoch else Errors.UNKNOWN_LEADER_EPOCH).code

    # ── Answers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def metadata(self, request: Any, _version: int) -> Response:
        names = list(self.topics) if request.topics is None else [each.name for each in request.topics]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=0, host=HOST, port=PORT)],
            cluster_id="scripted",
            controller_id=0,
            topics=[self._topic(name) for name in names],
        )

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name not in self.topics:
            return MetadataResponseTopic(name=name, error_code=Errors.UNKNOWN_TOPIC_OR_PARTITION.code)
        partitions = [
            MetadataResponsePartition(
                partition_index=number, leader_id=0, leader_epoch=self.leader_epoch, replica_nodes=[0], isr_nodes=[0]
            )
            for number in range(self.topics[name])
        ]
        return MetadataResponseTopic(name=name, partitions=partitions, is_internal=name in self.internal_topics)

    def fetch(self, request: Any, version: int) -> Response | None:
        """Everything from the batch that contains the offset; no response as long as there is nothing."""
        responses, something = [], False
        for topic in request.topics:
            data = [
                self._partition_data(TopicPartition(topic.topic, each.partition), each) for each in topic.partitions
            ]
            something = something or any(each.records or each.error_code for each in data)
            responses.append(FetchableTopicResponse(topic=topic.topic, partitions=data))
        if not something:
            self._time.sleep(request.max_wait_ms)
        return FetchResponse(responses=responses)

    def _partition_data(self, partition: TopicPartition, wanted: Any) -> PartitionData:
        start, end = self.ends[partition]
        error = self._error(ApiKey.FETCH) or self._epoch_error(wanted.current_leader_epoch)
        if not error and not start <= wanted.fetch_offset <= end:
            error = Errors.OFFSET_OUT_OF_RANGE.code
        records = b"" if error else b"".join(self._from(partition, wanted.fetch_offset))
        return PartitionData(
            partition_index=partition.partition, error_code=error, high_watermark=end, last_stable_offset=end,
            log_start_offset=start, records=records,
        )  # fmt: skip

    def _from(self, partition: TopicPartition, offset: int) -> list[bytes]:
        return [batch for batch in self.logs[partition] if next(iter(batches(batch))).last_offset >= offset]

    def list_offsets(self, request: Any, version: int) -> Response:
        def one(topic: str, wanted: Any) -> ListOffsetsPartitionResponse:
            start, end = self.ends[TopicPartition(topic, wanted.partition_index)]
            offset = {-2: start, -1: end}.get(wanted.timestamp, max(start, wanted.timestamp - 1000))
            if wanted.timestamp >= 0 and offset >= end:
                offset = -1
            timestamp = 1000 + offset if wanted.timestamp >= 0 and offset >= 0 else -1
            error = self._error(ApiKey.LIST_OFFSETS) or self._epoch_error(wanted.current_leader_epoch)
            answer = ListOffsetsPartitionResponse(partition_index=wanted.partition_index, error_code=error)
            if version == 0:
                answer.old_style_offsets = [offset]
            else:
                answer.offset, answer.timestamp = offset, timestamp
            return answer

        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name, partitions=[one(topic.name, each) for each in topic.partitions]
                )
                for topic in request.topics
            ]
        )

    def offset_commit(self, request: Any, _version: int) -> Response:
        error = self._error(ApiKey.OFFSET_COMMIT)
        topics = []
        for topic in request.topics:
            for each in topic.partitions:
                if not error:
                    place = TopicPartition(topic.name, each.partition_index)
                    self.committed[place] = each.committed_offset, each.committed_metadata or ""
            topics.append(
                OffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                        for each in topic.partitions
                    ],
                )
            )
        return OffsetCommitResponse(topics=topics)

    def offset_fetch(self, request: Any, version: int) -> Response:
        error = self._error(ApiKey.OFFSET_FETCH)
        topics = []
        for topic in request.topics:
            partitions = []
            for number in topic.partition_indexes:
                offset, metadata = self.committed.get(TopicPartition(topic.name, number), (-1, ""))
                partitions.append(
                    OffsetFetchResponsePartition(
                        partition_index=number,
                        committed_offset=-1 if error else offset,
                        metadata=metadata,
                        error_code=error if version < 2 else 0,
                    )
                )
            topics.append(OffsetFetchResponseTopic(name=topic.name, partitions=partitions))
        response = OffsetFetchResponse(topics=topics)
        if version >= 2:
            response.error_code = error
        return response

    def join_group(self, request: Any, version: int) -> Response:
        """The requesting client becomes the leader of ``other_members``; without a member id it gets one first."""
        error = self._error(ApiKey.JOIN_GROUP)
        if error:
            return JoinGroupResponse(error_code=error, protocol_name="", leader="", member_id="", members=[])
        if not request.member_id and version >= 4:
            code = Errors.MEMBER_ID_REQUIRED.code
            return JoinGroupResponse(error_code=code, protocol_name="", leader="", member_id="me", members=[])
        self.generation += 1
        me = JoinGroupResponseMember(
            member_id="me", group_instance_id=request.group_instance_id if version >= 5 else None,
            metadata=request.protocols[0].metadata,
        )  # fmt: skip
        return JoinGroupResponse(
            generation_id=self.generation, protocol_name=request.protocols[0].name, leader="me", member_id="me",
            members=[me, *self.other_members],
        )  # fmt: skip

    def sync_group(self, request: Any, _version: int) -> Response:
        error = self._error(ApiKey.SYNC_GROUP)
        self.assignments = {each.member_id: each.assignment for each in request.assignments}
        return SyncGroupResponse(error_code=error, assignment=b"" if error else self.assignments.get("me", b""))
