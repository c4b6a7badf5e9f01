"""Requests that several parts of the old consumer need: addresses, metadata, the coordinator of a group.

Kafka 0.10.2: core/.../client/ClientUtils.scala · book 3.5.3
"""

from __future__ import annotations

import logging
import random
from collections.abc import Collection, Sequence

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.old_consumer.simple.simple_consumer import SimpleConsumer
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse
from kafka_lite.zookeeper.data import BrokerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

PLAINTEXT = "PLAINTEXT"


class BrokerEndPointNotAvailableError(KafkaError):
    """No broker has a plaintext listener, and old clients support no other."""


def get_plaintext_broker_end_points(zk: KafkaZkClient) -> list[BrokerEndPoint]:
    """The first plaintext listener of each live broker. Raises BrokerEndPointNotAvailableError if none has one."""
    brokers = zk.get_brokers()
    found = [plaintext_end_point(broker_id, registration) for broker_id, registration in brokers.items()]
    end_points = [each for each in found if each is not None]
    if brokers and not end_points:
        raise BrokerEndPointNotAvailableError(
            f"none of the brokers {list(brokers)} has a plaintext end point, and old consumers know no other. Use "
            "kafka_lite.consumer.KafkaConsumer, with bootstrap.servers"
        )
    return end_points


def get_plaintext_end_point(zk: KafkaZkClient, broker_id: int) -> BrokerEndPoint | None:
    """The first plaintext listener of a broker; None if it has none or is not alive."""
    registration = zk.get_broker(broker_id)
    return None if registration is None else plaintext_end_point(broker_id, registration)


def plaintext_end_point(broker_id: int, registration: BrokerRegistration) -> BrokerEndPoint | None:
    """The first end point with the security protocol PLAINTEXT."""
    protocols = registration.listener_security_protocol_map
    for end_point in registration.endpoints:
        listener, _, address = end_point.partition("://")
        if protocols.get(listener.upper(), listener.upper()) == PLAINTEXT:
            return BrokerEndPoint.parse(broker_id, address)
    return None


def parse_broker_list(text: str) -> list[BrokerEndPoint]:
    """``host1:port1,host2:port2``; the ids are 0, 1, … Raises ConfigError."""
    servers = parse_bootstrap_servers(text, "broker.list")
    return [BrokerEndPoint(number, host, port) for number, (host, port) in enumerate(servers)]


def fetch_topic_metadata(
    topics: Collection[str], brokers: Sequence[BrokerEndPoint], client_id: str, timeout_ms: float
) -> MetadataResponse:
    """Ask the brokers in random order until one responds; no topics ask for all. Raises KafkaError if none does."""
    reason: Exception | None = None
    what = f"topics {sorted(topics)}" if topics else "all topics"
    for broker in random.sample(brokers, len(brokers)):
        with SimpleConsumer(broker.host, broker.port, timeout_ms, -1, client_id) as consumer:
            try:
                return consumer.send_metadata_request(sorted(topics))
            except ConnectionError as error:
                logger.warning("Fetching topic metadata for %s from broker %s failed: %s", what, broker, error)
                reason = error
    asked = [broker.connection_string for broker in brokers]
    raise KafkaError(f"fetching topic metadata for {what} from brokers {asked} failed: {reason}")


def find_offset_manager(group: str, brokers: Sequence[BrokerEndPoint], timeout_ms: float) -> BrokerEndPoint:
    """The coordinator of a group, from the first broker that responds. Raises ApiError, KafkaError."""
    for broker in random.sample(brokers, len(brokers)):
        with SimpleConsumer(broker.host, broker.port, timeout_ms, -1, "") as consumer:
            try:
                response = consumer.send_group_coordinator_request(group)
            except ConnectionError as error:
                logger.info("Failed to fetch consumer metadata from %s: %s", broker, error)
                continue
        if response.error_code != Errors.NONE.code:
            raise Errors.for_code(response.error_code).exception()
        return BrokerEndPoint(response.node_id, response.host, response.port)
    raise KafkaError(f"none of {len(brokers)} brokers returned the offset manager of {group}")


def channel_to_offset_manager(group: str, zk: KafkaZkClient, client_id: str, timeout_ms: float) -> BlockingChannel:
    """A connection to the coordinator of a group. Tries once; raises KafkaError, ConnectionError.

    Kafka retries until it succeeds. Here the callers retry, because they know when to give up.
    """
    coordinator = find_offset_manager(group, get_plaintext_broker_end_points(zk), timeout_ms)
    channel = BlockingChannel(coordinator.host, coordinator.port, client_id=client_id, read_timeout_ms=timeout_ms)
    channel.connect()
    logger.debug("Connected to offset manager %s", coordinator)
    return channel
