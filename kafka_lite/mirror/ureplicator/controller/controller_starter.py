"""One process of uReplicator's controller: its parts, in the order in which they start.

    HelixMirrorMakerManager        the Helix controller, and the changes of topics
    AutoRebalance…Listener         dead workers' partitions
    ValidationManager              once a minute
    AutoTopicWhitelistingManager   with -enableAutoWhitelist: topics of both clusters
    SourceKafkaClusterValidation…  with -enableSrcKafkaValidation
    ClusterInfoBackupManager       once a day
    REST interface                 last: what it asks is there

Each of them has its own thread, so that a source cluster which cannot be reached delays no rebalance.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/ControllerStarter.java
(ControllerStarter) · book 8.2.2
"""

from __future__ import annotations

import logging
import threading
from contextlib import ExitStack
from pathlib import Path

from kafka_lite.common.http.http_server import HttpServer
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.ureplicator.controller.auto_rebalance_live_instance_change_listener import (
    AutoRebalanceLiveInstanceChangeListener,
)
from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import AutoTopicWhitelistingManager
from kafka_lite.mirror.ureplicator.controller.back_up_handler import (
    BackUpHandler,
    FileBackUpHandler,
    GitBackUpHandler,
)
from kafka_lite.mirror.ureplicator.controller.cluster_info_backup_manager import ClusterInfoBackupManager
from kafka_lite.mirror.ureplicator.controller.controller_conf import ControllerConf, GitBackup
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.kafka_broker_topic_observer import KafkaBrokerTopicObserver
from kafka_lite.mirror.ureplicator.controller.rest.admin_restlet_resource import AdminRestletResource
from kafka_lite.mirror.ureplicator.controller.rest.controller_rest_application import (
    ControllerRestApplication,
    Resources,
)
from kafka_lite.mirror.ureplicator.controller.rest.rest_messages import refusal
from kafka_lite.mirror.ureplicator.controller.rest.topic_management_restlet_resource import (
    TopicManagementRestletResource,
)
from kafka_lite.mirror.ureplicator.controller.rest.validation_restlet_resource import ValidationRestletResource
from kafka_lite.mirror.ureplicator.controller.source_kafka_cluster_validation_manager import (
    SourceKafkaClusterValidationManager,
)
from kafka_lite.mirror.ureplicator.controller.validation_manager import ValidationManager
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)

CONNECTION_TIMEOUT_MS = 30_000


class ControllerStarter:
    """Starts and stops the parts."""

    def __init__(self, conf: ControllerConf) -> None:
        self._conf = conf
        self._stack = ExitStack()
        self._stopped = threading.Event()
        self._sessions: list[ZooKeeperClient | KafkaZkClient] = []
        self._http: HttpServer | None = None
        self.port = conf.port
        """Where the REST interface listens, once it is started; another one than the flag's if that is 0."""

    def start(self) -> None:
        """Raises ZkConnectionError if a ZooKeeper does not respond, ControllerError if the port is taken."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Answer no more requests, end the sessions, so that another controller leads at once, and stop the parts.

        A part that waits for a ZooKeeper which cannot be reached gets an error, and so waits no longer.
        """
        if self._http is not None:
            self._http.stop()
            self._http = None
        for session in self._sessions:
            session.close()
        self._stack.close()
        self._stopped.set()

    def await_stop(self, timeout_s: float) -> bool:
        """Wait until somebody has stopped it; False after ``timeout_s``."""
        return self._stopped.wait(timeout_s)

    def _start(self) -> None:
        conf = self._conf
        manager = self._new_manager()
        manager.start()
        self._stack.callback(manager.stop)
        AutoRebalanceLiveInstanceChangeListener(
            manager, self._new_scheduler("rebalance"), conf.auto_rebalance_delay_s
        ).start()
        validation = ValidationManager(manager, self._new_scheduler("validation"))
        validation.start()
        source = self._source_observer()
        whitelisting = self._whitelisting(manager, source)
        source_validation = self._source_validation(manager, source)
        ClusterInfoBackupManager(
            manager, _backup_handler(conf.backup), self._new_scheduler("backup"), conf.environment
        ).start()
        # A topic is added with the partitions of the source only if the source is validated, as in uReplicator.
        known_source = source if source_validation is not None else None
        self._serve(
            Resources(
                TopicManagementRestletResource(manager, whitelisting, known_source),
                ValidationRestletResource(validation, source_validation),
                AdminRestletResource(manager),
            )
        )

    # -------------------------------------------------------------------------------------------------------- Helix

    def _new_manager(self) -> HelixMirrorMakerManager:
        return HelixMirrorMakerManager(self._new_session(), self._new_session(), self._conf.instance_id)

    def _new_session(self) -> ZKHelixDataAccessor:
        # Helix: the path at the end of the connect string is created with the cluster.
        timeout_ms = self._conf.session_timeout_ms
        zk = ZooKeeperClient(self._conf.zookeeper.rstrip("/"), timeout_ms, CONNECTION_TIMEOUT_MS)
        self._sessions.append(zk)
        zk.create_chroot()
        zk.connect()
        return ZKHelixDataAccessor(zk, PropertyPaths(self._conf.helix_cluster_name))

    def _new_scheduler(self, name: str) -> KafkaScheduler:
        scheduler = KafkaScheduler(1, f"ureplicator-{name}-")
        scheduler.startup()
        self._stack.callback(scheduler.shutdown)
        return scheduler

    # ------------------------------------------------------------------------------------------------ Kafka clusters

    def _source_observer(self) -> KafkaBrokerTopicObserver | None:
        if self._conf.whitelisting is None and not self._conf.enable_src_kafka_validation:
            return None
        return self._new_observer("srcKafkaCluster", self._conf.src_kafka_zk_path)

    def _new_observer(self, cluster: str, connect: str) -> KafkaBrokerTopicObserver:
        zk = KafkaZkClient(connect, connection_timeout_ms=CONNECTION_TIMEOUT_MS)
        self._sessions.append(zk)
        zk.start()
        observer = KafkaBrokerTopicObserver(cluster, zk, self._new_scheduler(cluster))
        observer.start()
        return observer

    def _whitelisting(
        self, manager: HelixMirrorMakerManager, source: KafkaBrokerTopicObserver | None
    ) -> AutoTopicWhitelistingManager | None:
        if self._conf.whitelisting is None or source is None:
            return None
        destination = self._new_observer("destKafkaCluster", self._conf.dest_kafka_zk_path)
        scheduler = self._new_scheduler("whitelisting")
        whitelisting = AutoTopicWhitelistingManager(source, destination, manager, scheduler, self._conf.whitelisting)
        whitelisting.start()
        return whitelisting

    def _source_validation(
        self, manager: HelixMirrorMakerManager, source: KafkaBrokerTopicObserver | None
    ) -> SourceKafkaClusterValidationManager | None:
        if source is None or not self._conf.enable_src_kafka_validation:
            return None
        validation = SourceKafkaClusterValidationManager(
            source, manager, self._new_scheduler("source-validation"), expand=self._conf.enable_auto_topic_expansion
        )
        validation.start()
        return validation

    # ---------------------------------------------------------------------------------------------------------- REST

    def _serve(self, resources: Resources) -> None:
        conf = self._conf
        try:
            self._http = HttpServer(conf.host, conf.port, refusal)
        except OSError as error:
            raise ControllerError(
                f"The REST interface cannot listen at {conf.host}:{conf.port}: {error.strerror or error}. "
                "Choose another -port or -host."
            ) from None
        self.port = self._http.port
        self._http.start(ControllerRestApplication(resources).answer)
        logger.info("REST interface listening at %s:%d", conf.host, self.port)


def _backup_handler(backup: Path | GitBackup) -> BackUpHandler:
    if isinstance(backup, GitBackup):
        return GitBackUpHandler(backup.remote, backup.clone)
    return FileBackUpHandler(backup)
