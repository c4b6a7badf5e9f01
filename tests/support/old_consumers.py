"""Members of groups of old consumers, ours and the original, under one interface."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer import Consumer
from kafka_lite.old_consumer.consumer_connector import ConsumerConnector
from kafka_lite.old_consumer.decoder import StringDecoder
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from kafka_lite.old_consumer.topic_filter import Whitelist
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.patience import patient_s
from tests.support.zookeeper_sessions import end_session_of

JARS = ("org.apache.kafka:kafka_2.11:0.10.2.2", "org.slf4j:slf4j-nop:1.7.21", "javax.xml.bind:jaxb-api:2.3.1")
QUICK = {
    "zookeeper.session.timeout.ms": "30000",  # no rebalance because a machine is busy: ``Group.miss`` ends sessions
    "auto.offset.reset": "smallest",
    "rebalance.backoff.ms": "300",
    "rebalance.max.retries": "30",
    "auto.commit.interval.ms": "600000",
    "offsets.channel.backoff.ms": "100",
}
Message = tuple[str, int, int, str]
"""Topic, partition, offset, value."""


class PythonMember:
    """Our consumer; a thread for each stream collects its messages."""

    def __init__(self, subscription: str, config: Mapping[str, str]) -> None:
        self.messages: list[Message] = []
        self.assignments: list[dict[str, str]] = []
        self.released: list[dict[str, set[int]]] = []
        self.errors: list[Exception] = []
        self.connector: ConsumerConnector = Consumer.create(config)
        self.connector.set_consumer_rebalance_listener(self)
        try:
            streams = self._streams(subscription)
        except BaseException:
            self.connector.shutdown()
            raise
        self._threads = [threading.Thread(target=self._consume, args=(stream,)) for stream in streams]
        for thread in self._threads:
            thread.start()

    def _streams(self, subscription: str) -> list[Any]:
        kind, _, wanted = subscription.partition(":")
        counts = {name: int(count) for name, _, count in (each.rpartition("=") for each in wanted.split(","))}
        if kind == "static":
            per_topic = self.connector.create_message_streams(counts, StringDecoder(), StringDecoder())
            return [stream for streams in per_topic.values() for stream in streams]
        ((regex, count),) = counts.items()
        return self.connector.create_message_streams_by_filter(
            Whitelist(regex), count, StringDecoder(), StringDecoder()
        )

    def _consume(self, stream: Any) -> None:
        try:
            for each in stream:
                self.messages.append((each.topic, each.partition, each.offset, each.message))
        except Exception as error:  # noqa: BLE001 - whatever it is, ``close`` fails the test with it
            self.errors.append(error)

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
        self.released.append(dict(partition_ownership))

    def before_starting_fetchers(
        self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
    ) -> None:
        self.assignments.append({
            f"{topic}-{partition}": str(thread)
            for topic, partitions in partition_assignment.items()
            for partition, thread in partitions.items()
        })  # fmt: skip

    def commit(self) -> None:
        assert self.connector.commit_offsets()

    def close(self) -> None:
        self.connector.shutdown()
        for thread in self._threads:
            thread.join(patient_s(30))
        assert self.errors == []


class ScalaMember:
    """Kafka's own, in a process."""

    def __init__(self, subscription: str, config: Mapping[str, str]) -> None:
        jars = classpath(*JARS)
        classes = compile_java(Path(__file__).parents[1] / "jvm" / "ScalaGroupMember.java", jars)
        arguments = [subscription, *(f"{key}={value}" for key, value in config.items())]
        self._process = subprocess.Popen(
            java_command("ScalaGroupMember", *arguments, classpath=[classes, *jars]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.messages: list[Message] = []
        self.assignments: list[dict[str, str]] = []
        self._commits = 0
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            kind, *words = line.split()
            if kind == "message":
                self.messages.append((words[0], int(words[1]), int(words[2]), words[3]))
            elif kind == "assigned":
                self.assignments.append(dict(word.split(">") for word in words))
            elif kind == "committed":
                self._commits += 1

    def commit(self) -> None:
        before = self._commits
        assert self._process.stdin is not None
        self._process.stdin.write("commit\n")
        self._process.stdin.flush()
        eventually(lambda: self._commits > before)

    def kill(self) -> None:
        """Like kill -9; its session stays for a while."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(patient_s(60))
            self._thread.join(patient_s(30))


class Group:
    """The znodes of a group."""

    def __init__(self, zookeeper_connect: str, group: str) -> None:
        self.zk = KafkaZkClient(zookeeper_connect)
        self.zk.start()
        self.groups = ConsumerGroups(self.zk)
        self._group = group
        self._zookeeper_connect = zookeeper_connect

    def owners(self, partitions: Mapping[str, int]) -> dict[str, str | None]:
        return {
            f"{topic}-{number}": self.groups.get_owner(self._group, TopicPartition(topic, number))
            for topic, count in partitions.items()
            for number in range(count)
        }

    def offsets(self, partitions: Mapping[str, int]) -> dict[str, int]:
        asked = [TopicPartition(topic, number) for topic, count in partitions.items() for number in range(count)]
        return {str(partition): offset for partition, offset in self.groups.get_offsets(self._group, asked).items()}

    def miss(self, name: str) -> None:
        """End the session of a member that was killed, by the name that its configuration gave it."""
        (member,) = (each for each in self.members() if each.startswith(f"{self._group}_{name}"))
        end_session_of(self._zookeeper_connect, f"/consumers/{self._group}/ids/{member}")

    def members(self) -> list[str]:
        return self.groups.get_consumers_in_group(self._group)

    def close(self) -> None:
        self.zk.close()
