"""A broker in a process of its own: ours, one of Kafka's, or any other that a ``ServerProcess`` starts.

Kafka 0.10.2: tests/kafkatest/services/kafka/kafka.py (KafkaService) · book 1.4.1
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.server.broker_process import HOST, ServerProcess
from kafka_lite.testing.any_broker import AnyBroker
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper

VERSION = 1
"""The version of Metadata and ListOffsets that every broker speaks, from 0.10.2 to today's."""
LATEST = -1
POLL_MS = 20
R = TypeVar("R", bound=Response)


class ProcessBroker(AnyBroker):
    """A broker with its data and port, which stay while its process is killed and started again.

    Each start has a log of its own in ``folder``: broker-1.log, broker-2.log, …
    """

    def __init__(self, broker_id: int, folder: Path, process: ServerProcess, zookeeper: ClusterZooKeeper) -> None:
        self.id = broker_id
        self.port = process.port
        self.folder = folder
        self.process = process
        self.starts = 0
        self.is_paused = False
        self._zookeeper = zookeeper

    @property
    def is_running(self) -> bool:
        """Whether its process has been started and has not ended, by itself or by us."""
        return self.process.is_running

    @property
    def pid(self) -> int:
        """Its process. Raises BrokerStartError if there is none."""
        return self.process.process.pid

    @property
    def log_dir(self) -> Path:
        """The directory of its logs."""
        return self.folder / "kafka-logs"

    # ── life and death ────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start it with its former data and port, and wait until it is ready. Raises BrokerStartError."""
        self.next_log()
        self.process.start()

    def spawn(self) -> None:
        """Start it without waiting."""
        self.next_log()
        self.process.spawn()

    def next_log(self) -> None:
        """Give its next process a new log file."""
        self.starts += 1
        self.process.log_file = self.folder / f"broker-{self.starts}.log"

    def stop(self) -> int | None:
        """SIGTERM, and wait for its end; kill it if it takes too long. Returns its exit code; None if it was down."""
        self.resume()
        return self.process.stop()

    def kill(self, *, expire_session: bool = True) -> None:
        """kill -9, even while it is paused.

        Its ZooKeeper session ends at once; with ``expire_session=False`` only after ``zookeeper.session.timeout.ms``.
        """
        self.is_paused = False
        self.process.kill()
        if expire_session:
            self.expire_session()

    def expire_session(self) -> None:
        """End its ZooKeeper session, and with it its registration."""
        self._zookeeper.expire_broker(self.id)

    def pause(self) -> None:
        """SIGSTOP."""
        self.is_paused = True
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self.is_paused = False
        with suppress(ProcessLookupError, KafkaError):
            os.kill(self.pid, signal.SIGCONT)

    def log(self) -> str:
        """The log of the current process, since its start."""
        return self.process.log()

    def end_of_log(self, lines: int = 30) -> str:
        """The last lines of the current process's log."""
        return self.process.end_of_log(lines)

    # ── what it knows ─────────────────────────────────────────────────────────────────────────────────────────────

    def is_active_controller(self) -> bool:
        """Whether it tells clients that it is the controller."""
        with suppress(OSError, KafkaError):
            return self._ask(MetadataRequest(topics=[]), MetadataResponse).controller_id == self.id
        return False

    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:  # noqa: ARG002
        """Whether it serves clients as the leader of a partition; they do not learn of which epoch."""
        asked = ListOffsetsPartition(partition_index=partition.partition, timestamp=LATEST)
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=partition.topic, partitions=[asked])])
        with suppress(OSError, KafkaError):
            (topic,) = self._ask(request, ListOffsetsResponse).topics
            return topic.partitions[0].error_code == Errors.NONE.code
        return False

    def await_brokers(self, brokers: Set[int], timeout_s: float) -> bool:
        """Wait until its metadata has these brokers. False after ``timeout_s``."""
        return self._await(MetadataRequest(topics=[]), lambda known: brokers <= _ids(known), timeout_s)

    def await_topic(self, topic: str, partitions: int, timeout_s: float) -> bool:
        """Wait until its metadata has so many partitions of a topic with a leader. False after ``timeout_s``."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        return self._await(request, lambda known: _led(known) >= partitions, timeout_s)

    def _await(self, request: MetadataRequest, fulfils: Callable[[MetadataResponse], bool], timeout_s: float) -> bool:
        deadline_ms = SYSTEM_TIME.hi_res_ms() + timeout_s * 1000
        while SYSTEM_TIME.hi_res_ms() < deadline_ms:
            with suppress(OSError, KafkaError):
                if fulfils(self._ask(request, MetadataResponse)):
                    return True
            SYSTEM_TIME.sleep(POLL_MS)
        return False

    def _ask(self, request: Request, response_class: type[R]) -> R:
        with BlockingChannel(HOST, self.port) as channel:
            response = channel.exchange(request, VERSION)
        assert isinstance(response, response_class)
        return response


def _ids(metadata: MetadataResponse) -> set[int]:
    return {broker.node_id for broker in metadata.brokers}


def _led(metadata: MetadataResponse) -> int:
    return sum(partition.leader_id >= 0 for topic in metadata.topics for partition in topic.partitions)
