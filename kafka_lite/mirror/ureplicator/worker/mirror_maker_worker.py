"""A worker of uReplicator: a Helix participant that copies the partitions which are ONLINE on it.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/MirrorMakerWorker.scala · book 8.2.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.mirror.ureplicator.helix_names import OFFLINE, STATE_MODEL, process_name
from kafka_lite.mirror.ureplicator.worker.helix_worker_online_offline_state_model_factory import (
    HelixWorkerOnlineOfflineStateModelFactory,
)
from kafka_lite.mirror.ureplicator.worker.kafka_connector import KafkaConnector
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig
from kafka_lite.mirror.ureplicator.worker.topic_mappings import TopicMappingHandler
from kafka_lite.mirror.ureplicator.worker.worker_consumer import WorkerConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)


class MirrorMakerWorker:
    """MirrorMaker's thread and producer, a connector instead of a group, and a participant that steers it::

        controller ─ messages ─▶ ParticipantManager ─ add, delete ─▶ KafkaConnector        KafkaProducer ─▶ target
        (in Helix's ZooKeeper)                                            │ records             ▲
                                                        source ─▶ fetchers ─▶ MirrorMakerThread ┘

    Nothing is lost: an offset is committed only after its record was acknowledged by the target. Records may be copied
    twice: after a crash, those since the last commit.
    """

    def __init__(
        self,
        instance: str,
        state: MirrorMakerState,
        producer: MirrorMakerProducer,
        consumer: WorkerConsumer,
        participant: ParticipantManager,
        leave: Callable[[], None],
    ) -> None:
        """A worker without its thread: see ``create``. ``leave`` closes the participant's session."""
        self.instance = instance
        self.state = state
        self._producer = producer
        self._consumer = consumer
        self._participant = participant
        self._leave = leave
        self._thread: MirrorMakerThread | None = None
        self._has_failed = threading.Event()

    @classmethod
    def create(cls, config: MirrorMakerWorkerConfig, time: Time = SYSTEM_TIME) -> MirrorMakerWorker:
        """A worker that is ready to ``start``.

        Raises ConfigError, ZkConnectionError if a ZooKeeper does not respond, HelixError if the cluster is missing.
        """
        state = MirrorMakerState()
        instance = config.instance_id(time.milliseconds())
        with ExitStack() as unless_created:
            producer = MirrorMakerProducer(
                KafkaProducer(config.producer_properties(), time=time),
                state,
                sync=config.sends_synchronously,
                abort_on_send_failure=config.abort_on_send_failure,
            )
            unless_created.callback(producer.close, 0)
            helix = _helix(config)
            unless_created.callback(helix.zk.close)
            commits = MirrorMakerCommits(producer, state, time)
            connector = KafkaConnector(config.consumer_config(), commits, time)
            unless_created.callback(connector.shutdown)
            engine = StateMachineEngine()
            engine.register(STATE_MODEL, HelixWorkerOnlineOfflineStateModelFactory(connector), OFFLINE)
            participant = ParticipantManager(helix, instance, engine, process_name(), time)
            worker = cls(instance, state, producer, WorkerConsumer(connector), participant, helix.zk.close)
            worker._add_thread(config, commits, time)
            unless_created.pop_all()
        return worker

    def _add_thread(self, config: MirrorMakerWorkerConfig, commits: MirrorMakerCommits, time: Time) -> None:
        handler, failed = TopicMappingHandler(config.topic_mappings), self._has_failed.set
        self._thread = MirrorMakerThread(
            0,
            self._consumer,
            self._producer,
            handler,
            commits,
            self.state,
            config.offset_commit_interval_ms,
            failed,
            time,
        )

    def start(self) -> None:
        """Start to copy, and join the cluster. Raises HelixError if another worker has this one's name."""
        assert self._thread is not None
        self._thread.start()
        self._participant.start()

    def await_end(self, timeout_s: float) -> bool:
        """Wait until the thread has ended, which ends the worker; False after ``timeout_s``."""
        return self._has_failed.wait(timeout_s)

    def initiate_shutdown(self) -> None:
        """Say that the worker is to stop: ``await_shutdown`` does it, step by step."""
        logger.info("Start clean shutdown of %s.", self.instance)

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        """Stop in this order; False if a step has not ended after ``timeout_s``, and then it may be called again.

        No further transitions; the thread flushes and commits; the producer is closed; and only now the session ends.
        So the offsets are there before the controller can give the partitions to another worker.
        """
        assert self._thread is not None
        if not self._participant.shutdown(timeout_s):
            return False
        self._thread.shutdown(timeout_s)
        if self._thread.is_alive():
            return False
        self._producer.close()
        self._leave()
        logger.info("Kafka mirror maker worker %s shutdown successfully", self.instance)
        return True

    def progress(self) -> Sequence[PartitionProgress]:
        """How far each partition has been read. Thread-safe."""
        return self._consumer.progress()


def _helix(config: MirrorMakerWorkerConfig) -> ZKHelixDataAccessor:
    """A session with Helix's ZooKeeper. Raises ZkConnectionError, HelixError."""
    zk = ZooKeeperClient(config.zk_server, config.session_timeout_ms, config.session_timeout_ms)
    zk.connect()
    paths = PropertyPaths(config.cluster)
    if zk.exists(paths.setup_paths[-1]) is None:
        zk.close()
        raise HelixError(
            f"The Helix cluster {config.cluster} is not set up in {config.zk_server}: start its controller."
        )
    return ZKHelixDataAccessor(zk, paths)
