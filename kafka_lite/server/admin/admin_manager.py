"""Handles administrative requests: creates, enlarges and deletes topics, describes and alters configurations.

Kafka 0.10.2: core/.../server/AdminManager.scala; configurations: Kafka 0.11, 2.3 · book 7.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from kafka_lite.admin.admin_utils import BROKERS, DEFAULT_ENTITY, TOPICS, AdminUtils
from kafka_lite.admin.replica_assignment import Assignment, BrokerMetadata, assign_replicas_to_brokers
from kafka_lite.common.config_def import ConfigError, Type
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_names import (
    GROUP_METADATA_TOPIC_NAME,
    TRANSACTION_STATE_TOPIC_NAME,
    validate_topic_name,
)
from kafka_lite.log.log_config import LOG_CONFIG_DEF
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeletableTopicResult
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from kafka_lite.protocol.messages.api_33_alter_configs import AlterConfigsResource, AlterConfigsResourceResponse
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsTopic, CreatePartitionsTopicResult
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterConfigsResource as IncrementalResource,
)
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementalResourceResponse,
)
from kafka_lite.server.admin.alter_config_ops import apply_config_ops
from kafka_lite.server.admin.config_helper import ConfigHelper
from kafka_lite.server.admin.delayed_topic_operations import (
    DelayedCreatePartitions,
    DelayedDeleteTopics,
    DelayedTopicOperation,
    TopicResult,
)
from kafka_lite.server.admin.runtime_logger_manager import BROKER_LOGGER_RESOURCE, RuntimeLoggerManager
from kafka_lite.server.dynamic.dynamic_broker_config import DYNAMIC_BROKER_CONFIGS, DynamicBrokerConfig
from kafka_lite.server.kafka_config import EMBEDDED, KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError

logger = logging.getLogger(__name__)

TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
MAX_NEW_PARTITIONS = 10_000
"""Kafka's limit since it has no ZooKeeper. Without a limit, one small request could exhaust memory and disk."""
MAX_ID_DIGITS = 10
"""The digits of an int32; longer text is not an id."""
_STOPPING = "this broker is shutting down"
NOT_GIVEN = -1
"""Stands for the broker's default number of partitions or replicas of a new topic."""

R = TypeVar("R", bound=TopicResult)


class AdminManager:
    """Validates and executes requests. Responds once the metadata cache shows the effect (topics), or at once (others).

    Every item of a request (a topic, a resource) has its own result; an error of one does not affect the others.
    """

    def __init__(
        self,
        config: KafkaConfig,
        metadata_cache: MetadataCache,
        zk_client: KafkaZkClient,
        dynamic_config: DynamicBrokerConfig,
        time: Time = SYSTEM_TIME,
        is_queued_up_for_deletion: Callable[[str], bool] = lambda _topic: False,
        storage_failure: Callable[[str], str | None] = lambda _topic: None,
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
        self._dynamic_config = dynamic_config
        self._config_helper = ConfigHelper(config, dynamic_config)
        self._loggers = RuntimeLoggerManager(config.broker_id)
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
        callback: Callable[[list[CreatableTopicResult]], None],
    ) -> None:
        """Create topics. ``callback`` gets the results once all leaders are elected, or after ``timeout_ms``."""
        results = {topic.name: self._create_topic(topic, validate_only) for topic in topics}
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

    def _create_topic(self, topic: CreatableTopic, validate_only: bool) -> CreatableTopicResult:
        result = CreatableTopicResult(name=topic.name, error_message=None)
        try:
            if self._is_stopping:
                raise Errors.NOT_CONTROLLER.exception(_STOPPING)
            config = _topic_config_of(topic)
            assignment = self._assignment_of(topic)
            if validate_only:
                self._admin_utils.validate_topic_create(topic.name, assignment, config)
            else:
                self._admin_utils.create_topic_with_assignment(topic.name, assignment, config)
            result.num_partitions = len(assignment)
            result.replication_factor = len(assignment[0])
            result.configs = [_creatable_config(entry) for entry in self._config_helper.describe_topic(config)]
        except Exception as error:  # noqa: BLE001  (becomes the result of this topic)
            failure = _api_error(error, f"creating topic {topic.name}")
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result

    def _assignment_of(self, topic: CreatableTopic) -> Assignment:
        """The replicas chosen by the client, or replicas spread over the live brokers."""
        if topic.assignments:
            if topic.num_partitions != NOT_GIVEN or topic.replication_factor != NOT_GIVEN:
                raise Errors.INVALID_REQUEST.exception(
                    "Both numPartitions or replicationFactor and replicasAssignments were set. "
                    "Both cannot be used at the same time."
                )
            return {entry.partition_index: list(entry.broker_ids) for entry in topic.assignments}
        partitions = self._config.num_partitions if topic.num_partitions == NOT_GIVEN else topic.num_partitions
        replicas = topic.replication_factor
        if replicas == NOT_GIVEN:
            replicas = self._config.default_replication_factor
        _check_new_partitions(partitions)
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
            raise Errors.LEADER_NOT_AVAILABLE.exception(_STOPPING)
        partitions, replication_factor, config = self._auto_creation(topic)
        assignment = assign_replicas_to_brokers(self._brokers(), partitions, replication_factor)
        self._admin_utils.create_topic_with_assignment(topic, assignment, config)
        wanted = {
            GROUP_METADATA_TOPIC_NAME: self._config.offsets_topic_replication_factor,
            TRANSACTION_STATE_TOPIC_NAME: self._config.transaction_topic_replication_factor,
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
        return c.num_partitions, c.default_replication_factor, {}

    # ---------------------------------------------------------------------------------------- delete, enlarge topics

    def delete_topics(
        self, timeout_ms: int, topics: Collection[str], callback: Callable[[list[DeletableTopicResult]], None]
    ) -> None:
        """Mark topics for deletion. ``callback`` gets the results once they are deleted, or after ``timeout_ms``."""
        results = {topic: self._delete_topic(topic) for topic in topics}
        operation = DelayedDeleteTopics(
            timeout_ms,
            results,
            self._cache,
            self._is_queued_up_for_deletion,
            lambda: callback(list(results.values())),
        )
        self._finish(operation, _successful(results), wait=timeout_ms > 0)

    def _delete_topic(self, topic: str) -> DeletableTopicResult:
        result = DeletableTopicResult(name=topic)
        try:
            self._admin_utils.delete_topic(topic)
        except Exception as error:  # noqa: BLE001  (becomes the result of this topic)
            failure = _api_error(error, f"deleting topic {topic}")
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result

    def create_partitions(
        self,
        timeout_ms: int,
        topics: Sequence[CreatePartitionsTopic],
        validate_only: bool,
        callback: Callable[[list[CreatePartitionsTopicResult]], None],
    ) -> None:
        """Enlarge topics. ``callback`` gets the results once all leaders are elected, or after ``timeout_ms``."""
        results = {topic.name: self._add_partitions(topic, validate_only) for topic in topics}
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

    def _add_partitions(self, topic: CreatePartitionsTopic, validate_only: bool) -> CreatePartitionsTopicResult:
        result = CreatePartitionsTopicResult(name=topic.name)
        replicas = None if topic.assignments is None else [list(entry.broker_ids) for entry in topic.assignments]
        try:
            _check_new_partitions(topic.count)
            self._admin_utils.add_partitions(
                topic.name, topic.count, self._brokers(), replicas, validate_only=validate_only
            )
        except Exception as error:  # noqa: BLE001  (becomes the result of this topic)
            failure = _api_error(error, f"adding partitions to topic {topic.name}")
            result.error_code, result.error_message = failure.error.code, str(failure)
        return result

    # ------------------------------------------------------------------------------------------------- configurations

    def describe_configs(
        self,
        resources: Sequence[DescribeConfigsResource],
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> list[DescribeConfigsResult]:
        """The configurations of topics, of this broker, of all brokers (empty name), or of this broker's loggers."""
        results = []
        for resource in resources:
            result = DescribeConfigsResult(
                error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
            )
            try:
                result.configs = self._describe(resource, include_synonyms, include_documentation)
            except Exception as error:  # noqa: BLE001  (becomes the result of this resource)
                failure = _api_error(error, f"describing {_display(resource.resource_type, resource.resource_name)}")
                result.error_code, result.error_message = failure.error.code, str(failure)
            results.append(result)
        return results

    def _describe(
        self, resource: DescribeConfigsResource, include_synonyms: bool, include_documentation: bool
    ) -> list[DescribeConfigsResourceResult]:
        # Some old clients send an empty list for "all".
        wanted = resource.configuration_keys or None
        name = resource.resource_name
        if resource.resource_type == TOPIC_RESOURCE:
            validate_topic_name(name)
            self._check_topic_exists(name)
            overrides = self._zk_client.get_entity_config(f"{TOPICS}/{name}")
            return self._config_helper.describe_topic(
                overrides,
                wanted,
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
        if resource.resource_type == BROKER_LOGGER_RESOURCE:
            return self._loggers.describe(name, wanted)
        if resource.resource_type != BROKER_RESOURCE:
            raise Errors.INVALID_REQUEST.exception(f"Unsupported resource type: {resource.resource_type}")
        self._check_broker_id(name)
        describe = self._config_helper.describe_broker if name else self._config_helper.describe_all_brokers
        return describe(wanted, include_synonyms=include_synonyms, include_documentation=include_documentation)

    def alter_configs(
        self, resources: Sequence[AlterConfigsResource], validate_only: bool
    ) -> list[AlterConfigsResourceResponse]:
        """Replace all overrides of each resource."""
        results = []
        for resource in resources:
            result = AlterConfigsResourceResponse(
                error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
            )
            try:
                config = {entry.name: _required(entry.name, entry.value) for entry in resource.configs}
                self._alter(resource.resource_type, resource.resource_name, config, validate_only)
            except Exception as error:  # noqa: BLE001  (becomes the result of this resource)
                failure = _alter_error(error, resource.resource_type, resource.resource_name)
                result.error_code, result.error_message = failure.error.code, str(failure)
            results.append(result)
        return results

    def incremental_alter_configs(
        self, resources: Sequence[IncrementalResource], validate_only: bool
    ) -> list[IncrementalResourceResponse]:
        """Change single overrides of each resource: set, delete, append to a list, subtract from a list."""
        results = []
        for resource in resources:
            kind, name = resource.resource_type, resource.resource_name
            result = IncrementalResourceResponse(error_message=None, resource_type=kind, resource_name=name)
            try:
                self._alter_incrementally(resource, validate_only)
            except Exception as error:  # noqa: BLE001  (becomes the result of this resource)
                failure = _alter_error(error, kind, name)
                result.error_code, result.error_message = failure.error.code, str(failure)
            results.append(result)
        return results

    def _alter_incrementally(self, resource: IncrementalResource, validate_only: bool) -> None:
        kind, name = resource.resource_type, resource.resource_name
        if kind == BROKER_LOGGER_RESOURCE:
            self._loggers.alter(name, resource.configs, validate_only=validate_only)
            return
        current = self._zk_client.get_entity_config(self._entity_path(kind, name))
        config = apply_config_ops(current, resource.configs, self._list_defaults(kind))
        self._alter(kind, name, config, validate_only)

    def _list_defaults(self, resource_type: int) -> dict[str, list[str]]:
        """The keys whose values are lists, with their values without an override."""
        if resource_type != TOPIC_RESOURCE:
            return {key.name: key.default for key in DYNAMIC_BROKER_CONFIGS if key.type is Type.LIST}
        broker = self._dynamic_config.topic_defaults()
        lists = [key for key in LOG_CONFIG_DEF if key.type is Type.LIST]
        return {key.name: broker.get(key.name) or key.default for key in lists}

    def _entity_path(self, resource_type: int, name: str) -> str:
        """Where the overrides of a resource are stored. Raises ApiError if it cannot have any."""
        if resource_type == TOPIC_RESOURCE:
            self._check_topic_exists(name)
            return f"{TOPICS}/{name}"
        if resource_type == BROKER_RESOURCE:
            self._check_broker_id(name)
            return f"{BROKERS}/{self._config.broker_id if name else DEFAULT_ENTITY}"  # (the name may be "01")
        raise Errors.INVALID_REQUEST.exception(
            f"AlterConfigs is only supported for topics and brokers, but resource type is {resource_type}"
        )

    def _alter(self, resource_type: int, name: str, config: Mapping[str, str], validate_only: bool) -> None:
        path = self._entity_path(resource_type, name)
        if resource_type == TOPIC_RESOURCE:
            self._admin_utils.validate_topic_config(config)
        else:
            self._dynamic_config.validate(config, per_broker=bool(name))
        if not validate_only:
            self._admin_utils.change_entity_config(path, config)

    def _check_topic_exists(self, topic: str) -> None:
        if not self._cache.contains(topic):
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"The topic '{topic}' does not exist.")

    def _check_broker_id(self, name: str) -> None:
        """Check that this broker serves the configuration: its own, or that of all brokers (the empty name)."""
        if name and not (name.isdecimal() and len(name) <= MAX_ID_DIGITS):
            raise Errors.INVALID_REQUEST.exception(f"Broker id must be an integer, but it is: {name}")
        if name and int(name) != self._config.broker_id:
            expected = f"expected {self._config.broker_id} or empty string, but received {name}"
            raise Errors.INVALID_REQUEST.exception(f"Unexpected broker id, {expected}")


def _check_new_partitions(count: int) -> None:
    if count > MAX_NEW_PARTITIONS:
        message = f"Excessively large number of partitions: {count}, at most {MAX_NEW_PARTITIONS} at once."
        raise Errors.POLICY_VIOLATION.exception(message)


def _successful(results: Mapping[str, R]) -> list[str]:
    return [topic for topic, result in results.items() if result.error_code == Errors.NONE.code]


def _api_error(error: Exception, doing: str) -> ApiError:
    """The error for the client. An error that the client did not cause is logged with a traceback."""
    if isinstance(error, ApiError):
        logger.info("Error %s: %s", doing, error)
        return error
    if isinstance(error, ZkConnectionError):  # of a client that is closed: else it would still be waiting
        logger.info("Error %s: %s", doing, error)
        return Errors.NOT_CONTROLLER.exception(_STOPPING)
    logger.error("Error %s", doing, exc_info=error)
    return Errors.UNKNOWN_SERVER_ERROR.exception()


def _alter_error(error: Exception, resource_type: int, name: str) -> ApiError:
    """The error of a bad value: INVALID_REQUEST in an alteration, INVALID_CONFIG in a creation, as in Kafka."""
    resource = _display(resource_type, name)
    if isinstance(error, ConfigError):
        error = Errors.INVALID_REQUEST.exception(f"Invalid config value for resource {resource}: {error}")
    return _api_error(error, f"altering the configuration of {resource}")


def _display(resource_type: int, name: str) -> str:
    names = {TOPIC_RESOURCE: "TOPIC", BROKER_RESOURCE: "BROKER", BROKER_LOGGER_RESOURCE: "BROKER_LOGGER"}
    kind = names.get(resource_type, str(resource_type))
    return f"ConfigResource(type={kind}, name='{name}')"


def _topic_config_of(topic: CreatableTopic) -> dict[str, str]:
    without_value = [entry.name for entry in topic.configs if entry.value is None]
    if without_value:
        message = f"Null value not supported for topic configs : {','.join(without_value)}"
        raise Errors.INVALID_REQUEST.exception(message)
    return {entry.name: entry.value for entry in topic.configs if entry.value is not None}


def _required(name: str, value: str | None) -> str:
    if value is None:
        raise Errors.INVALID_REQUEST.exception(f"Null value not supported for : {name}")
    return value


def _creatable_config(entry: DescribeConfigsResourceResult) -> CreatableTopicConfigs:
    return CreatableTopicConfigs(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.config_source,
        is_sensitive=entry.is_sensitive,
    )
