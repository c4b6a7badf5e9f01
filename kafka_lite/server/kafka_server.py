"""The broker: starts its parts in order, stops them in the reverse one.

Kafka 0.10.2: core/.../server/KafkaServer.scala · book 2.3, 7.4
"""

from __future__ import annotations

import contextlib
import logging
import resource
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import SystemTime, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import REQUEST_VERSIONS
from kafka_lite.controller.kafka_controller import ControllerConfig, KafkaController
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.network.acceptor import Listener, check_port_is_free
from kafka_lite.network.socket_server import SocketServer, SocketServerConfig
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.server import missing_logs
from kafka_lite.server.admin.admin_manager import AdminManager
from kafka_lite.server.apis.admin_apis import AdminApis
from kafka_lite.server.apis.api_handler import HandlerWrapper
from kafka_lite.server.apis.fetch_apis import FetchApis
from kafka_lite.server.apis.log_offset_apis import LogOffsetApis
from kafka_lite.server.apis.metadata_apis import MetadataApis
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.apis.producer_id_apis import ProducerIdApis
from kafka_lite.server.apis.replication_apis import ReplicationApis
from kafka_lite.server.broker_metadata_checkpoint import BrokerMetadata, BrokerMetadataCheckpoint, read_broker_metadata
from kafka_lite.server.broker_metrics import BrokerMetrics
from kafka_lite.server.broker_states import BrokerState, check_transition
from kafka_lite.server.dynamic.broker_reconfigurable import (
    DynamicConnectionQuotas,
    DynamicLogCleaner,
    DynamicLogConfig,
    DynamicProducerStateManagerConfig,
    DynamicThreadPool,
)
from kafka_lite.server.dynamic.config_handler import BrokerConfigHandler, ConfigHandler, TopicConfigHandler
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.dynamic.dynamic_config_manager import DynamicConfigManager
from kafka_lite.server.group_coordination import GroupCoordination
from kafka_lite.server.kafka_apis import SERVED_VERSIONS, KafkaApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool
from kafka_lite.server.log_dir_failure_handler import LogDirFailureHandler
from kafka_lite.server.metadata_cache import MetadataCache, MetadataSnapshot
from kafka_lite.server.quick_requests import InlineRequestHandler, QuickRequests
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.client import KafkaZkClient
from kafka_lite.zookeeper.embedded.server import EmbeddedZooKeeper

logger = logging.getLogger(__name__)

EMBEDDED = "embedded"
"""``zookeeper.connect`` of a broker with an embedded ZooKeeper."""

USUAL_ZOOKEEPER_PORT = 2181
USUAL_PORT_OR_ANY = -1
"""``zookeeper.embedded.port`` that takes the usual port, or any other if that is in use."""

RACK_AWARE_VERSION = ApiVersion.parse("0.10.0-IV1")
"""From this version on, brokers write their rack and the names of their listeners into ZooKeeper."""

METADATA_WAIT_MS = 10_000
"""How long a starting broker waits for the controller to tell it of itself and its partitions, in ms."""


class KafkaServer:
    """One broker.

    ``startup`` brings the parts up so that nothing is served before everything behind it works: ZooKeeper, broker id,
    logs, sockets (bound, not yet accepting), replica manager, controller, request handlers, registration. Then the
    acceptors begin.
    """

    def __init__(
        self, config: KafkaConfig, time: Time | None = None, wrap_handler: HandlerWrapper | None = None
    ) -> None:
        self.config = config
        self.time = time or SystemTime()
        self._wrap_handler = wrap_handler
        self.state = BrokerState.NOT_RUNNING
        self.cluster_id = ""
        self.embedded_zookeeper: EmbeddedZooKeeper | None = None
        self._stop_parts: list[tuple[str, Callable[[], object]]] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    # ── life ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def startup(self) -> None:
        """Start everything. If a part fails to start, stop those that have started, and raise the error."""
        with self._lock:
            self.state = check_transition(self.state, BrokerState.STARTING)
        try:
            self._start_parts()
            self.state = check_transition(self.state, BrokerState.RUNNING_AS_BROKER)
        except BaseException:
            self.shutdown()
            raise

    def shutdown(self) -> None:
        """Stop everything, last started first. A part that fails to stop does not keep others running."""
        with self._lock:
            if self.state in (BrokerState.NOT_RUNNING, BrokerState.BROKER_SHUTTING_DOWN):
                return
            self.state = check_transition(self.state, BrokerState.BROKER_SHUTTING_DOWN)
        while self._stop_parts:
            name, stop = self._stop_parts.pop()
            try:
                stop()
            except Exception:
                logger.exception("Error while stopping the %s", name)
        self.state = check_transition(self.state, BrokerState.NOT_RUNNING)
        self._stopped.set()

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        """Wait until ``shutdown`` is complete; false after ``timeout_s``."""
        return self._stopped.wait(timeout_s)

    def __enter__(self) -> Self:
        self.startup()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def bound_port(self, listener_name: str = "PLAINTEXT") -> int:
        """The actual port of a listener (``listeners`` may say 0)."""
        return self.socket_server.bound_port(listener_name)

    # ── parts, in the order of their start ────────────────────────────────────────────────────────────────────────

    def _start_parts(self) -> None:
        self._check_listeners()
        raise_open_files_limit()
        self._start_scheduler()
        self._start_metrics()
        self._start_zookeeper()
        self._assign_broker_id()
        self._start_dynamic_config()
        self._start_logs()
        self._start_sockets()
        self._start_replicas()
        self._start_group_coordinator()
        self._start_controller()
        self._start_config_changes()
        self._register()
        self._start_request_handlers()
        self._on_stop("wait for ZooKeeper", self.zk_client.close_if_disconnected)
        self._on_stop("work in progress", self._give_up_work)

    def _give_up_work(self) -> None:
        """What a request or an order has begun, such as thousands of topics, does not hold up a shutdown."""
        self.controller.initiate_shutdown()
        self.zk_client.zookeeper.stop_waiting_for_room()
        self.admin_manager.begin_shutdown()
        self.replica_manager.stop_taking_orders()

    def _check_listeners(self) -> None:
        """Fail before anything is loaded if a port is in use: sockets come after the logs, which can take minutes."""
        for listener in self.config.listeners:
            check_port_is_free(listener.host, listener.port)

    def _on_stop(self, name: str, stop: Callable[[], object]) -> None:
        self._stop_parts.append((name, stop))

    def _start_scheduler(self) -> None:
        self.scheduler = KafkaScheduler(self.config.background_threads, time=self.time)
        self.scheduler.startup()
        self._on_stop("scheduler", self.scheduler.shutdown)

    def _start_metrics(self) -> None:
        self.metrics = BrokerMetrics(self.config, self.time)
        self.metrics.measure_server(lambda: self.state, lambda: self.cluster_id)
        self.metrics.start(self.scheduler)
        self._on_stop("metrics", self.metrics.shutdown)

    def _start_zookeeper(self) -> None:
        config = self.config
        connect = config.zk_connect
        if connect == EMBEDDED:
            connect = self._start_embedded_zookeeper()
        self.zk_client = KafkaZkClient(
            connect, config.zk_session_timeout_ms, config.zk_connection_timeout_ms, time=self.time
        )
        self.zk_client.start(create_chroot=True)
        self.metrics.measure_zookeeper(self.zk_client)
        self._on_stop("ZooKeeper client", self.zk_client.close)
        self.zk_client.create_persistent_paths()
        self.cluster_id = self.zk_client.create_or_get_cluster_id()
        logger.info("Cluster ID = %s", self.cluster_id)

    def _start_embedded_zookeeper(self) -> str:
        directory = self.config.zk_embedded_dir or f"{self.config.log_dirs[0].rstrip('/')}-zookeeper"
        port = self.config.zk_embedded_port
        # On the machine's clock, not on a test's: its sessions belong to real connections.
        self.embedded_zookeeper = EmbeddedZooKeeper(
            Path(directory),
            port=USUAL_ZOOKEEPER_PORT if port == USUAL_PORT_OR_ANY else port,
            any_port_if_in_use=port == USUAL_PORT_OR_ANY,
        )
        known = read_broker_metadata(Path(directory) for directory in self.config.log_dirs)
        broker_id = known.broker_id if known is not None else self.config.broker_id
        # The last process of this broker is dead, since its ZooKeeper is: this process takes its place.
        self.embedded_zookeeper.start(end_owners_of=[paths.broker(broker_id)])
        self._on_stop("embedded ZooKeeper", self.embedded_zookeeper.shutdown)
        return self.embedded_zookeeper.connect_string

    def _assign_broker_id(self) -> None:
        """``broker.id``; otherwise the id in the log directories; otherwise a new number from ZooKeeper.

        Raises KafkaError if the directories belong to another broker or another cluster.
        """
        config = self.config
        known = read_broker_metadata(Path(directory) for directory in config.log_dirs)
        if known is not None and config.broker_id not in (-1, known.broker_id):
            raise KafkaError(
                f"Configured broker.id {config.broker_id} doesn't match stored broker.id {known.broker_id} in "
                "meta.properties. If you moved your data, make sure your configured broker.id matches. If you intend "
                "to create a new broker, you should remove all data in your data directories (log.dirs)."
            )
        if known is not None and known.cluster_id not in (None, self.cluster_id):
            raise KafkaError(
                f"The log directories belong to cluster {known.cluster_id}, but ZooKeeper at {config.zk_connect} has "
                f"cluster {self.cluster_id}: check zookeeper.connect and log.dirs."
            )
        if config.broker_id == -1:
            config.broker_id = known.broker_id if known is not None else self._generate_broker_id()

    def _generate_broker_id(self) -> int:
        return self.config.max_reserved_broker_id + self.zk_client.generate_broker_sequence_id()

    def _start_dynamic_config(self) -> None:
        """Changes that were made while a broker ran are in force from the next start on."""
        self.dynamic_broker_config = DynamicBrokerConfig(self.config)
        self.dynamic_broker_config.initialize(self.zk_client)
        background = DynamicThreadPool("background.threads", self.scheduler.resize, self.config)
        self.dynamic_broker_config.add_broker_reconfigurable(background, goes_by=self.config)

    def _start_logs(self) -> None:
        config = self.dynamic_broker_config.current_config
        defaults = config.log_config_map()
        overrides = {topic: self.zk_client.get_entity_config(f"topics/{topic}") for topic in self._configured_topics()}
        self.log_manager = LogManager(
            [Path(directory) for directory in config.log_dirs],
            {topic: LogConfig(props, defaults) for topic, props in overrides.items()},
            LogConfig({}, defaults),
            self.scheduler,
            self.time,
            recovery_threads_per_data_dir=config.num_recovery_threads_per_data_dir,
            flush_check_ms=config.log_flush_scheduler_interval_ms,
            flush_recovery_offset_checkpoint_ms=config.log_flush_offset_checkpoint_interval_ms,
            flush_start_offset_checkpoint_ms=config.log_flush_start_offset_checkpoint_interval_ms,
            retention_check_ms=config.log_retention_check_interval_ms,
            producer_config=ProducerStateManagerConfig(config.producer_id_expiration_ms),
            producer_id_expiration_check_ms=config.producer_id_expiration_check_interval_ms,
            cleaner_config=config.cleaner_config(),
        )
        self.log_manager.startup()
        self.metrics.measure_logs(self.log_manager)
        self.metrics.register_app_info(config.broker_id)
        self._on_stop("log manager", self.log_manager.shutdown)
        # First, or retention and flushes would meet logs that are closed.
        self._on_stop("background tasks", self.scheduler.shutdown)
        resize_recovery = self.log_manager.resize_recovery_thread_pool
        recovery = DynamicThreadPool("num.recovery.threads.per.data.dir", resize_recovery, config)
        self.dynamic_broker_config.add_broker_reconfigurable(recovery)
        producers = DynamicProducerStateManagerConfig(self.log_manager.producer_config)
        self.dynamic_broker_config.add_broker_reconfigurable(producers)
        if self.log_manager.cleaner is not None:
            self.dynamic_broker_config.add_broker_reconfigurable(DynamicLogCleaner(self.log_manager.cleaner))

    def _configured_topics(self) -> list[str]:
        return self.zk_client.get_entities("topics")

    def _topic_config(self, topic: str) -> LogConfig:
        """The configuration of a log that is created now."""
        overrides = self.zk_client.get_entity_config(f"topics/{topic}")
        return LogConfig(overrides, self.dynamic_broker_config.topic_defaults())

    def _start_sockets(self) -> None:
        """Bind the listeners. Clients that connect now wait for their first response until the handlers start."""
        config = self.dynamic_broker_config.current_config
        self.socket_server = SocketServer(
            SocketServerConfig(
                listeners=tuple(
                    Listener(e.host, e.port, e.listener_name, e.security_protocol.name) for e in config.listeners
                ),
                broker_id=config.broker_id,
                num_network_threads=config.num_network_threads,
                queued_max_requests=config.queued_max_requests,
                socket_send_buffer_bytes=config.socket_send_buffer_bytes,
                socket_receive_buffer_bytes=config.socket_receive_buffer_bytes,
                socket_request_max_bytes=config.socket_request_max_bytes,
                max_connections_per_ip=config.max_connections_per_ip,
                max_connections_per_ip_overrides=config.max_connections_per_ip_overrides,
                connections_max_idle_ms=config.connections_max_idle_ms,
            ),
            self.time,
        )
        self.socket_server.startup()
        self.metrics.measure_sockets(self.socket_server)
        self._on_stop("socket server", self.socket_server.shutdown)
        limits = DynamicConnectionQuotas(self.socket_server.connection_quotas)
        self.dynamic_broker_config.add_broker_reconfigurable(limits)

    def _start_replicas(self) -> None:
        config = self.config
        self.metadata_cache = MetadataCache(config.broker_id)
        self.admin_manager = AdminManager(
            config,
            self.metadata_cache,
            self.zk_client,
            self.dynamic_broker_config,
            self.time,
            lambda topic: self.controller.topic_deletion_manager.is_topic_queued_up_for_deletion(topic),
            lambda topic: self.replica_manager.missing_logs.failure_of(topic),
        )
        self._on_stop("admin manager", self.admin_manager.shutdown)
        self.metrics.measure_purgatory(self.admin_manager.topic_purgatory)
        self.replica_manager = ReplicaManager(
            config, self.log_manager, self._topic_config, self.scheduler, self.time, self.time, self.metrics.registry
        )
        self.replica_manager.startup()
        self._on_stop("replica manager", self.replica_manager.shutdown)
        failure_handler = LogDirFailureHandler(self.log_manager, self.replica_manager, self.shutdown)
        failure_handler.start()
        self._on_stop("log directory failure handler", failure_handler.shutdown)

    def _start_group_coordinator(self) -> None:
        """Before the controller, whose first request already says which groups this broker coordinates."""
        self.groups = GroupCoordination(self.config, self.replica_manager, self.time)
        self.groups.startup(self.zk_client)
        self.metrics.measure_groups(self.groups)
        self._on_stop("group coordinator", self.groups.shutdown)

    def _start_controller(self) -> None:
        config = self.config
        self.controller = KafkaController(
            ControllerConfig(
                config.broker_id,
                config.delete_topic_enable,
                config.inter_broker_listener_name,
                self.dynamic_broker_config.topic_defaults,
            ),
            self.zk_client,
            self._send_to_broker,
            self.admin_manager.try_complete_delayed_topic_operations,
            self.metrics.controller_stats(),
        )
        self.metrics.measure_controller(self.controller)
        self.apis = self._new_apis()
        self.controller.startup()
        log_config = DynamicLogConfig(self.log_manager, self.controller.enable_default_unclean_leader_election)
        self.dynamic_broker_config.add_broker_reconfigurable(log_config)
        self._on_stop("controller", self.controller.shutdown)

    def _new_apis(self) -> KafkaApis:
        config = self.config
        channel, unserved = self.socket_server.request_channel, self.socket_server.unserved_requests
        metadata = MetadataApis(
            config,
            self.cluster_id,
            self.metadata_cache,
            self.replica_manager,
            self.admin_manager.auto_create_topic,
            SERVED_VERSIONS,
            unserved,
        )
        admin = AdminApis(config, self.admin_manager, lambda: self.controller.is_active)
        producer_ids = ProducerIdManager(config.broker_id, self.zk_client, self.scheduler)
        producer_ids.startup()
        replication = ReplicationApis(
            self.replica_manager,
            self.metadata_cache,
            self.groups.coordinator,
            self.groups.offsets,
            self.controller,
            self.admin_manager.try_complete_delayed_topic_operations,
        )
        retry_ms = missing_logs.RETRY_MS
        self.scheduler.schedule("missing-logs", replication.make_missing_logs, retry_ms, retry_ms)
        apis = KafkaApis(
            channel,
            unserved,
            produce=ProduceApis(self.replica_manager, channel.close_connection),
            fetch=FetchApis(self.replica_manager),
            log_offsets=LogOffsetApis(self.replica_manager),
            metadata=metadata,
            admin=admin,
            producer_ids=ProducerIdApis(producer_ids, self.replica_manager, self.metadata_cache, unserved),
            groups=self.groups.group_apis(),
            offsets=self.groups.offset_apis(self.metadata_cache, self.zk_client),
            replication=replication,
        )
        if self._wrap_handler is not None:
            apis.wrap_handlers(self._wrap_handler)
        return apis

    def _send_to_broker(self, broker_id: int, request: Request) -> Response:
        """The controller's way to a broker. The only one so far is this broker itself, which needs no socket."""
        if broker_id != self.config.broker_id:
            raise KafkaError(f"broker {broker_id} is not this one: replication between brokers is not there yet")
        return self.apis.handle_own(request, REQUEST_VERSIONS[request.API_KEY])

    def _start_config_changes(self) -> None:
        """Apply changes of configurations in ZooKeeper from now on."""
        handlers: dict[str, ConfigHandler] = {
            "topics": TopicConfigHandler(
                self.log_manager.update_topic_config,
                self.dynamic_broker_config.topic_defaults,
                self.controller.enable_topic_unclean_leader_election,
            ),
            "brokers": BrokerConfigHandler(self.dynamic_broker_config),
        }
        self.dynamic_config_manager = DynamicConfigManager(self.zk_client, handlers, self.time)
        self.dynamic_config_manager.startup()

    def _register(self) -> None:
        """Register in /brokers/ids, write the broker id into the log directories, and wait for the controller.

        A new session (the old one expired, perhaps because this process was stopped for a while) registers anew. The
        entry goes with the session at the very end: a controller that still ran here would take this broker for dead,
        and empty the ISRs that the next start needs.
        """
        self.zk_client.add_session_listener(self._register_broker)
        self._register_broker()
        metadata = BrokerMetadata(self.config.broker_id, self.cluster_id)
        for directory in self.log_manager.live_log_dirs:
            BrokerMetadataCheckpoint(directory).ensure(metadata)
        if not self.metadata_cache.await_snapshot(self._is_known_to_controller, METADATA_WAIT_MS / 1000):
            logger.warning(
                "The controller has not told this broker of all its partitions for %d ms; starting all the same",
                METADATA_WAIT_MS,
            )

    def _is_known_to_controller(self, metadata: MetadataSnapshot) -> bool:
        """Whether the controller knows this broker, and has told it of every partition with a replica here.

        It sends UpdateMetadata after each LeaderAndIsr, so this need not be checked between changes of the metadata.
        """
        own = self.config.broker_id
        return own in metadata.alive_brokers and all(
            self.replica_manager.has_been_told_of(TopicPartition(topic, number))
            for topic, partitions in metadata.partitions.items()
            for number, info in partitions.items()
            if own in info.replicas
        )

    def _register_broker(self) -> None:
        config = self.config
        end_points = tuple(self._advertised(e) for e in config.advertised_listeners)
        broker = Broker(config.broker_id, end_points, config.rack)
        version = 4 if config.inter_broker_protocol_version >= RACK_AWARE_VERSION else 2
        registration = broker.to_registration(timestamp_ms=self.time.milliseconds(), version=version)
        self.zk_client.register_broker(config.broker_id, registration)

    def _advertised(self, end_point: EndPoint) -> EndPoint:
        """A listener as clients see it: with the actual port in place of 0, and a host if it names none."""
        port = end_point.port or self.socket_server.bound_port(end_point.listener_name)
        return replace(end_point, host=end_point.host or socket.getfqdn(), port=port)

    def _start_request_handlers(self) -> None:
        channel = self.socket_server.request_channel
        config = self.dynamic_broker_config.current_config
        self._handler_pool = KafkaRequestHandlerPool(config.num_io_threads, channel, self.apis, self.time)
        self._on_stop("request handlers", self._handler_pool.shutdown)
        if config.inline_quick_requests:
            quick = QuickRequests(
                self.replica_manager,
                self.metadata_cache,
                config.auto_create_topics_enable,
                self.groups.group_manager.topic_partition_for,
            )
            inline = InlineRequestHandler(channel, self.apis, quick.includes, self.time)
            self._on_stop("inline request handler", inline.shutdown)
        self.metrics.measure_handlers(self._handler_pool)
        handlers = DynamicThreadPool("num.io.threads", self._handler_pool.resize, config)
        self.dynamic_broker_config.add_broker_reconfigurable(handlers, goes_by=config)


def raise_open_files_limit() -> None:
    """Allow this process as many open files as the system lets it have: every segment takes three."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):  # macOS has limits that it does not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
