"""Requests about the offsets of groups: OffsetCommit, TxnOffsetCommit, OffsetFetch, OffsetDelete.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleOffsetCommitRequest, handleOffsetFetchRequest)
· book 3.5.1, 3.5.4, 3.5.5
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_config import OffsetConfig
from kafka_lite.coordinator.group.group_offsets import (
    NOTHING_COMMITTED,
    Committer,
    FetchedOffset,
    GroupOffsets,
    OnVerified,
)
from kafka_lite.coordinator.group.offset_and_metadata import NO_METADATA, OffsetAndMetadata
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_08_offset_commit as offset_commit
from kafka_lite.protocol.messages import api_09_offset_fetch as offset_fetch
from kafka_lite.protocol.messages import api_28_txn_offset_commit as txn_offset_commit
from kafka_lite.protocol.messages import api_47_offset_delete as offset_delete
from kafka_lite.server.apis.api_handler import Respond, error_for_version
from kafka_lite.server.apis.topic_ids.offset_topic_ids import by_topic_ids
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.transactions.add_partitions_to_txn_manager import TransactionSupportedOperation
from kafka_lite.server.transactions.transaction_verification import TransactionVerification
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkError
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)

ZOOKEEPER_VERSION = 0
FIRST_COMMIT_VERSION_WITH_MEMBER_EPOCH = 9
FIRST_FETCH_VERSION_WITH_GROUP_ERROR = 2
FIRST_FETCH_VERSION_WITH_MANY_GROUPS = 8
NOT_GIVEN = -1
"""A timestamp or retention time that the client leaves to the broker."""

LATER_TXN_COMMIT_ERRORS = {Errors.COORDINATOR_LOAD_IN_PROGRESS: (2, Errors.COORDINATOR_NOT_AVAILABLE)}
"""Producers before 2.0 may fail at this error (KAFKA-7296)."""

ZOOKEEPER_OFFSET_ERRORS = (ZkError, ZnodeDataError, ValueError)
"""ZooKeeper failed, its value is not a number, or the path is invalid (ValueError): a group may have any name."""

Outcomes = Mapping[TopicPartition, Errors]


class OffsetApis:
    """Handlers that translate between the wire and the offset manager, or, in version 0, ZooKeeper."""

    def __init__(
        self,
        offsets: GroupOffsets,
        config: OffsetConfig,
        metadata_cache: MetadataCache,
        zk_client: KafkaZkClient,
        time: Time,
        verification: TransactionVerification,
    ) -> None:
        self._offsets = offsets
        self._verification = verification
        self._config = config
        self._metadata_cache = metadata_cache
        self._zk_client = zk_client
        self._time = time

    # ── OffsetCommit ──────────────────────────────────────────────────────────────────────────────────────────────

    def handle_offset_commit(self, request: Request, body: offset_commit.OffsetCommitRequest, respond: Respond) -> None:
        """Commit offsets of existing partitions; the response is sent once they are stored."""
        by_topic_ids(self._metadata_cache, self._commit)(request, body, respond)

    def _commit(self, request: Request, body: offset_commit.OffsetCommitRequest, respond: Respond) -> None:
        wanted = {
            TopicPartition(topic.name, partition.partition_index): partition
            for topic in body.topics
            for partition in topic.partitions
        }
        known = {tp: partition for tp, partition in wanted.items() if self._metadata_cache.get_partition_info(tp)}

        def send(outcomes: Outcomes) -> None:
            respond(_commit_response(body, outcomes))

        version = self._config.inter_broker_protocol_version
        if body.group_instance_id is not None and version < ApiVersion.KAFKA_2_3_IV0:
            send(dict.fromkeys(wanted, Errors.UNSUPPORTED_VERSION))  # see GroupApis
        elif not known:
            send({})
        elif request.header.api_version == ZOOKEEPER_VERSION:
            send({tp: self._commit_to_zookeeper(body.group_id, tp, known[tp]) for tp in known})
        else:
            knows_epochs = request.header.api_version >= FIRST_COMMIT_VERSION_WITH_MEMBER_EPOCH
            committer = Committer(
                body.member_id, body.generation_id_or_member_epoch, body.group_instance_id, knows_epochs
            )
            offsets = {tp: self._offset(partition, body.retention_time_ms) for tp, partition in known.items()}
            self._offsets.handle_commit_offsets(body.group_id, committer, offsets, send)

    def _offset(self, partition: offset_commit.OffsetCommitRequestPartition, retention_ms: int) -> OffsetAndMetadata:
        """The offset to store.

        Clients of versions 2 to 4 may set a retention time. If the cluster has brokers before 2.1, every offset gets an
        expiration time, since those brokers know nothing else; from 2.1 on, offsets expire with their group (KIP-211).
        """
        commit_ms = partition.commit_timestamp
        if commit_ms == NOT_GIVEN:
            commit_ms = self._time.milliseconds()
        if retention_ms == NOT_GIVEN and self._config.inter_broker_protocol_version < ApiVersion.KAFKA_2_1_IV0:
            retention_ms = self._config.retention_ms
        return OffsetAndMetadata(
            partition.committed_offset,
            partition.committed_metadata or NO_METADATA,
            commit_ms,
            None if retention_ms == NOT_GIVEN else commit_ms + retention_ms,
            partition.committed_leader_epoch,
        )

    def _commit_to_zookeeper(
        self, group_id: str, topic_partition: TopicPartition, partition: offset_commit.OffsetCommitRequestPartition
    ) -> Errors:
        if len(partition.committed_metadata or "") > self._config.max_metadata_size:
            return Errors.OFFSET_METADATA_TOO_LARGE
        try:
            self._zk_client.set_consumer_offset(group_id, topic_partition, partition.committed_offset)
        except ZOOKEEPER_OFFSET_ERRORS as error:
            logger.warning("Cannot commit %s of group %s to ZooKeeper: %s", topic_partition, group_id, error)
            return Errors.UNKNOWN_SERVER_ERROR
        return Errors.NONE

    # ── TxnOffsetCommit ───────────────────────────────────────────────────────────────────────────────────────────

    def handle_txn_offset_commit(
        self, request: Request, body: txn_offset_commit.TxnOffsetCommitRequest, respond: Respond
    ) -> None:
        """Commit offsets of existing partitions in a transaction; the response is sent once they are stored."""
        now_ms = self._time.milliseconds()
        offsets = {
            topic_partition: OffsetAndMetadata(
                partition.committed_offset,
                partition.committed_metadata or NO_METADATA,
                now_ms,
                None,
                partition.committed_leader_epoch,
            )
            for topic in body.topics
            for partition in topic.partitions
            if self._metadata_cache.get_partition_info(
                topic_partition := TopicPartition(topic.name, partition.partition_index)
            )
        }

        def send(outcomes: Outcomes) -> None:
            respond(_txn_commit_response(body, outcomes, request.header.api_version))

        if not offsets:
            send({})
            return
        producer = ProducerIdAndEpoch(body.producer_id, body.producer_epoch)
        committer = Committer(body.member_id, body.generation_id, body.group_instance_id)
        operation = TransactionSupportedOperation.of_txn_offset_commit(request.header.api_version)

        def verify(topic_partition: TopicPartition, on_verified: OnVerified) -> None:
            self._verification.verify_offsets(body.transactional_id, producer, topic_partition, operation, on_verified)

        self._offsets.handle_txn_commit_offsets(body.group_id, producer, committer, offsets, send, verify)

    # ── OffsetFetch ───────────────────────────────────────────────────────────────────────────────────────────────

    def handle_offset_fetch(self, request: Request, body: offset_fetch.OffsetFetchRequest, respond: Respond) -> None:
        """Return the committed offsets of one group or (since version 8) of several."""
        by_topic_ids(self._metadata_cache, self._fetch)(request, body, respond)

    def _fetch(self, request: Request, body: offset_fetch.OffsetFetchRequest, respond: Respond) -> None:
        version = request.header.api_version
        if version >= FIRST_FETCH_VERSION_WITH_MANY_GROUPS:
            respond(
                offset_fetch.OffsetFetchResponse(
                    groups=[self._fetch_group(g, body.require_stable) for g in body.groups]
                )
            )
            return
        wanted = _partitions(body.topics)
        if version == ZOOKEEPER_VERSION:
            respond(_fetch_response({tp: self._fetch_from_zookeeper(body.group_id, tp) for tp in wanted or ()}))
            return
        try:
            respond(
                _fetch_response(
                    self._offsets.handle_fetch_offsets(body.group_id, wanted, require_stable=body.require_stable)
                )
            )
        except ApiError as failure:
            failed: dict[TopicPartition, FetchedOffset] = {}
            if version < FIRST_FETCH_VERSION_WITH_GROUP_ERROR:
                failed = dict.fromkeys(wanted or (), (NOTHING_COMMITTED, failure.error))
            response = _fetch_response(failed)
            response.error_code = failure.error.code
            respond(response)

    def _fetch_group(
        self, group: offset_fetch.OffsetFetchRequestGroup, require_stable: bool
    ) -> offset_fetch.OffsetFetchResponseGroup:
        try:
            fetched = self._offsets.handle_fetch_offsets(
                group.group_id,
                _partitions(group.topics),
                require_stable=require_stable,
                member=(group.member_id, group.member_epoch),
            )
        except ApiError as failure:
            return offset_fetch.OffsetFetchResponseGroup(group_id=group.group_id, error_code=failure.error.code)
        topics: dict[str, offset_fetch.OffsetFetchResponseTopics] = {}
        for (topic, partition), (offset, error) in fetched.items():
            result = offset_fetch.OffsetFetchResponsePartitions(
                partition_index=partition,
                committed_offset=offset.offset,
                committed_leader_epoch=offset.leader_epoch,
                metadata=offset.metadata,
                error_code=error.code,
            )
            topics.setdefault(topic, offset_fetch.OffsetFetchResponseTopics(name=topic)).partitions.append(result)
        return offset_fetch.OffsetFetchResponseGroup(group_id=group.group_id, topics=list(topics.values()))

    def _fetch_from_zookeeper(self, group_id: str, topic_partition: TopicPartition) -> FetchedOffset:
        """Fetch offsets of version 0, in which a partition without a committed offset is an error."""
        offset = None
        try:
            if self._metadata_cache.contains(topic_partition.topic):
                offset = self._zk_client.get_consumer_offset(group_id, topic_partition)
        except ZOOKEEPER_OFFSET_ERRORS as error:
            logger.warning(
                "Cannot read the offset of %s of group %s in ZooKeeper: %s", topic_partition, group_id, error
            )
            return NOTHING_COMMITTED, Errors.UNKNOWN_SERVER_ERROR
        if offset is None:
            return NOTHING_COMMITTED, Errors.UNKNOWN_TOPIC_OR_PARTITION
        return OffsetAndMetadata(offset, NO_METADATA, NOT_GIVEN), Errors.NONE

    # ── OffsetDelete ──────────────────────────────────────────────────────────────────────────────────────────────

    def handle_offset_delete(
        self, _request: Request, body: offset_delete.OffsetDeleteRequest, respond: Respond
    ) -> None:
        """Delete offsets of partitions that no member reads."""
        wanted = [TopicPartition(t.name, p.partition_index) for t in body.topics for p in t.partitions]
        known = [tp for tp in wanted if self._metadata_cache.get_partition_info(tp)]
        try:
            outcomes = self._offsets.handle_delete_offsets(body.group_id, known)
        except ApiError as failure:
            respond(offset_delete.OffsetDeleteResponse(error_code=failure.error.code))
            return
        topics: dict[str, offset_delete.OffsetDeleteResponseTopic] = {}
        for tp in dict.fromkeys(wanted):
            result = offset_delete.OffsetDeleteResponsePartition(
                partition_index=tp.partition,
                error_code=outcomes.get(tp, Errors.UNKNOWN_TOPIC_OR_PARTITION).code,
            )
            topics.setdefault(tp.topic, offset_delete.OffsetDeleteResponseTopic(name=tp.topic)).partitions.append(
                result
            )
        respond(offset_delete.OffsetDeleteResponse(topics=list(topics.values())))


def _partitions(
    topics: Sequence[offset_fetch.OffsetFetchRequestTopic] | Sequence[offset_fetch.OffsetFetchRequestTopics] | None,
) -> list[TopicPartition] | None:
    """The requested partitions; None for all."""
    if topics is None:
        return None
    return [TopicPartition(topic.name, index) for topic in topics for index in topic.partition_indexes]


def _commit_response(body: offset_commit.OffsetCommitRequest, outcomes: Outcomes) -> offset_commit.OffsetCommitResponse:
    """The result of each partition in the order of the request; a partition without a result does not exist."""
    return offset_commit.OffsetCommitResponse(
        topics=[
            offset_commit.OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    offset_commit.OffsetCommitResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=outcomes.get(
                            TopicPartition(topic.name, partition.partition_index), Errors.UNKNOWN_TOPIC_OR_PARTITION
                        ).code,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )


def _txn_commit_response(
    body: txn_offset_commit.TxnOffsetCommitRequest, outcomes: Outcomes, version: int
) -> txn_offset_commit.TxnOffsetCommitResponse:
    """The result of each partition in the order of the request; a partition without a result does not exist."""

    def result(topic: str, index: int) -> txn_offset_commit.TxnOffsetCommitResponsePartition:
        error = outcomes.get(TopicPartition(topic, index), Errors.UNKNOWN_TOPIC_OR_PARTITION)
        known = error_for_version(error, version, LATER_TXN_COMMIT_ERRORS)
        return txn_offset_commit.TxnOffsetCommitResponsePartition(partition_index=index, error_code=known.code)

    return txn_offset_commit.TxnOffsetCommitResponse(
        topics=[
            txn_offset_commit.TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[result(topic.name, partition.partition_index) for partition in topic.partitions],
            )
            for topic in body.topics
        ]
    )


def _fetch_response(fetched: Mapping[TopicPartition, FetchedOffset]) -> offset_fetch.OffsetFetchResponse:
    topics: dict[str, offset_fetch.OffsetFetchResponseTopic] = {}
    for (topic, partition), (offset, error) in fetched.items():
        result = offset_fetch.OffsetFetchResponsePartition(
            partition_index=partition,
            committed_offset=offset.offset,
            committed_leader_epoch=offset.leader_epoch,
            metadata=offset.metadata,
            error_code=error.code,
        )
        topics.setdefault(topic, offset_fetch.OffsetFetchResponseTopic(name=topic)).partitions.append(result)
    return offset_fetch.OffsetFetchResponse(topics=list(topics.values()))
