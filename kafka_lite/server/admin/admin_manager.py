"""Handles administrative requests about topics: creates, enlarges and deletes them.

Kafka 0.10.2: core/.../server/AdminManager.scala; later ZkAdminManager.scala · book 7.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence, Sized
from typing import TypeVar
from uuid import UUID

from kafka_lite.admin.admin_utils import AdminUtils, topic_does_not_exist, topic_to_delete_is_unknown
from kafka_lite.admin.replica_assignment import Assignment, BrokerMetadata, assign_replicas_to_brokers
from kafka_lite.common.bounded_log import BoundedLog, Log
from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID, random_uuid
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import (
    GROUP_METADATA_TOPIC_NAME,
    SHARE_GROUP_STATE_TOPIC_NAME,
    TRANSACTION_STATE_TOPIC_NAME,
    validate_topic_name,
)
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeletableTopicResult
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsResourceResult,
)
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsTopic, CreatePartitionsTopicResult
from kafka_lite.server.admin.admin_errors import STOPPING, api_error
from kafka_lite.server.admin.config_helper import ConfigHelper
from kafka_lite.server.admin.delayed_topic_operations import (
    DelayedCreatePartitions,
    DelayedDeleteTopics,
    DelayedTopicOperation,
    TopicResult,
)
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import EMBEDDED, KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.controller_mutation_quota_manager import ControllerMutationQuota
from kafka_lite.server.replication.inter_broker_versions import topic_ids_are_known
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

MAX_NEW_PARTITIONS = 10_000
"""Kafka's limit for a request since it has no ZooKeeper. Without one, one small request could exhaust memory, disk and
file descriptors."""
MANY_NAMES = 100
"""From so many topics on, one listing of all topics costs less than asking ZooKeeper for each."""
NOT_GIVEN = -1
"""Stands for the broker's default number of partitions or replicas of a new topic."""

R = TypeVar("R", bound=TopicResult)


class AdminManager:
    """Validates and executes requests. Responds once the metadata cache shows the effect.

    Every topic of a request has its own result; an error of one does not affect the others.
    """

    def __init__(
        self,
        config: KafkaConfig,
        metadata_cache: MetadataCache,
        zk_client: KafkaZkClient,
        dynamic_config: DynamicBrokerConfig,
        time: Time,
        is_queued_up_for_deletion: Callable[[str], bool],
        storage_failure: Callable[[str], str | None],
    ) -> None:
        """``is_queued_up_for_deletion`` is the controller's: whether a deleted topic is not completely removed yet.

        ``storage_failure`` is the replica manager's: why a topic's logs cannot be created.
        """
        self._config = config
        self._cache = metadata_cache
        self._zk_client = zk_client
        self._is_queued_up_for_deletion = is_queued_up_for_deletion
        self._storage_failure = storage_failure
        self._is_stopping = False
        self._admin_utils = AdminUtils(zk_client, dynamic_config.topic_defaults)
        self._config_helper = ConfigHelper(config, dynamic_config)
        self.topic_purgatory: DelayedOperationPurgatory[DelayedTopicOperation] = DelayedOperationPurgatory(
            "topic", broker_id=config.broker_id, time=time
        )

    def begin_shutdown(self) -> None:
        """Create nothing more. A request may create thousands of topics, and a shutdown does not wait for them."""
        self._is_stopping = True

    def shutdown(self) -> None:
        """Stop the purgatory."""
        self.topic_purgatory.shutdown()

    def try_complete_delayed_topic_operations(self, topic: str) -> None:
        """Complete the operations that wait for a change of this topic's metadata, or for its deletion."""
        self.topic_purgatory.check_and_complete(topic)

    def _finish(self, operation: DelayedTopicOperation, topics: Collection[Hashable], wait: bool) -> None:
        """Respond at once if there is nothing to wait for, otherwise once the operation completes."""
        if wait and topics:
            self.topic_purgatory.try_complete_else_watch(operation, list(topics))
        else:
            operation.complete_without_waiting()

    # --------------------------------------------------------------------------------------------------- create topics

    def create_topics(
        self,
        timeout_ms: int,
        topics: Sequence[CreatableTopic],
        validate_only: bool,
        quota: ControllerMutationQuota,
        callback: Callable[[list[CreatableTopicResult]], None],
    ) -> None:
        """Create topics. ``callback`` gets the results once all leaders are elected, or after ``timeout_ms``."""
        with BoundedLog(logger) as log:
            shared = _SharedByTopics(log)
            results = {topic.name: self._create_topic(topic, validate_only, quota, shared) for topic in topics}
        created = _successful(results)
        if validate_only or not created:
            callback(list(results.values()))
            return
        partitions = {name: results[name].num_partitions for name in created}
        operation = DelayedCreatePartitions(
            timeout_ms,
            results,
            partitions,
            self._cache,
            self._storage_failure,
            lambda: callback(list(results.values())),
        )
        self._finish(operation, created, wait=timeout_ms > 0)

    def _create_topic(
        self, topic: CreatableTopic, validate_only: bool, quota: ControllerMutationQuota, shared: _SharedByTopics
    ) -> CreatableTopicResult:
        result = CreatableTopicResult(name=topic.name, error_message=None)
        try:
            if self._is_stopping:
                raise Errors.NOT_CONTROLLER.exception(STOPPING)
            if self._cache.contains(topic.name):  # as in Kafka, without asking ZooKeeper
                raise Errors.TOPIC_ALREADY_EXISTS.exception(f"Topic '{topic.name}' already exists.")
            config = _topic_config_of(topic)
            assignment = self._assignment_of(topic, shared)
            if validate_only or not quota.is_unbounded:  # what is invalid costs nothing
                self._admin_utils.validate_topic_create(topic.name, assignment, config)
            if not validate_only:
                quota.record(len(assignment))
                topic_id = self._new_topic_id()
                self._admin_utils.create_topic_with_assignment(topic.name, assignment, config, topic_id)
                result.topic_id = topic_id or ZERO_UUID
            result.num_partitions = len(assignment)
            result.replication_factor = len(assignment[0])
            result.configs = self._described(config, shared)
        except Exception as error:  # noqa: BLE001  (becomes the result of this topic)
            failure = api_error(error, f"creating topic {topic.name}", shared.log)
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result

    def _new_topic_id(self) -> UUID | None:
        """The id of a topic that is created now; None if the oldest brokers of the cluster know no ids."""
        return random_uuid() if topic_ids_are_known(self._config.inter_broker_protocol_version) else None

    def _described(self, config: dict[str, str], shared: _SharedByTopics) -> list[CreatableTopicConfigs]:
        """All configurations of a new topic with these overrides; they are the same for most topics of a request."""
        overrides = frozenset(config.items())
        if overrides not in shared.described:
            shared.described[overrides] = [
                _creatable_config(entry) for entry in self._config_helper.describe_topic(config)
            ]
        return shared.described[overrides]

    def _assignment_of(self, topic: CreatableTopic, shared: _SharedByTopics) -> Assignment:
        """The replicas chosen by the client, or replicas spread over the live brokers."""
        if topic.assignments:
            if topic.num_partitions != NOT_GIVEN or topic.replication_factor != NOT_GIVEN:
                raise Errors.INVALID_REQUEST.exception(
                    "Both numPartitions or replicationFactor and replicasAssignments were set. "
                    "Both cannot be used at the same time."
                )
            shared.take_room(len(topic.assignments))
            return {entry.partition_index: list(entry.broker_ids) for entry in topic.assignments}
        partitions = self._config.num_partitions if topic.num_partitions == NOT_GIVEN else topic.num_partitions
        replicas = topic.replication_factor
        if replicas == NOT_GIVEN:
            replicas = self._config.default_replication_factor
        shared.take_room(partitions)
        return assign_replicas_to_brokers(self._brokers(), partitions, replicas)

    def _brokers(self) -> list[BrokerMetadata]:
        return [BrokerMetadata(broker.id, broker.rack) for broker in self._cache.get_alive_brokers()]

    def auto_create_topic(self, topic: str) -> None:
        """Create a topic that a client requested, with the broker's defaults; internal topics have their own.

        Does not wait. Raises ApiError: TOPIC_ALREADY_EXISTS if the topic was created concurrently, LEADER_NOT_AVAILABLE
        if this broker is shutting down.
        """
        validate_topic_name(topic)
        if self._is_stopping:
            raise Errors.LEADER_NOT_AVAILABLE.exception(STOPPING)
        partitions, replication_factor, config = self._auto_creation(topic)
        assignment = assign_replicas_to_brokers(self._brokers(), partitions, replication_factor)
        self._admin_utils.create_topic_with_assignment(topic, assignment, config, self._new_topic_id())
        wanted = {
            GROUP_METADATA_TOPIC_NAME: self._config.offsets_topic_replication_factor,
            TRANSACTION_STATE_TOPIC_NAME: self._config.transaction_topic_replication_factor,
            SHARE_GROUP_STATE_TOPIC_NAME: self._config.share_coordinator.state_topic_replication_factor,
        }.get(topic, replication_factor)
        if replication_factor < wanted and self._config.zk_connect != EMBEDDED:
            text = (
                "Created %s with %d replicas instead of %d: no more brokers were alive. reassign-partitions adds some"
            )
            logger.warning(text, topic, replication_factor, wanted)

    def _auto_creation(self, topic: str) -> tuple[int, int, dict[str, str]]:
        """Partitions, replicas and configuration of an automatically created topic."""
        c = self._config
        # As 0.10.2 does it: with fewer brokers alive than wanted, a coordinator's topic has fewer replicas.
        alive = max(1, len(self._cache.get_alive_brokers()))
        if topic == GROUP_METADATA_TOPIC_NAME:
            segment_bytes = str(c.offsets_topic_segment_bytes)
            config = {"compression.type": "producer", "cleanup.policy": "compact", "segment.bytes": segment_bytes}
            return c.offsets_topic_num_partitions, min(c.offsets_topic_replication_factor, alive), config
        if topic == TRANSACTION_STATE_TOPIC_NAME:
            replicas = min(c.transaction_topic_replication_factor, alive)
            config = {
                "compression.type": "uncompressed",
                "cleanup.policy": "compact",
                "min.insync.replicas": str(min(c.transaction_topic_min_isr, replicas)),
                "segment.bytes": str(c.transaction_topic_segment_bytes),
                "unclean.leader.election.enable": "false",
            }
            return c.transaction_topic_num_partitions, replicas, config
        if topic == SHARE_GROUP_STATE_TOPIC_NAME:
            share = c.share_coordinator
            replicas = min(share.state_topic_replication_factor, alive)
            return share.state_topic_num_partitions, replicas, share.state_topic_configs(replicas)
        return c.num_partitions, c.default_replication_factor, {}

    # ---------------------------------------------------------------------------------------- delete, enlarge topics

    def delete_topics(
        self,
        timeout_ms: int,
        topics: Collection[str],
        quota: ControllerMutationQuota,
        callback: Callable[[list[DeletableTopicResult]], None],
    ) -> None:
        """Mark topics for deletion. ``callback`` gets the results once they are deleted, or after ``timeout_ms``."""
        known = self._known_if_many(topics)
        with BoundedLog(logger) as log:
            results = {topic: self._delete_topic(topic, quota, known, log) for topic in topics}
        operation = DelayedDeleteTopics(
            timeout_ms,
            results,
            self._cache,
            self._is_queued_up_for_deletion,
            lambda: callback(list(results.values())),
        )
        self._finish(operation, _successful(results), wait=timeout_ms > 0)

    def _known_if_many(self, asked: Sized) -> Collection[str] | None:
        """All topics that exist, if a request names so many that asking for each would take long."""
        return set(self._zk_client.get_all_topics()) if len(asked) >= MANY_NAMES else None

    def _delete_topic(
        self, topic: str, quota: ControllerMutationQuota, known: Collection[str] | None, log: Log
    ) -> DeletableTopicResult:
        result = DeletableTopicResult(name=topic)
        try:
            if known is not None and topic not in known:
                raise topic_to_delete_is_unknown(topic)
            quota.record(len(self._cache.get_partitions(topic)))
            self._admin_utils.delete_topic(topic)
        except Exception as error:  # noqa: BLE001  (becomes the result of this topic)
            failure = api_error(error, f"deleting topic {topic}", log)
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result

    def create_partitions(
        self,
        timeout_ms: int,
        topics: Sequence[CreatePartitionsTopic],
        validate_only: bool,
        quota: ControllerMutationQuota,
        callback: Callable[[list[CreatePartitionsTopicResult]], None],
    ) -> None:
        """Enlarge topics. ``callback`` gets the results once all leaders are elected, or after ``timeout_ms``."""
        with BoundedLog(logger) as log:
            shared = _SharedByTopics(log)
            shared.known = self._known_if_many(topics)
            results = {topic.name: self._add_partitions(topic, validate_only, quota, shared) for topic in topics}
        added = _successful(results)
        if validate_only or not added:
            callback(list(results.values()))
            return
        counts = {topic.name: topic.count for topic in topics}
        operation = DelayedCreatePartitions(
            timeout_ms,
            results,
            counts,
            self._cache,
            self._storage_failure,
            lambda: callback(list(results.values())),
        )
        self._finish(operation, added, wait=timeout_ms > 0)

    def _add_partitions(
        self, topic: CreatePartitionsTopic, validate_only: bool, quota: ControllerMutationQuota, shared: _SharedByTopics
    ) -> CreatePartitionsTopicResult:
        result = CreatePartitionsTopicResult(name=topic.name)
        try:
            if shared.known is not None and topic.name not in shared.known:
                raise topic_does_not_exist(topic.name)
            old_count = len(self._cache.get_partitions(topic.name))
            shared.take_room(max(topic.count - old_count, len(topic.assignments or ()), 0))
            replicas = None if topic.assignments is None else [list(entry.broker_ids) for entry in topic.assignments]
            brokers = self._brokers()
            if not (validate_only or quota.is_unbounded):
                self._admin_utils.add_partitions(topic.name, topic.count, brokers, replicas, validate_only=True)
                quota.record(topic.count - old_count)
            self._admin_utils.add_partitions(topic.name, topic.count, brokers, replicas, validate_only=validate_only)
        except Exception as error:  # noqa: BLE001  (becomes the result of this topic)
            failure = api_error(error, f"adding partitions to topic {topic.name}", shared.log)
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result


class _SharedByTopics:
    """The state of one request that its topics share.

    ``described`` has the described configurations, by overrides. ``take_room`` counts the new partitions. ``known``
    has all topics that exist, if there are many to look up.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.known: Collection[str] | None = None
        self.described: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]] = {}
        self._left = MAX_NEW_PARTITIONS

    def take_room(self, count: int) -> None:
        """Count partitions of one more topic. Raises POLICY_VIOLATION, and counts none, if there is no room."""
        if count > self._left:
            message = f"Excessively large number of partitions: {count}, at most {MAX_NEW_PARTITIONS} at once."
            raise Errors.POLICY_VIOLATION.exception(message)
        self._left -= max(count, 0)


def _successful(results: Mapping[str, R]) -> list[str]:
    return [topic for topic, result in results.items() if result.error_code == Errors.NONE.code]


def _topic_config_of(topic: CreatableTopic) -> dict[str, str]:
    without_value = [entry.name for entry in topic.configs if entry.value is None]
    if without_value:
        message = f"Null value not supported for topic configs : {','.join(without_value)}"
        raise Errors.INVALID_REQUEST.exception(message)
    return {entry.name: entry.value for entry in topic.configs if entry.value is not None}


def _creatable_config(entry: DescribeConfigsResourceResult) -> CreatableTopicConfigs:
    return CreatableTopicConfigs(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.config_source,
        is_sensitive=entry.is_sensitive,
    )
