"""Before a broker stops, it asks the controller to move its leaderships to other brokers.

Kafka 0.10.2: core/.../server/KafkaServer.scala (controlledShutdown) · book 7.4
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Collection

from kafka_lite.cluster.broker import Broker
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.kafka_controller import ShutdownCallback
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.protocol.messages.api_07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replication.inter_broker_versions import inter_broker_version
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

AskController = Callable[[ControlledShutdownRequest], ControlledShutdownResponse]
"""Sends the request to the current controller and returns its response. Raises KafkaError or OSError."""


def can_move_leaderships(config: KafkaConfig, metadata_cache: MetadataCache, zk_client: KafkaZkClient) -> bool:
    """Whether other brokers are alive, which can lead what this one leads, and a controller can be found.

    Not only if this broker has replicas of such partitions: the request that assigns them may be on its way.
    """
    return (
        config.controlled_shutdown_enable
        and any(broker.id != config.broker_id for broker in metadata_cache.get_alive_brokers())
        and zk_client.zookeeper.is_connected
    )


class ControlledShutdown:
    """One request, repeated until the controller has moved everything, or the retries are used up.

    ::

        broker                                              controller
          │── ControlledShutdown ──────────────────────────────▶│  for each partition that it leads: another leader
          │◀───────────────── LeaderAndIsr: follow 2 ───────────│
          │                                                     │  for each that it follows: out of the ISR
          │◀───────────────── StopReplica ──────────────────────│
          │◀── NONE, and the partitions that it still leads ────│

    The broker stops even if that fails. Its partitions then have no leader until the controller notices.
    """

    def __init__(
        self, broker_id: int, ask: AskController, max_retries: int, retry_backoff_ms: float, time: Time = SYSTEM_TIME
    ) -> None:
        self._request = ControlledShutdownRequest(broker_id=broker_id)
        self._ask = ask
        self._max_retries = max_retries
        self._retry_backoff_ms = retry_backoff_ms
        self._time = time

    def run(self) -> bool:
        """Repeat the request. Returns True if this broker no longer leads a partition that has other replicas."""
        for retries_left in range(self._max_retries, -1, -1):
            if self._try():
                logger.info("Controlled shutdown succeeded")
                return True
            if retries_left:
                logger.warning("Retrying controlled shutdown after the previous attempt failed...")
                self._time.sleep(self._retry_backoff_ms)
        logger.warning("Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed")
        return False

    def _try(self) -> bool:
        try:
            response = self._ask(self._request)
        except (KafkaError, OSError) as error:
            logger.info("Controlled shutdown request failed: %s", error)
            return False
        remaining = [TopicPartition(p.topic_name, p.partition_index) for p in response.remaining_partitions]
        if response.error_code == Errors.NONE.code and not remaining:
            return True
        logger.info(
            "Remaining partitions to move: %s; error code from controller: %s",
            ",".join(map(str, remaining)),
            Errors.for_code(response.error_code).name,
        )
        return False


class ControllerFinder:
    """Sends the request to the current controller, over a connection of its own unless that is this broker."""

    def __init__(
        self,
        broker_id: int,
        zk_client: KafkaZkClient,
        ask_own: Callable[[int, ShutdownCallback], None],
        listener_name: str,
        protocol: ApiVersion,
        timeout_ms: float,
        security: ClientChannelBuilder | None = None,
    ) -> None:
        self._security = security
        self._broker_id = broker_id
        self._zk_client = zk_client
        self._ask_own = ask_own
        self._listener_name = listener_name
        self._protocol = protocol
        self._timeout_ms = timeout_ms

    def ask(self, request: ControlledShutdownRequest) -> ControlledShutdownResponse:
        """Send the request. Raises KafkaError or OSError if there is no controller, or no response in time."""
        controller_id = self._zk_client.get_controller_id()
        if controller_id == self._broker_id:
            return self._ask_this_broker(request)
        registration = None if controller_id is None else self._zk_client.get_broker(controller_id)
        if controller_id is None or registration is None:
            raise KafkaError("there is no controller")
        end_point = Broker.from_registration(controller_id, registration).get_broker_end_point(self._listener_name)
        version = inter_broker_version(request.API_KEY, self._protocol)
        with BlockingChannel(
            end_point.host, end_point.port, read_timeout_ms=self._timeout_ms, security=self._security
        ) as channel:
            response = channel.exchange(request, version)
        assert isinstance(response, ControlledShutdownResponse)
        return response

    def _ask_this_broker(self, request: ControlledShutdownRequest) -> ControlledShutdownResponse:
        responses: queue.SimpleQueue[ControlledShutdownResponse] = queue.SimpleQueue()
        self._ask_own(request.broker_id, lambda error, left: responses.put(controlled_shutdown_response(error, left)))
        try:
            return responses.get(timeout=self._timeout_ms / 1000)
        except queue.Empty:
            raise KafkaError("this broker's own controller does not respond") from None


def controlled_shutdown_response(error: Errors, remaining: Collection[TopicPartition]) -> ControlledShutdownResponse:
    """The response; ``remaining`` are the partitions that the broker still leads."""
    partitions = [RemainingPartition(topic_name=tp.topic, partition_index=tp.partition) for tp in remaining]
    return ControlledShutdownResponse(error_code=error.code, remaining_partitions=partitions)


def controlled_shutdown(
    config: KafkaConfig, zk_client: KafkaZkClient, ask_own: Callable[[int, ShutdownCallback], None], time: Time
) -> ControlledShutdown:
    """The controlled shutdown of a broker with this configuration; ``ask_own`` asks its own controller."""
    controller = ControllerFinder(
        config.broker_id,
        zk_client,
        ask_own,
        config.inter_broker_listener_name,
        config.inter_broker_protocol_version,
        config.controller_socket_timeout_ms,
        config.inter_broker_security(),
    )
    retries, backoff_ms = config.controlled_shutdown_max_retries, config.controlled_shutdown_retry_backoff_ms
    return ControlledShutdown(config.broker_id, controller.ask, retries, backoff_ms, time)
