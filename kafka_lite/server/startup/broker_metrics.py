"""The metrics of a broker: registries, their beans, the reporters and the HTTP server.

Kafka 0.10.2: core/.../server/KafkaServer.scala (metrics), server/KafkaHealthcheck.scala (SessionExpireListener),
core/.../metrics/KafkaMetricsReporter.scala · book 2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka_lite.common.process.app_info_parser import get_commit_id, get_version
from kafka_lite.common.process.log_levels import loggers
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.controller.controller_metrics import measure_controller
from kafka_lite.controller.controller_stats import ControllerStats
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.coordinator.group.group_coordinator_metrics import GroupBeans
from kafka_lite.coordinator.transaction.transaction_metrics import TransactionBeans
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_metrics import measure_logs
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.kafka_metrics_reporter import KafkaMetricsReporter
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.meter import TICK_INTERVAL_MS, RateUnit
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.metrics_reporter import MetricsReporter, configured_instance
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.network.metrics.socket_server_metrics import measure_socket_server
from kafka_lite.network.socket_server import SocketServer
from kafka_lite.server.broker_states import BrokerState
from kafka_lite.server.client_telemetry.client_metrics_manager import ClientMetricsManager
from kafka_lite.server.client_telemetry.client_metrics_store import ClientMetricsStore
from kafka_lite.server.config.listener_configs import METRICS_HTTP_PREFIX
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool
from kafka_lite.server.metrics.replica_manager_metrics import measure_purgatory
from kafka_lite.server.startup.group_coordination import GroupCoordination
from kafka_lite.server.startup.transaction_coordination import TransactionCoordination
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zookeeper_session import SessionEvent

if TYPE_CHECKING:
    from kafka_lite.metrics.metrics_http_server import MetricsHttpServer

JMX_PREFIX = "kafka.server"
HTTP_OFF = -1


class BrokerMetrics:
    """The metrics of a broker's parts, registered as the parts are created; ``beans`` shows those that exist so far.

    ::

        MetricsRegistry    meters, histograms, gauges of the broker's classes ─┐
        Metrics ─▶ JmxReporter    sensors of the network layer                 ├─▶ MBeanServer ─▶ MetricsHttpServer
           └────▶ metric.reporters    the user's own                           ┘
    """

    def __init__(self, config: KafkaConfig, time: Time) -> None:
        """Create the registries and the reporters. Raises KafkaError if a configured class does not exist."""
        self._time = time
        self._config = config
        self.registry = MetricsRegistry()
        jmx_reporter = JmxReporter(JMX_PREFIX)
        configs = config.original | config.values
        reporters = [
            configured_instance(name, MetricsReporter, configs)  # type: ignore[type-abstract]
            for name in config.metric_reporters
        ]
        self._kafka_reporters = [
            configured_instance(name, KafkaMetricsReporter, configs)  # type: ignore[type-abstract]
            for name in config.kafka_metrics_reporters
        ]
        level = RecordingLevel.for_name(config.metrics_recording_level)
        windows = MetricConfig(config.metrics_num_samples, config.metrics_sample_window_ms, level)
        self.metrics = Metrics(windows, [jmx_reporter, *reporters], time)
        self.beans = MBeanServer()
        # The registry first: reading it makes its collectors bring the sensors of Metrics up to date, too.
        self.beans.add_source(self.registry.beans)
        self.beans.add_source(jmx_reporter.beans)
        self.beans.register(
            MetricName.of("kafka", "kafka.Log4jController"),
            lambda: {"Loggers": [f"{name}={level}" for name, level in loggers().items()]},
        )
        self.http_server: MetricsHttpServer | None = None

    def start(self, scheduler: Scheduler) -> None:
        """Start updating the rates and serving metrics.

        Raises KafkaError if the HTTP port is in use, ConfigError if its TLS is not complete.
        """
        scheduler.schedule("metrics-tick", self.registry.tick, TICK_INTERVAL_MS, TICK_INTERVAL_MS)
        for reporter in self._kafka_reporters:
            reporter.start(self.registry)
        if self._config.metrics_http_port != HTTP_OFF:
            self.http_server = self._new_http_server()
            self.http_server.start()

    def _new_http_server(self) -> MetricsHttpServer:
        from kafka_lite.metrics.metrics_http_server import MetricsHttpServer

        config, secure = self._config, None
        if config.values["metrics.http.security.protocol"] == "SSL":
            from kafka_lite.security.ssl.https_sockets import HttpsSockets

            secure = HttpsSockets(config.original, METRICS_HTTP_PREFIX).wrap
        return MetricsHttpServer(self.beans, config.metrics_http_host, config.metrics_http_port, secure)

    def shutdown(self) -> None:
        """Stop serving metrics and close the reporters."""
        if self.http_server is not None:
            self.http_server.shutdown()
        for reporter in self._kafka_reporters:
            reporter.close()
        self.metrics.close()

    def group(self, package: str, class_name: str) -> KafkaMetricsGroup:
        """The group of metrics of one class."""
        return KafkaMetricsGroup(self.registry, self._time, package, class_name)

    def measure_server(self, state: Callable[[], BrokerState], cluster_id: Callable[[], str]) -> None:
        """Register the metrics of KafkaServer itself."""
        group = self.group(JMX_PREFIX, "KafkaServer")
        group.new_gauge("BrokerState", lambda: state().value)
        group.new_gauge("ClusterId", cluster_id)
        group.new_gauge("yammer-metrics-count", lambda: len(self.registry))

    def register_app_info(self, broker_id: int) -> None:
        """Register the version of the software; the broker id is known by now."""

        def app_info() -> dict[str, AttributeValue]:
            return {"Version": get_version(), "CommitId": get_commit_id()}

        self.beans.register(MetricName.of(JMX_PREFIX, "app-info", tags={"id": str(broker_id)}), app_info)

    def measure_zookeeper(self, zk_client: KafkaZkClient) -> None:
        """Register a meter for each kind of event of the ZooKeeper session, such as ``ZooKeeperDisconnectsPerSec``."""
        group = self.group(JMX_PREFIX, "SessionExpireListener")
        meters = {each: group.new_meter(f"ZooKeeper{each.value}PerSec", each.value.lower()) for each in SessionEvent}
        zk_client.zookeeper.add_event_listener(lambda event: meters[event].mark())

    def measure_logs(self, log_manager: LogManager) -> None:
        """Register the metrics of logs, flushes and the cleaner."""
        measure_logs(self.registry, self._time, log_manager)

    def measure_sockets(self, socket_server: SocketServer) -> None:
        """Register the metrics of connections, queues, and the phases of requests."""
        measure_socket_server(self.registry, self.metrics, self._time, socket_server, SERVED_VERSIONS)

    def measure_purgatory(self, purgatory: DelayedOperationPurgatory[Any]) -> None:
        """Register the metrics of a purgatory."""
        measure_purgatory(self.registry, self._time, purgatory)

    def measure_groups(self, groups: GroupCoordination) -> None:
        """Register the metrics of groups, their offsets, and their purgatories."""
        manager = groups.group_manager
        GroupBeans(self.registry, self.metrics, self._time, manager.metrics, lambda: manager.current_groups)
        self.measure_purgatory(groups.coordinator.heartbeat_purgatory)
        self.measure_purgatory(groups.coordinator.rebalance_purgatory)

    def measure_transactions(self, transactions: TransactionCoordination) -> None:
        """Register the metrics of transactional ids and their markers."""
        markers = transactions.markers
        TransactionBeans(
            self.registry,
            self.metrics,
            self._time,
            transactions.manager.metrics,
            lambda: markers.markers_without_leader,
            lambda: markers.completions_to_retry,
        )

    def measure_client_metrics(self, manager: ClientMetricsManager, store: ClientMetricsStore) -> None:
        """Show the metrics that clients push, and how many clients there are."""
        self.beans.register(
            MetricName.of(JMX_PREFIX, "client-metrics"),
            lambda: {
                "instance-count": manager.instance_count,
                "unknown-subscription-request-count": manager.unknown_subscriptions,
            },
        )
        self.beans.add_source(store.beans)

    def controller_stats(self) -> ControllerStats:
        """The counters of a controller."""
        return ControllerStats(self.registry, self._time)

    def measure_controller(self, controller: KafkaController) -> None:
        """Register whether the controller is active, and the cluster's offline and imbalanced partitions."""
        measure_controller(self.registry, self._time, controller)

    def measure_handlers(self, pool: KafkaRequestHandlerPool) -> None:
        """Register the idle time of the request handlers."""
        self.group(JMX_PREFIX, "KafkaRequestHandlerPool").new_derived_meter(
            "RequestHandlerAvgIdlePercent", "percent", pool.average_idle_ns, unit=RateUnit.NANOSECONDS
        )
