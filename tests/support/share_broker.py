"""A scripted broker that serves share groups: one member's view, with records that can be acquired and acknowledged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_76_share_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_78_share_fetch as share_fetch
from kafka_lite.protocol.messages import api_79_share_acknowledge as share_acknowledge
from kafka_lite.protocol.schema import Response
from tests.support.modern_groups import topic_id
from tests.support.scripted_broker import TODAY, ScriptedBroker

WITH_SHARE_GROUPS = {
    **TODAY,
    ApiKey.METADATA: (0, 12),
    ApiKey.SHARE_GROUP_HEARTBEAT: (1, 1),
    ApiKey.SHARE_FETCH: (1, 1),
    ApiKey.SHARE_ACKNOWLEDGE: (1, 1),
}
LOCK_MS = 30_000


@dataclass
class Delivered:
    """A record in the share partition."""

    count: int = 0
    is_acquired: bool = False
    fate: int | None = None
    """Its acknowledge type, once that is final."""


class ShareBroker(ScriptedBroker):
    """Assigns everything to the member, and delivers each record until it is accepted or rejected."""

    def __init__(self, time: MockTime) -> None:
        super().__init__(time, WITH_SHARE_GROUPS)
        self.epoch = 0
        self.session_epoch: int | None = None
        self.session: set[tuple[UUID, int]] = set()
        self.records: dict[TopicPartition, dict[int, Delivered]] = {}
        self.interval_ms = 5_000
        self.handlers |= {
            ApiKey.SHARE_GROUP_HEARTBEAT: self.share_heartbeat,
            ApiKey.SHARE_FETCH: self.share_fetch,
            ApiKey.SHARE_ACKNOWLEDGE: self.share_acknowledge,
        }

    def metadata(self, request: Any, version: int) -> Response:
        response: Any = super().metadata(request, version)
        for topic in response.topics:
            if not topic.error_code:
                topic.topic_id = topic_id(topic.name)
        made: Response = response
        return made

    def fate(self, offset: int, partition: TopicPartition = TopicPartition("t", 0)) -> int | None:  # noqa: B008
        """What has become of a record."""
        return self.records[partition][offset].fate

    # ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def share_heartbeat(self, request: Any, _version: int) -> Response:
        error = self._error(ApiKey.SHARE_GROUP_HEARTBEAT)
        if error or request.member_epoch < 0:
            return heartbeat.ShareGroupHeartbeatResponse(error_code=error, member_epoch=request.member_epoch)
        self.epoch = request.member_epoch or self.epoch + 1
        assignment = None
        if request.subscribed_topic_names is not None:
            assignment = heartbeat.Assignment(
                topic_partitions=[
                    heartbeat.TopicPartitions(topic_id=topic_id(name), partitions=list(range(self.topics[name])))
                    for name in request.subscribed_topic_names
                ]
            )
        return heartbeat.ShareGroupHeartbeatResponse(
            member_id=request.member_id,
            member_epoch=self.epoch,
            heartbeat_interval_ms=self.interval_ms,
            assignment=assignment,
        )

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _session_error(self, epoch: int) -> Errors:
        if epoch == 0:
            self.session_epoch, self.session = 0, set()
        elif self.session_epoch is None:
            return Errors.SHARE_SESSION_NOT_FOUND
        elif epoch not in (-1, self.session_epoch):
            return Errors.INVALID_SHARE_SESSION_EPOCH
        self.session_epoch = None if epoch == -1 else epoch + 1
        return Errors.NONE

    def share_fetch(self, request: Any, _version: int) -> Response:
        forced = self._error(ApiKey.SHARE_FETCH)
        error = Errors.for_code(forced) if forced else self._session_error(request.share_session_epoch)
        if error is not Errors.NONE:
            if error is Errors.SHARE_SESSION_NOT_FOUND:
                self.session_epoch = None
            return share_fetch.ShareFetchResponse(error_code=error.code)
        acknowledged = {}
        for topic in request.topics:
            for each in topic.partitions:
                if not each.acknowledgement_batches:
                    self.session.add((topic.topic_id, each.partition_index))
                else:
                    outcome = self._acknowledge(topic.topic_id, each)
                    acknowledged[topic.topic_id, each.partition_index] = outcome
        for topic in request.forgotten_topics_data:
            self.session -= {(topic.topic_id, number) for number in topic.partitions}
        topics: dict[UUID, share_fetch.ShareFetchableTopicResponse] = {}
        for found, number in sorted(self.session | acknowledged.keys()):
            data = self._acquire(found, number, request.max_records)
            data.acknowledge_error_code = acknowledged.get((found, number), Errors.NONE).code
            if data.acquired_records or (found, number) in acknowledged:
                empty = share_fetch.ShareFetchableTopicResponse(topic_id=found, partitions=[])
                topics.setdefault(found, empty).partitions.append(data)
        if not topics:
            self._time.sleep(request.max_wait_ms)
        return share_fetch.ShareFetchResponse(acquisition_lock_timeout_ms=LOCK_MS, responses=list(topics.values()))

    def _partition(self, found: UUID, number: int) -> TopicPartition:
        return next(TopicPartition(name, number) for name in self.topics if topic_id(name) == found)

    def _states(self, partition: TopicPartition) -> dict[int, Delivered]:
        states = self.records.setdefault(partition, {})
        first, end = self.ends[partition]
        for offset in range(first, end):
            states.setdefault(offset, Delivered())
        return states

    def _acquire(self, found: UUID, number: int, limit: int) -> share_fetch.PartitionData:
        partition = self._partition(found, number)
        acquired = []
        for offset, state in sorted(self._states(partition).items()):
            if not state.is_acquired and state.fate is None and len(acquired) < limit:
                state.is_acquired, state.count = True, state.count + 1
                acquired.append(
                    share_fetch.AcquiredRecords(first_offset=offset, last_offset=offset, delivery_count=state.count)
                )
        records = b"".join(self.logs[partition]) if acquired else b""
        return share_fetch.PartitionData(partition_index=number, records=records, acquired_records=acquired)

    def _acknowledge(self, found: UUID, wanted: Any) -> Errors:
        states = self._states(self._partition(found, wanted.partition_index))
        for batch in wanted.acknowledgement_batches:
            for index, offset in enumerate(range(batch.first_offset, batch.last_offset + 1)):
                types = batch.acknowledge_types
                state = states[offset]
                if not state.is_acquired:
                    return Errors.INVALID_RECORD_STATE
                state.is_acquired = False
                kind = types[0] if len(types) == 1 else types[index]
                state.fate = None if kind == 2 else kind
        return Errors.NONE

    def share_acknowledge(self, request: Any, _version: int) -> Response:
        forced = self._error(ApiKey.SHARE_ACKNOWLEDGE)
        error = Errors.for_code(forced) if forced else self._session_error(request.share_session_epoch)
        if error is not Errors.NONE:
            return share_acknowledge.ShareAcknowledgeResponse(error_code=error.code)
        responses = [
            share_acknowledge.ShareAcknowledgeTopicResponse(
                topic_id=topic.topic_id,
                partitions=[
                    share_acknowledge.PartitionData(
                        partition_index=each.partition_index,
                        error_code=self._acknowledge(topic.topic_id, each).code,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        if request.share_session_epoch == -1:
            for states in self.records.values():
                for state in states.values():
                    state.is_acquired = False
        return share_acknowledge.ShareAcknowledgeResponse(responses=responses)
