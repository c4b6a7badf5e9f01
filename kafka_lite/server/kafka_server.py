"""The broker: starts its parts in order and stops them in reverse order.

Kafka 0.10.2: core/.../server/KafkaServer.scala · book 2.3, 7.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self

from kafka_lite.common.process.open_files import raise_open_files_limit
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import SystemTime, Time
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.log.log_config import LogConfig
from kafka_lite.network.acceptor import check_port_is_free
from kafka_lite.network.socket_server import SocketServer
from kafka_lite.server.admin.admin_manager import AdminManager
from kafka_lite.server.apis.api_handler import HandlerWrapper
from kafka_lite.server.broker_metadata_checkpoint import BrokerMetadata, BrokerMetadataCheckpoint
from kafka_lite.server.broker_states import BrokerState, BrokerStoppedError, check_transition
from kafka_lite.server.dynamic.broker_reconfigurable import DynamicLogConfig, DynamicThreadPool
from kafka_lite.server.dynamic.config_handler import BrokerConfigHandler, ConfigHandler, TopicConfigHandler
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.dynamic.dynamic_config_manager import DynamicConfigManager
from kafka_lite.server.dynamic.quota_config_handler import ClientIdConfigHandler, IpConfigHandler, UserConfigHandler
from kafka_lite.server.kafka_config import EMBEDDED, KafkaConfig
from kafka_lite.server.kafka_healthcheck import KafkaHealthcheck
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.quota_factory import QuotaManagers, quota_managers
from kafka_lite.server.replication.controlled_shutdown import can_move_leaderships, controlled_shutdown
from kafka_lite.server.startup.broker_id import get_broker_id
from kafka_lite.server.startup.broker_metrics import BrokerMetrics
from kafka_lite.server.startup.cluster_control import ClusterControl, start_features
from kafka_lite.server.startup.group_coordination import GroupCoordination
from kafka_lite.server.startup.initial_metadata import await_initial_metadata
from kafka_lite.server.startup.log_management import LogManagement
from kafka_lite.server.startup.replica_management import ReplicaManagement
from kafka_lite.server.startup.request_handling import BrokerParts, RequestHandling
from kafka_lite.server.startup.security import broker_security
from kafka_lite.server.startup.share_groups_when_asked import LateShareCoordination
from kafka_lite.server.startup.transaction_coordination import TransactionCoordination
from kafka_lite.server.startup.zookeeper_in_broker import (
    connect_to_embedded_zookeeper,
    new_zk_client,
    start_embedded_zookeeper,
)

if TYPE_CHECKING:
    from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

logger = logging.getLogger(__name__)

_S = BrokerState
_STOPPED_OR_STOPPING = (_S.NOT_RUNNING, _S.PENDING_CONTROLLED_SHUTDOWN, _S.BROKER_SHUTTING_DOWN)


class KafkaServer:
    """One broker.

    ``startup`` starts the parts in such an order that nothing is served before everything it needs works: ZooKeeper,
    broker id, logs, sockets (requests wait in the queue), replica manager, coordinators, controller, registration in
    ZooKeeper, and finally the request handlers.
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
        self._starting_thread: int | None = None
        self._is_to_stop = False
        """Whether there was a reason to stop before the broker had started."""
        self._lock, self._stopped = threading.Lock(), threading.Event()

    # ── life ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def startup(self) -> None:
        """Start everything. If a part fails to start, stop the started ones and raise the error."""
        with self._lock:
            self.state = check_transition(self.state, BrokerState.STARTING)
            self._starting_thread = threading.get_ident()
        try:
            self._start_parts()
            self._finish_startup()
        except BaseException:
            self.shutdown()
            raise

    def _finish_startup(self) -> None:
        with self._lock:
            if self._is_to_stop:
                raise BrokerStoppedError("the broker was stopped while it was starting; its log says why")
            self.state = check_transition(self.state, BrokerState.RUNNING_AS_BROKER)
            self._starting_thread = None

    def shutdown(self) -> None:
        """Stop everything, last started first. A part that fails to stop does not keep the others running.

        If another thread is starting the broker, that thread stops it at the end of ``startup``, which raises
        BrokerStoppedError.
        """
        with self._lock:
            if self.state in _STOPPED_OR_STOPPING:
                return
            if self._starting_thread not in (None, threading.get_ident()):
                self._is_to_stop = True
                return
            self._starting_thread, self._is_to_stop = None, False
            if controlled := self._has_leaderships_to_move():
                self.state = check_transition(self.state, BrokerState.PENDING_CONTROLLED_SHUTDOWN)
        if controlled:
            self._move_leaderships()
        self.state = check_transition(self.state, BrokerState.BROKER_SHUTTING_DOWN)
        self._stop_all_parts()

    def halt(self, cut_off: Callable[[], object] = lambda: None) -> None:
        """Stop as nearly as possible like a killed process: for tests of several brokers in one process.

        First no thread logs what dying does to it, since a killed process logs nothing. Then ``cut_off`` resets the
        connections to other brokers and to ZooKeeper; otherwise the session ends cleanly. No leadership is moved,
        nothing is flushed or checkpointed, and the next start recovers the logs.
        """
        with self._lock:
            if self.state in _STOPPED_OR_STOPPING:
                return
            self.state = check_transition(self.state, BrokerState.BROKER_SHUTTING_DOWN)
        self.zk_client.zookeeper.halt()
        self.controller.halt()
        self.replica_manager.fetchers.initiate_shutdown_of_all_fetchers()
        cut_off()
        self.log_manager.abandon()
        if self.embedded_zookeeper is not None:  # it dies with its process
            self.embedded_zookeeper.shutdown()
        self.zk_client.close()  # before the wait for threads, one of which may wait for ZooKeeper's answer
        self.socket_server.shutdown()
        self._stop_all_parts()

    def _stop_all_parts(self) -> None:
        while self._stop_parts:
            name, stop = self._stop_parts.pop()
            try:
                stop()
            except Exception:
                logger.exception("Error while stopping the %s", name)
        self.state = check_transition(self.state, BrokerState.NOT_RUNNING)
        self._stopped.set()

    def _has_leaderships_to_move(self) -> bool:
        is_running = self.state is BrokerState.RUNNING_AS_BROKER
        return is_running and can_move_leaderships(self.config, self.metadata_cache, self.zk_client)

    def _move_leaderships(self) -> None:
        controlled_shutdown(self.config, self.zk_client, self.controller.shutdown_broker, self.time).run()

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        """Wait until ``shutdown`` is complete; False after ``timeout_s``."""
        return self._stopped.wait(timeout_s)

    def __enter__(self) -> Self:
        self.startup()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def bound_port(self, listener_name: str = "PLAINTEXT") -> int:
        """The actual port of a listener, which may be 0 in ``listeners``."""
        return self.socket_server.bound_port(listener_name)

    # ── parts, in the order of their start ────────────────────────────────────────────────────────────────────────

    def _start_parts(self) -> None:
        self._check_listeners()
        raise_open_files_limit()
        self._start_scheduler()
        self._start_metrics()
        self._start_zookeeper()
        self.config.broker_id = get_broker_id(self.config, self.cluster_id, self.zk_client)
        self._start_dynamic_config()
        self._start_logs()
        self._start_sockets()
        self._start_replicas()
        self._start_group_coordinator()
        self._start_transaction_coordinator()
        self._start_controller()
        self._start_config_changes()
        self._register()
        self._start_serving()
        self._on_stop("wait for ZooKeeper", self.zk_client.close_if_disconnected)
        self._on_stop("work in progress", self._give_up_work)

    def _give_up_work(self) -> None:
        """Abandon unfinished work, such as a request for thousands of topics: it must not delay a shutdown."""
        self.controller.initiate_shutdown()
        self.zk_client.zookeeper.stop_waiting_for_room()
        self.admin_manager.begin_shutdown()
        self.replica_state_changes.stop_taking_orders()

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
        if self.config.zk_connect == EMBEDDED:
            self.embedded_zookeeper = zookeeper = start_embedded_zookeeper(self.config)
            self._on_stop("embedded ZooKeeper", zookeeper.shutdown)
            connect = zookeeper.connect_string
            self.zk_client = connect_to_embedded_zookeeper(lambda: new_zk_client(self.config, connect, self.time))
        else:
            self.zk_client = new_zk_client(self.config, self.config.zk_connect, self.time)
            self.zk_client.start(create_chroot=True)
        self.metrics.measure_zookeeper(self.zk_client)
        self._on_stop("ZooKeeper client", self.zk_client.close)
        self.zk_client.create_persistent_paths()
        self.cluster_id = self.zk_client.create_or_get_cluster_id()
        logger.info("Cluster ID = %s", self.cluster_id)

    def _start_dynamic_config(self) -> None:
        """Apply what ZooKeeper has: the features of the cluster, the overrides of this broker's configuration."""
        self.features = start_features(self.config, self.zk_client, self.shutdown)
        self.dynamic_broker_config = DynamicBrokerConfig(self.config)
        self.dynamic_broker_config.initialize(self.zk_client)
        background = DynamicThreadPool("background.threads", self.scheduler.resize, self.config)
        self.dynamic_broker_config.add_broker_reconfigurable(background, created_with=self.config)

    def _start_logs(self) -> None:
        config = self.dynamic_broker_config.current_config
        topic_defaults = self.dynamic_broker_config.topic_defaults
        self._logs = LogManagement(config, topic_defaults, self.zk_client, self.scheduler, self.time)
        self.quotas = self._new_quotas(self._logs.topic_configs)
        self.log_manager = self._logs.log_manager
        self.log_manager.startup()
        self.metrics.measure_logs(self.log_manager)
        self.metrics.register_app_info(config.broker_id)
        self._on_stop("log manager", self.log_manager.shutdown)
        # These stop before the log manager, or retention and flushes would meet closed logs.
        self._on_stop("background tasks", self.scheduler.shutdown)
        for part in self._logs.reconfigurables():
            self.dynamic_broker_config.add_broker_reconfigurable(part)

    def _new_quotas(self, topic_configs: Mapping[str, LogConfig]) -> QuotaManagers:
        """All quotas; those in ZooKeeper are applied with the other changes of configurations."""
        quotas = quota_managers(self.config, self.time, self.metrics.metrics)
        quotas.register(self.metrics.metrics)
        quotas.clients.startup()
        self._on_stop("client quotas", quotas.clients.shutdown)
        for topic, config in topic_configs.items():
            quotas.update_topic(topic, config)
        return quotas

    def _start_sockets(self) -> None:
        """Bind the listeners. Clients that connect now wait for their first response until the handlers start."""
        config = self.dynamic_broker_config.current_config
        self._security = broker_security(config, self.zk_client, self.time, self.features)
        self._on_stop("authorizer", self._security.close)
        sockets = config.socket_server_config(self._security.sasl)
        self.socket_server = SocketServer(sockets, self.time, metrics=self.metrics.metrics)
        self.socket_server.startup()
        self.metrics.measure_sockets(self.socket_server)
        self._on_stop("socket server", self.socket_server.shutdown)
        self.dynamic_broker_config.add_sockets(self.socket_server, sockets.listeners)

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
        self._replicas = ReplicaManagement(
            config,
            self._logs,
            self.zk_client,
            self.metadata_cache,
            self.quotas,
            self.metrics.registry,
            self.scheduler,
            self.shutdown,
            self.time,
        )
        self.replica_manager, self.replica_state_changes = self._replicas.manager, self._replicas.state_changes
        self._replicas.startup()
        self._on_stop("replica manager", self._replicas.shutdown)

    def _start_group_coordinator(self) -> None:
        """Start coordinators before the controller, whose first request already has this broker's groups."""
        create_topic, metrics = self.admin_manager.auto_create_topic, self.metrics.metrics
        parts = (self.config, self.replica_manager, self.metadata_cache)
        self.share = LateShareCoordination(*parts, create_topic, metrics, self.time)
        self.share.startup(self.zk_client)
        self._on_stop("share coordinator", self.share.shutdown)
        self.groups = GroupCoordination(*parts, self.share.persister, self.time)
        self.groups.startup(self.zk_client)
        self.metrics.measure_groups(self.groups)
        self._on_stop("group coordinator", self.groups.shutdown)

    def _start_transaction_coordinator(self) -> None:
        """Start the coordinator before the controller, for the same reason."""
        self.producer_ids = ProducerIdManager(self.config.broker_id, self.zk_client, self.scheduler)
        self.producer_ids.startup()
        self.transactions = TransactionCoordination(
            self.config,
            self.replica_manager,
            self.metadata_cache,
            self.groups,
            self.producer_ids.generate_producer_id,
            self.metrics.registry,
            self.scheduler,
            self.features,
            self.time,
        )
        self.transactions.startup(self.zk_client)
        self.metrics.measure_transactions(self.transactions)
        self._on_stop("transaction coordinator", self.transactions.shutdown)

    def _start_controller(self) -> None:
        self._cluster_control = ClusterControl(
            self.config,
            self.dynamic_broker_config.topic_defaults,
            self.zk_client,
            lambda request, version: self.requests.apis.handle_own(request, version),
            self.admin_manager.try_complete_delayed_topic_operations,
            self.metrics.controller_stats(),
            self.scheduler,
            self.time,
            self.features,
        )
        self.controller = self._cluster_control.controller
        self.metrics.measure_controller(self.controller)
        self._healthcheck = KafkaHealthcheck(self.config, self.zk_client, self.socket_server.bound_port, self.time)
        self.requests = self._new_request_handling()
        self.controller.startup()
        log_config = DynamicLogConfig(self.log_manager, self.controller.enable_default_unclean_leader_election)
        self.dynamic_broker_config.add_broker_reconfigurable(log_config)
        self._on_stop("controller", self._cluster_control.shutdown)

    def _new_request_handling(self) -> RequestHandling:
        requests = RequestHandling(
            BrokerParts(
                config=self.config,
                cluster_id=self.cluster_id,
                dynamic_config=self.dynamic_broker_config,
                zk_client=self.zk_client,
                socket_server=self.socket_server,
                metadata_cache=self.metadata_cache,
                replicas=self._replicas,
                groups=self.groups,
                transactions=self.transactions,
                share=self.share,
                producer_ids=self.producer_ids,
                admin_manager=self.admin_manager,
                controller=self.controller,
                features=self._cluster_control.features,
                healthcheck=self._healthcheck,
                quotas=self.quotas.clients,
                security=self._security,
                metrics=self.metrics,
                scheduler=self.scheduler,
                time=self.time,
            )
        )
        if self._wrap_handler is not None:
            requests.apis.wrap_handlers(self._wrap_handler)
        self._on_stop("elections and conversions in progress", requests.shutdown)
        return requests

    def _start_config_changes(self) -> None:
        """Start applying changes of configurations in ZooKeeper."""
        handlers: dict[str, ConfigHandler] = {
            "topics": TopicConfigHandler(
                self.log_manager.update_topic_config,
                self.dynamic_broker_config.topic_defaults,
                self.controller.enable_topic_unclean_leader_election,
                self.quotas,
            ),
            "brokers": BrokerConfigHandler(self.dynamic_broker_config, self.quotas),
            "clients": ClientIdConfigHandler(self.quotas.clients),
            "users": UserConfigHandler(self.quotas.clients, self._security.sasl.credentials),
            "groups": self.groups.config_handler(),
            "ips": IpConfigHandler(self.socket_server.connection_rates.update_ip_rate),
            "client-metrics": self.requests.client_metrics,
        }
        self.dynamic_config_manager = DynamicConfigManager(self.zk_client, handlers, self.time)
        self.dynamic_config_manager.startup()

    def _register(self) -> None:
        """Register in ZooKeeper, and write the broker id into the log directories."""
        self._healthcheck.startup()
        metadata = BrokerMetadata(self.config.broker_id, self.cluster_id)
        for directory in self.log_manager.live_log_dirs:
            BrokerMetadataCheckpoint(directory).ensure(metadata)

    def _start_serving(self) -> None:
        """Handle requests once the controller has sent this broker its partitions, so that no client misses them.

        But if another broker is the controller, its requests come through a socket, like those of clients. Then only
        requests about topics wait.
        """
        if self.zk_client.get_controller_id() in (None, self.config.broker_id):
            self._await_metadata()
            self._start_request_handlers()
        else:
            self.requests.held.hold()
            self._start_request_handlers()
            self._await_metadata()
            self.requests.held.release()

    def _await_metadata(self) -> None:
        await_initial_metadata(self.config.broker_id, self.metadata_cache, self.replica_manager)

    def _start_request_handlers(self) -> None:
        config = self.dynamic_broker_config.current_config
        self._handler_pool = self.requests.start_handlers()
        self._on_stop("request handlers", self._handler_pool.shutdown)
        if config.inline_quick_requests:
            self._on_stop("inline request handler", self.requests.start_inline_handler().shutdown)
        handlers = DynamicThreadPool("num.io.threads", self._handler_pool.resize, config)
        self.dynamic_broker_config.add_broker_reconfigurable(handlers, created_with=config)
