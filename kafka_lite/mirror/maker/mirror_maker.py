"""MirrorMaker: copies topics of one cluster to another one, with threads that share a producer.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala · book 8.1.1, 8.1.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.mirror.maker.mirror_maker_base_consumer import MirrorMakerBaseConsumer, PartitionProgress
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
from kafka_lite.mirror.maker.mirror_maker_message_handler import (
    DefaultMirrorMakerMessageHandler,
    MirrorMakerMessageHandler,
)
from kafka_lite.mirror.maker.mirror_maker_new_consumer import MirrorMakerNewConsumer
from kafka_lite.mirror.maker.mirror_maker_old_consumer import MirrorMakerOldConsumer
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.old_consumer.consumer_config import ConsumerConfig as OldConsumerConfig
from kafka_lite.old_consumer.topic_filter import Blacklist, Whitelist
from kafka_lite.old_consumer.zookeeper_consumer_connector import ZookeeperConsumerConnector
from kafka_lite.producer.kafka_producer import KafkaProducer

logger = logging.getLogger(__name__)


class MirrorMaker:
    """Threads with a consumer each, and the producer that they share::

        source    KafkaConsumer 0 ─▶ mirrormaker-thread-0 ─┐                      ┌─▶ target
                  KafkaConsumer 1 ─▶ mirrormaker-thread-1 ─┼─▶ KafkaProducer ─────┤
                  …                                        ┘   one for all        └─▶ …

    Nothing is lost: an offset is committed only after its record was acknowledged by the target. Records may be copied
    twice: after a crash, those since the last commit.
    """

    def __init__(
        self,
        config: MirrorMakerConfig,
        state: MirrorMakerState,
        producer: MirrorMakerProducer,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """A mirror without threads: see ``create``."""
        self._config = config
        self._time = time
        self.state = state
        self._producer = producer
        self._threads: list[MirrorMakerThread] = []
        self._a_thread_ended = threading.Event()
        self._shutdown_lock = threading.Lock()
        self._is_shutting_down = False

    @classmethod
    def create(cls, config: MirrorMakerConfig, time: Time = SYSTEM_TIME) -> MirrorMaker:
        """A mirror that is ready to ``start``.

        Raises ConfigError, ZkConnectionError if the source's ZooKeeper does not respond, and what the user's classes
        raise.
        """
        handler = _new_handler(config)
        state = MirrorMakerState()
        producer = MirrorMakerProducer(
            KafkaProducer(config.producer_properties(), time=time),
            state,
            sync=config.sends_synchronously,
            abort_on_send_failure=config.abort_on_send_failure,
        )
        mirror = cls(config, state, producer, time)
        try:
            commits = MirrorMakerCommits(producer, state, time)
            mirror._add_threads(_new_consumers(config, commits, time), handler, commits)
        except BaseException:
            producer.close(0)
            raise
        return mirror

    def _add_threads(
        self,
        consumers: Sequence[MirrorMakerBaseConsumer],
        handler: MirrorMakerMessageHandler,
        commits: MirrorMakerCommits,
    ) -> None:
        interval_ms, ended = self._config.offset_commit_interval_ms, self._a_thread_ended.set
        self._threads = [
            MirrorMakerThread(
                *(number, consumer, self._producer, handler, commits, self.state, interval_ms, ended, self._time)
            )
            for number, consumer in enumerate(consumers)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def await_end(self, timeout_s: float) -> bool:
        """Wait until a thread has ended, which stops the mirror; False after ``timeout_s``."""
        return self._a_thread_ended.wait(timeout_s)

    def initiate_shutdown(self) -> None:
        """Ask all threads to stop. Each flushes, commits, and leaves the group."""
        with self._shutdown_lock:
            if self._is_shutting_down:
                return
            self._is_shutting_down = True
        logger.info("Start clean shutdown. Shutting down consumer threads.")
        for thread in self._threads:
            thread.initiate_shutdown()

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        """Wait for the threads, each for at most ``timeout_s``, then close the producer; False if one still runs.

        While the target cluster is down, a thread waits for acknowledgements and does not end.
        """
        for thread in self._threads:
            thread.await_shutdown(timeout_s)
            if thread.is_alive():
                return False
        self._producer.close()
        logger.info("Kafka mirror maker shutdown successfully")
        return True

    def progress(self) -> list[PartitionProgress]:
        """How far each partition has been read. Thread-safe."""
        return sorted(each for thread in self._threads for each in thread.consumer.progress())


def _new_handler(config: MirrorMakerConfig) -> MirrorMakerMessageHandler:
    if config.message_handler is None:
        return DefaultMirrorMakerMessageHandler()
    arguments = [] if config.message_handler_args is None else [config.message_handler_args]
    handler: MirrorMakerMessageHandler = new_instance(
        "message.handler", MirrorMakerMessageHandler, config.message_handler, *arguments
    )
    return handler


def _new_listener(config: MirrorMakerConfig, kind: type[Any]) -> Any:
    """The user's rebalance listener; None without one."""
    if config.consumer_rebalance_listener is None:
        return None
    arguments = [] if config.rebalance_listener_args is None else [config.rebalance_listener_args]
    return new_instance("consumer.rebalance.listener", kind, config.consumer_rebalance_listener, *arguments)


def _new_consumers(
    config: MirrorMakerConfig, commits: MirrorMakerCommits, time: Time
) -> Sequence[MirrorMakerBaseConsumer]:
    create = _new_old_consumers if config.uses_old_consumer else _new_new_consumers
    return create(config, commits, time)


def _new_new_consumers(
    config: MirrorMakerConfig, commits: MirrorMakerCommits, time: Time
) -> Sequence[MirrorMakerBaseConsumer]:
    listener = _new_listener(config, ConsumerRebalanceListener) or NO_LISTENER
    configs = [config.consumer_properties(number) for number in range(config.num_streams)]
    return [
        MirrorMakerNewConsumer(KafkaConsumer(each, time=time), commits, config.whitelist or "", listener)
        for each in configs
    ]


def _new_old_consumers(
    config: MirrorMakerConfig, _commits: MirrorMakerCommits, time: Time
) -> Sequence[MirrorMakerBaseConsumer]:
    topic_filter = Whitelist(config.whitelist) if config.whitelist is not None else Blacklist(config.blacklist or "")
    listener = _new_listener(config, object)
    configs = [OldConsumerConfig(config.consumer_properties(number)) for number in range(config.num_streams)]
    with ExitStack() as unless_all_connect:
        connectors = [unless_all_connect.enter_context(ZookeeperConsumerConnector(each, time)) for each in configs]
        unless_all_connect.pop_all()
    return [MirrorMakerOldConsumer(connector, topic_filter, listener) for connector in connectors]
