"""The four systems that run until they are stopped, each a process that reads ``text`` and writes ``word-counts``.

Book 9.3
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from examples.word_count.topology import TEXT, WORD_COUNTS
from kafka_learn.project import PROJECT_ROOT
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.serialization import LongDeserializer, StringDeserializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing import maven

HERE = Path(__file__).parent
STORM_JARS = (
    "org.apache.storm:storm-server:2.6.4",
    "org.apache.storm:storm-kafka-client:2.6.4",
    "org.apache.kafka:kafka-clients:3.9.1",
)
STREAMS_JARS = ("org.apache.kafka:kafka-streams:0.10.2.2", "org.slf4j:slf4j-nop:1.7.36")
PARTITIONS = 2
"""Of both topics."""


def _java(coordinates: Sequence[str], source: str, *arguments: str) -> list[str]:
    """Command of a Java program of this folder. Raises JvmUnavailableError."""
    jars = maven.classpath(*coordinates)
    classes = maven.compile_java(HERE / source, jars)
    options = ["-Xmx1g", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", maven.join([HERE, classes, *jars]), Path(source).stem, *arguments]


def _python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"{__package__}.{module}", *arguments]


COMMANDS: dict[str, Callable[[str, Path], list[str]]] = {
    "Storm": lambda servers, _: _java(STORM_JARS, "StormWordCount.java", servers, "storm"),
    "Trident": lambda servers, _: _java(STORM_JARS, "StormWordCount.java", servers, "trident"),
    "Spark": lambda servers, folder: _python("spark_stream", servers, str(folder)),
    "Kafka Streams": lambda servers, folder: _java(STREAMS_JARS, "StreamsWordCount.java", servers, str(folder)),
    "kafka_lite.streams": lambda servers, folder: _python("ours", servers, str(folder)),
}
"""From the broker's address and an empty folder to the command that runs the system until its standard input ends."""


@contextmanager
def running(system: str, bootstrap_servers: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a system, while the block runs. Its output goes to ``output.log`` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = COMMANDS[system](bootstrap_servers, folder)
    with (
        Path(folder, "output.log").open("wb") as log,
        subprocess.Popen(command, cwd=PROJECT_ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log) as process,
    ):
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


def send(producer: KafkaProducer, lines: Sequence[str]) -> None:
    """Send lines to both partitions of ``text`` in turn, and wait until the broker has them."""
    for number, line in enumerate(lines):
        producer.send(ProducerRecord(TEXT, line.encode(), partition=number % PARTITIONS))
    producer.flush()


class CountsReader:
    """Follows ``word-counts``: the last count of each word, and how many records that took."""

    def __init__(self, bootstrap_servers: str) -> None:
        """Read from the beginning."""
        self._consumer = KafkaConsumer({"bootstrap.servers": bootstrap_servers, "fetch.max.wait.ms": 100})
        partitions = [TopicPartition(WORD_COUNTS, number) for number in range(PARTITIONS)]
        self._consumer.assign(partitions)
        self._consumer.seek_to_beginning(partitions)
        self.counts: dict[str, int] = {}
        self.records = 0

    def read_until(self, expected: dict[str, int], still_running: Callable[[], bool], polls: int = 3000) -> None:
        """Read until the counts are as expected.

        Raises KafkaError if the system ends before, or after ``polls`` polls of at most 100 ms.
        """
        word, count = StringDeserializer(), LongDeserializer()
        for _ in range(polls):
            if self.counts == expected:
                return
            if not still_running():
                raise KafkaError("the system has ended before it had counted all")
            for record in self._consumer.poll(100):
                key, value = word.deserialize(record.topic, record.key), count.deserialize(record.topic, record.value)
                assert key is not None, "each word has its count"
                assert value is not None, "counts are never deleted"
                self.counts[key] = value
                self.records += 1
        wrong = {each: self.counts.get(each) for each in expected if self.counts.get(each) != expected[each]}
        raise KafkaError(f"wrong after {polls} polls: {dict(list(wrong.items())[:5])} and {len(wrong)} in all")

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()
