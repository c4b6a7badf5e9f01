"""Creates the parts of a consumer from its configuration.

Kafka 0.10.2: clients/.../consumer/KafkaConsumer.java (the constructor) · book 4.1.2
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

from kafka_lite.clients.client_metrics import ClientConfig
from kafka_lite.clients.client_utils import new_network_client, parse_and_validate_addresses
from kafka_lite.clients.cluster import Cluster
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.serialization import ByteArrayDeserializer, Deserializer, ensure_serializer
from kafka_lite.common.time import Time
from kafka_lite.consumer.assignors.builtin_assignors import assignors_of
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.consumer.consumer_interceptors import ConsumerInterceptor, ConsumerInterceptors
from kafka_lite.consumer.consumer_metrics import ConsumerMetrics
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.fetcher import FetchConfig, Fetcher
from kafka_lite.consumer.fetcher_metrics import FetchManagerMetrics
from kafka_lite.consumer.group.committing_member import CommittingMember
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.group.modern.consumer_membership_manager import ConsumerMembershipManager
from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.offset_fetcher import OffsetFetcher
from kafka_lite.consumer.record_batch_reader import Deserialize
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Timer
from kafka_lite.consumer.topic_metadata_fetcher import TopicMetadataFetcher
from kafka_lite.security.channel_builders import client_channel_builder

logger = logging.getLogger(__name__)

MAX_IN_FLIGHT_REQUESTS = 100


class ConsumerParts:
    """The objects behind one consumer, connected to each other. They are closed in dependency order.

    ::

        KafkaConsumer ─┬─ CommittingMember (with a group) ────┐
                       ├─ Fetcher ────────────────────────────┼─ ConsumerNetworkClient ─ NetworkClient ─ Selector
                       ├─ OffsetFetcher, TopicMetadataFetcher ┘
                       └─ all of them share SubscriptionState and Metadata
    """

    def __init__(
        self,
        config: ConsumerConfig,
        key_deserializer: Deserializer[Any] | None,
        value_deserializer: Deserializer[Any] | None,
        time: Time,
    ) -> None:
        self._config = config
        self._time = time
        ensure_serializer(key_deserializer, Deserializer, "key_deserializer")
        ensure_serializer(value_deserializer, Deserializer, "value_deserializer")
        self.key_deserializer = key_deserializer or new_deserializer(config, "key")
        self.value_deserializer = value_deserializer or new_deserializer(config, "value")
        self.interceptors = ConsumerInterceptors([
            self._configured("interceptor.classes", ConsumerInterceptor, name) for name in config["interceptor.classes"]
        ])  # fmt: skip
        self.metrics = ConsumerMetrics(config, time)
        self.subscriptions = SubscriptionState(OffsetResetStrategy(config["auto.offset.reset"]))
        self.metadata = new_metadata(config, time)
        self.client = new_consumer_network_client(config, self.metadata, self.metrics, time)
        self.coordinator = self._new_coordinator()
        self.fetcher = Fetcher(
            self.client, self.metadata, self.subscriptions, self._fetch_config(),
            FetchManagerMetrics(self.metrics.metrics), time,
        )  # fmt: skip
        self.offset_fetcher = self._new_offset_fetcher()
        self.topic_metadata_fetcher = TopicMetadataFetcher(
            self.client,
            retry_backoff_ms=config["retry.backoff.ms"],
            allow_auto_topic_creation=config["allow.auto.create.topics"],
        )

    def close(self, timer: Timer) -> None:
        """Close everything. A part that fails to close does not stop the others; the first error is raised at the
        end."""
        failures: list[Exception] = []
        steps = [lambda: self.fetcher.close(timer), self.interceptors.close, self.metrics.close, self.client.close,
                 self.key_deserializer.close, self.value_deserializer.close]  # fmt: skip
        if self.coordinator is not None:
            coordinator = self.coordinator
            steps.insert(0, lambda: coordinator.close(timer))
        for step in steps:
            try:
                step()
            except Exception as error:
                logger.exception("Failed to close a part of the consumer")
                failures.append(error)
        if failures:
            raise failures[0]

    # ── creating the parts ────────────────────────────────────────────────────────────────────────────────────────

    def _new_coordinator(self) -> CommittingMember | None:
        if self._config.group_id is None:
            return None
        return self._new_modern_member() if self._config.is_modern else self._new_classic_member()

    def _new_classic_member(self) -> ConsumerCoordinator:
        config = self._config
        return ConsumerCoordinator(
            self._rebalance_config(),
            self.client,
            self.metadata,
            self.subscriptions,
            assignors_of(config["partition.assignment.strategy"], config.originals),
            self.interceptors,
            auto_commit_interval_ms=config["auto.commit.interval.ms"] if config.enable_auto_commit else None,
            exclude_internal_topics=config["exclude.internal.topics"],
            metrics=self.metrics.metrics,
            time=self._time,
        )

    def _new_modern_member(self) -> ConsumerMembershipManager:
        config = self._config
        return ConsumerMembershipManager(
            self._rebalance_config(),
            self.client,
            self.metadata,
            self.subscriptions,
            self.interceptors,
            server_assignor=config["group.remote.assignor"],
            rack_id=config["client.rack"] or None,
            auto_commit_interval_ms=config["auto.commit.interval.ms"] if config.enable_auto_commit else None,
            exclude_internal_topics=config["exclude.internal.topics"],
            metrics=self.metrics.metrics,
            time=self._time,
        )

    def _rebalance_config(self) -> GroupRebalanceConfig:
        config = self._config
        return GroupRebalanceConfig(
            group_id=config.group_id or "",
            group_instance_id=config["group.instance.id"],
            session_timeout_ms=config["session.timeout.ms"],
            rebalance_timeout_ms=config["max.poll.interval.ms"],
            heartbeat_interval_ms=config["heartbeat.interval.ms"],
            retry_backoff_ms=config["retry.backoff.ms"],
            leave_group_on_close=config["internal.leave.group.on.close"],
            throw_on_unsupported_stable_offset=config["internal.throw.on.fetch.stable.offset.unsupported"],
        )

    def _new_offset_fetcher(self) -> OffsetFetcher:
        config = self._config
        return OffsetFetcher(
            self.client,
            self.metadata,
            self.subscriptions,
            retry_backoff_ms=config["retry.backoff.ms"],
            request_timeout_ms=config["request.timeout.ms"],
            read_committed=config["isolation.level"] == "read_committed",
            time=self._time,
        )

    def _fetch_config(self) -> FetchConfig:
        config = self._config
        return FetchConfig(
            min_bytes=config["fetch.min.bytes"],
            max_bytes=config["fetch.max.bytes"],
            max_wait_ms=config["fetch.max.wait.ms"],
            max_partition_fetch_bytes=config["max.partition.fetch.bytes"],
            max_poll_records=config["max.poll.records"],
            check_crcs=config["check.crcs"],
            read_committed=config["isolation.level"] == "read_committed",
            rack_id=config["client.rack"],
            read_replica_lease_ms=config["metadata.max.age.ms"],
            deserialize_key=deserialize_of(self.key_deserializer),
            deserialize_value=deserialize_of(self.value_deserializer),
        )

    def _configured(self, key: str, kind: type[Any], name: str) -> Any:
        instance = new_instance(key, kind, name)
        instance.configure(self._config.originals)
        return instance


def deserialize_of(deserializer: Deserializer[Any]) -> Deserialize | None:
    """The deserializing function; None for values that stay bytes, which then costs nothing."""
    return None if type(deserializer) is ByteArrayDeserializer else deserializer.deserialize


# ── for consumers of every kind ───────────────────────────────────────────────────────────────────────────────────────


class AnyConsumerConfig(ClientConfig, Protocol):
    """The configuration of a consumer of any kind."""

    originals: dict[str, object]


def new_metadata(config: AnyConsumerConfig, time: Time) -> Metadata:
    """The metadata, which begins with the bootstrap servers."""
    metadata = Metadata(
        config["retry.backoff.ms"],
        config["metadata.max.age.ms"],
        allow_auto_topic_creation=config["allow.auto.create.topics"],
        time=time,
    )
    addresses = parse_and_validate_addresses(config["bootstrap.servers"])
    metadata.update(Cluster.bootstrap(addresses), time.hi_res_ms())
    return metadata


def new_consumer_network_client(
    config: AnyConsumerConfig, metadata: Metadata, metrics: ConsumerMetrics, time: Time
) -> ConsumerNetworkClient:
    """The network client."""
    builder = client_channel_builder(config, config["client.id"], time)
    return ConsumerNetworkClient(
        new_network_client(config, metadata, metrics, MAX_IN_FLIGHT_REQUESTS, time, channel_builder=builder),
        metadata,
        retry_backoff_ms=config["retry.backoff.ms"],
        unsent_expiry_ms=config["request.timeout.ms"],
        time=time,
    )


def new_deserializer(config: AnyConsumerConfig, of: str) -> Deserializer[Any]:
    """The configured deserializer of keys or values."""
    name = config[f"{of}.deserializer"]
    deserializer: Deserializer[Any] = ByteArrayDeserializer()
    if name:
        deserializer = new_instance(f"{of}.deserializer", Deserializer, name)
    deserializer.configure(config.originals, is_key=of == "key")
    return deserializer
