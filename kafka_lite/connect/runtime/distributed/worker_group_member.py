"""The worker's connection to its group: a network client with its metrics, and the coordinator on top.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/WorkerGroupMember.java · book 8.3.4
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace

from kafka_lite.clients.client_metrics import ClientMetrics
from kafka_lite.clients.client_utils import new_network_client, parse_and_validate_addresses
from kafka_lite.clients.cluster import Cluster
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.worker_coordinator import WorkerCoordinator
from kafka_lite.connect.runtime.distributed.worker_rebalance_listener import WorkerRebalanceListener
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.timer import Timer
from kafka_lite.metrics.mbean_server import Beans
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName
from kafka_lite.security.channel_builders import client_channel_builder

logger = logging.getLogger(__name__)

MAX_IN_FLIGHT_REQUESTS = 100
CLOSE_TIMEOUT_MS = 5000
"""How long the response to LeaveGroup may take."""
_CLIENT_IDS = itertools.count(1)


class WorkerGroupMember:
    """Used by the herder's thread. Any thread may call ``wakeup`` and ``request_rejoin``."""

    def __init__(
        self,
        config: DistributedConfig,
        rest_url: str,
        configs: ConfigBackingStore,
        listener: WorkerRebalanceListener,
        *,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``rest_url`` is where other workers reach this one. Raises ConfigError."""
        client_id = config["client.id"] or f"connect-{next(_CLIENT_IDS)}"
        config = DistributedConfig({**config.originals, "client.id": client_id})
        self._time = time
        self._metrics = ClientMetrics("connect", config, time)
        metadata = Metadata(config["retry.backoff.ms"], config["metadata.max.age.ms"], time=time)
        addresses = parse_and_validate_addresses(config["bootstrap.servers"])
        metadata.update(Cluster.bootstrap(addresses), time.hi_res_ms())
        security = client_channel_builder(config, client_id, time)
        self._client = ConsumerNetworkClient(
            new_network_client(config, metadata, self._metrics, MAX_IN_FLIGHT_REQUESTS, time, channel_builder=security),
            metadata,
            retry_backoff_ms=config["retry.backoff.ms"],
            unsent_expiry_ms=config["request.timeout.ms"],
            time=time,
        )
        group = GroupRebalanceConfig(
            group_id=config["group.id"],
            session_timeout_ms=config["session.timeout.ms"],
            rebalance_timeout_ms=config["rebalance.timeout.ms"],
            heartbeat_interval_ms=config["heartbeat.interval.ms"],
            retry_backoff_ms=config["retry.backoff.ms"],
        )
        self.coordinator = WorkerCoordinator(
            group, self._client, self._metrics.metrics, rest_url, configs, listener, time=time
        )
        logger.debug("Connect group member %s created", client_id)

    def ensure_active(self) -> None:
        """Join the group unless the worker is in it. Raises WakeupError, and fatal errors."""
        self.coordinator.poll(0)

    def poll(self, timeout_ms: float) -> None:
        """Take part in the group for so long. Returns at once after a rebalance. Raises WakeupError, fatal errors."""
        self.coordinator.poll(timeout_ms)

    def wakeup(self) -> None:
        """Make the poll in progress, or else the next one, raise WakeupError."""
        self._client.wakeup()

    @property
    def member_id(self) -> str:
        """The id in the group; empty if the worker is no member."""
        return self.coordinator.member_id

    def request_rejoin(self, reason: str) -> None:
        """Join again with the next poll, so that the group rebalances."""
        self.coordinator.request_rejoin(reason)

    def maybe_leave_group(self, reason: str) -> None:
        """Leave, so that the others rebalance at once. The next poll joins again."""
        self.coordinator.maybe_leave_group(reason)

    def owner_url(self, owned: str | ConnectorTaskId) -> str | None:
        """The URL of the worker that runs a connector or task, if this is the leader and knows it."""
        return self.coordinator.owner_url(owned)

    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """The metrics of the membership and of its connections, by name."""
        return self._metrics.metrics.metrics

    def beans(self) -> Beans:
        """The same as beans: ``kafka.connect:type=connect-coordinator-metrics,client-id=…`` and so on."""
        return self._metrics.jmx_reporter.beans()

    def stop(self) -> None:
        """Leave the group and close all connections."""
        timer = Timer(self._time, CLOSE_TIMEOUT_MS)
        self._client.disable_wakeups()
        try:
            self.coordinator.abandon_join(timer)
            self.coordinator.close(timer)
        finally:
            self._metrics.close()
            self._client.close()
        logger.debug("The Connect group member has stopped")

    def abandon(self) -> None:
        """Close all connections without leaving the group, which then waits for the end of the session: for tests."""
        self.coordinator.config = replace(self.coordinator.config, leave_group_on_close=False)
        self.stop()
