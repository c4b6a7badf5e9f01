"""Creates, enlarges, deletes and configures topics in ZooKeeper; the controller does the rest.

Kafka 0.10.2: core/.../admin/AdminUtils.scala, RackAwareMode.scala; later core/.../zk/AdminZkClient.scala · book 7.1.3
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from uuid import UUID

from kafka_lite.admin.replica_assignment import Assignment, BrokerMetadata, assign_replicas_to_brokers
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_names import (
    colliding_topics,
    has_collision_chars,
    is_valid_topic_name,
    validate_topic_name,
)
from kafka_lite.log.log_config import LOG_CONFIG_DEF, LogConfig
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NodeExistsError, NoNodeError, ZkStorageError

logger = logging.getLogger(__name__)

TOPICS, BROKERS = "topics", "brokers"
DEFAULT_ENTITY = "<default>"


class RackAwareMode(Enum):
    """How to treat racks if not all brokers have one."""

    DISABLED = "ignore racks"
    ENFORCED = "refuse"
    SAFE = "use racks only if all brokers have one"


class AdminUtils:
    """Validates changes, then writes their znodes. Raises ApiErrors with Kafka's codes and texts.

    ``topic_defaults`` returns the broker's current values for topic keys that are not overridden, which are needed to
    validate a topic's config.
    """

    def __init__(self, zk_client: KafkaZkClient, topic_defaults: Callable[[], Mapping[str, object]] = dict) -> None:
        self._zk_client = zk_client
        self._topic_defaults = topic_defaults

    # -------------------------------------------------------------------------------------------------------- brokers

    def get_broker_metadatas(self, rack_aware_mode: RackAwareMode = RackAwareMode.ENFORCED) -> list[BrokerMetadata]:
        """The live brokers that can take replicas, sorted by id."""
        registrations = self._zk_client.get_brokers()
        brokers = [BrokerMetadata(broker_id, found.rack) for broker_id, found in sorted(registrations.items())]
        incomplete = len({broker.rack is None for broker in brokers}) == 2
        if incomplete and rack_aware_mode is RackAwareMode.ENFORCED:
            message = (
                "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
                "assignment without rack information."
            )
            raise Errors.INVALID_REPLICA_ASSIGNMENT.exception(message)
        if rack_aware_mode is RackAwareMode.DISABLED or incomplete:
            return [BrokerMetadata(broker.id) for broker in brokers]
        return brokers

    # ----------------------------------------------------------------------------------------------------- new topics

    def create_topic(
        self,
        topic: str,
        partitions: int,
        replication_factor: int,
        config: Mapping[str, str] | None = None,
        rack_aware_mode: RackAwareMode = RackAwareMode.ENFORCED,
    ) -> Assignment:
        """Create a topic with replicas spread over the live brokers; returns the assignment."""
        brokers = self.get_broker_metadatas(rack_aware_mode)
        assignment = assign_replicas_to_brokers(brokers, partitions, replication_factor)
        self.create_topic_with_assignment(topic, assignment, config or {})
        return assignment

    def create_topic_with_assignment(
        self, topic: str, assignment: Assignment, config: Mapping[str, str], topic_id: UUID | None = None
    ) -> None:
        """Create a topic with these replicas; the config is written before the znode that the controller watches."""
        self.validate_topic_create(topic, assignment, config)
        with self._writing():
            self._zk_client.set_entity_config(f"{TOPICS}/{topic}", config)
            try:
                self._zk_client.create_topic_assignment(topic, TopicAssignment(assignment, topic_id))
            except NodeExistsError:
                raise _already_exists(topic) from None
        logger.info("Created topic %s with assignment %s and configuration %s", topic, assignment, dict(config))

    def topic_exists(self, topic: str) -> bool:
        """Whether the topic exists; False for an illegal name, even if it spells a znode such as ``t/partitions``."""
        return is_valid_topic_name(topic) and self._zk_client.topic_exists(topic)

    def validate_topic_create(self, topic: str, assignment: Assignment, config: Mapping[str, str]) -> None:
        """Raise the error if the topic's name, replicas or config are invalid or it conflicts with another topic."""
        validate_topic_name(topic)
        if self._zk_client.is_topic_marked_for_deletion(topic):
            raise Errors.TOPIC_ALREADY_EXISTS.exception(f"Topic '{topic}' is marked for deletion.")
        if self._zk_client.topic_exists(topic):
            raise _already_exists(topic)
        if has_collision_chars(topic):
            self._check_collision(topic)
        validate_assignment(assignment)
        self.validate_topic_config(config)

    def _check_collision(self, topic: str) -> None:
        others = self._zk_client.get_all_topics()
        if topic in others:
            raise _already_exists(topic)  # it was just created: not a collision with itself
        colliding = colliding_topics(topic, others)
        if colliding:
            message = f"Topic '{topic}' collides with existing topics: {', '.join(colliding)}"
            raise Errors.INVALID_TOPIC_EXCEPTION.exception(message)

    def validate_topic_config(self, config: Mapping[str, str]) -> None:
        """Raise ApiError INVALID_CONFIG for an unknown topic key, ConfigError for invalid values."""
        unknown = LOG_CONFIG_DEF.unused(config)
        if unknown:
            meant = LOG_CONFIG_DEF.meant_by(unknown[0])
            question = f".{meant}" if meant else ""
            raise Errors.INVALID_CONFIG.exception(f"Unknown topic config name: {unknown[0]}{question}")
        LogConfig(config, self._topic_defaults()).validate_values()

    # ------------------------------------------------------------------------------------------------- more partitions

    def add_partitions(
        self,
        topic: str,
        count: int,
        brokers: Sequence[BrokerMetadata],
        new_replicas: Sequence[list[int]] | None = None,
        *,
        validate_only: bool = False,
    ) -> Assignment:
        """Increase the number of partitions to ``count``; ``new_replicas`` has the replicas of each new partition.

        Returns the assignment of all partitions.
        """
        everything: Assignment = {}

        def enlarge(existing: TopicAssignment) -> TopicAssignment:
            everything.clear()
            everything.update(self._enlarge(topic, existing, count, brokers, new_replicas))
            return replace(existing, partitions=everything)

        existing = self._zk_client.get_topic_assignment(topic) if is_valid_topic_name(topic) else None
        if existing is None:
            raise topic_does_not_exist(topic)
        if validate_only:
            enlarge(existing)
            return everything
        try:
            with self._writing():
                self._zk_client.change_topic_assignment(topic, enlarge)
        except NoNodeError:
            raise topic_does_not_exist(topic) from None  # deleted concurrently
        logger.info("The partitions of topic %s are now %s", topic, everything)
        return everything

    def _enlarge(
        self,
        topic: str,
        existing: TopicAssignment,
        count: int,
        brokers: Sequence[BrokerMetadata],
        new_replicas: Sequence[list[int]] | None,
    ) -> Assignment:
        if existing.adding_replicas or existing.removing_replicas:
            message = f"A partition reassignment is in progress for the topic '{topic}'."
            raise Errors.REASSIGNMENT_IN_PROGRESS.exception(message)
        _check_increase(topic, len(existing.partitions), count)
        return {**existing.partitions, **self._new_partitions(existing, count, brokers, new_replicas)}

    def _new_partitions(
        self,
        existing: TopicAssignment,
        count: int,
        brokers: Sequence[BrokerMetadata],
        new_replicas: Sequence[list[int]] | None,
    ) -> Assignment:
        old_count = len(existing.partitions)
        first_replicas = existing.partitions[0]
        if new_replicas is None:
            # Start at partition 0's leader, as if all partitions had been created at once.
            start = next((i for i, broker in enumerate(brokers) if broker.id >= first_replicas[0]), 0)
            return assign_replicas_to_brokers(brokers, count - old_count, len(first_replicas), start, old_count)
        _check_new_replicas(new_replicas, count - old_count, len(first_replicas), {broker.id for broker in brokers})
        return {old_count + index: list(replicas) for index, replicas in enumerate(new_replicas)}

    # ------------------------------------------------------------------------------------------------ deletion, config

    def delete_topic(self, topic: str) -> None:
        """Mark a topic for deletion; no-op if it is already marked."""
        if not self.topic_exists(topic):
            raise topic_to_delete_is_unknown(topic)
        try:
            with self._writing():
                self._zk_client.create_delete_topic(topic)
        except NodeExistsError:
            logger.info("Topic %s is already marked for deletion", topic)

    def change_topic_config(self, topic: str, config: Mapping[str, str]) -> None:
        """Replace all of a topic's config overrides."""
        if not self.topic_exists(topic):
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f'Topic "{topic}" does not exist.')
        self.validate_topic_config(config)
        self.change_entity_config(f"{TOPICS}/{topic}", config)

    def change_entity_config(self, entity_path: str, config: Mapping[str, str]) -> None:
        """Write an entity's config overrides, then notify all brokers to read them."""
        with self._writing():
            self._zk_client.set_entity_config(entity_path, config)
            self._zk_client.create_config_change(entity_path)

    def delete_entity_config(self, entity_path: str) -> None:
        """Delete an entity's config overrides, then notify all brokers."""
        with self._writing():
            self._zk_client.delete_entity_config(entity_path)
            self._zk_client.create_config_change(entity_path)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Raise ApiError KAFKA_STORAGE_ERROR immediately, instead of blocking, if ZooKeeper's disk is full."""
        try:
            with self._zk_client.zookeeper.refusing_without_room():
                yield
        except ZkStorageError as error:
            message = "ZooKeeper cannot write to its disk, which is most likely full. Free some space and try again"
            raise Errors.KAFKA_STORAGE_ERROR.exception(message) from error


def topic_to_delete_is_unknown(topic: str) -> Exception:
    """The error of a deletion."""
    return Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"Topic `{topic}` to delete does not exist")


def _already_exists(topic: str) -> Exception:
    return Errors.TOPIC_ALREADY_EXISTS.exception(f"Topic '{topic}' already exists.")


def topic_does_not_exist(topic: str) -> Exception:
    """The error of a change."""
    return Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"The topic '{topic}' does not exist.")


def validate_assignment(assignment: Assignment) -> None:
    """Raise INVALID_REPLICA_ASSIGNMENT unless partitions are 0, 1, 2, … with equally many distinct replicas each."""
    problem = None
    if len({len(replicas) for replicas in assignment.values()}) != 1:
        problem = "All partitions should have the same number of replicas."
    elif not all(assignment.values()):
        problem = "Replication factor must be larger than 0."
    elif any(len(set(replicas)) < len(replicas) for replicas in assignment.values()):
        problem = f"Duplicate replica assignment found: {assignment}"
    elif sorted(assignment) != list(range(len(assignment))):
        problem = "partitions should be a consecutive 0-based integer sequence"
    if problem is not None:
        raise Errors.INVALID_REPLICA_ASSIGNMENT.exception(problem)


def _check_increase(topic: str, old_count: int, count: int) -> None:
    if count == old_count:
        raise Errors.INVALID_PARTITIONS.exception(f"Topic already has {old_count} partitions.")
    if count < old_count:
        raise Errors.INVALID_PARTITIONS.exception(
            f"The topic {topic} currently has {old_count} partition(s); {count} would not be an increase."
        )


def _check_new_replicas(
    new_replicas: Sequence[list[int]], increase: int, replication_factor: int, live_brokers: set[int]
) -> None:
    problem = None
    unknown = {broker for replicas in new_replicas for broker in replicas} - live_brokers
    if unknown:
        problem = f"Unknown broker(s) in replica assignment: {', '.join(map(str, sorted(unknown)))}."
    elif len(new_replicas) != increase:
        problem = f"Increasing the number of partitions by {increase} but {len(new_replicas)} assignments provided."
    elif any(len(set(replicas)) < len(replicas) for replicas in new_replicas):
        problem = f"Duplicate brokers not allowed in replica assignment: {list(new_replicas)}."
    elif any(len(replicas) != replication_factor for replicas in new_replicas):
        problem = (
            "Inconsistent replication factor between partitions: the existing ones have "
            f"{replication_factor} replicas, the new ones {[len(replicas) for replicas in new_replicas]}."
        )
    if problem is not None:
        raise Errors.INVALID_REPLICA_ASSIGNMENT.exception(problem)
