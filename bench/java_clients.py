"""Workloads of the Java clients: Kafka's own performance tools, and a consumer without a group."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bench.brokers import KAFKA_VERSIONS, Broker, kafka_jars
from bench.filled_log import FilledLog
from bench.measure import (
    CPU,
    MESSAGES,
    TIMEOUT_S,
    Goal,
    Sample,
    SkippedError,
    cpu_of,
    measured,
    ratio_at_least,
    ratio_at_most,
    topic,
)
from kafka_lite.testing import maven

CLIENT_VERSION = KAFKA_VERSIONS[0]
CLIENT_HEAP = "512m"
_CONSUMING: Mapping[str, Goal] = {MESSAGES: ratio_at_least(0.95), CPU: ratio_at_most(0.6)}


@dataclass(frozen=True)
class ProducerPerformance:
    """``kafka-producer-perf-test.sh``."""

    size: int
    messages: int
    goals: ClassVar[Mapping[str, Goal]] = {}

    @property
    def name(self) -> str:
        return f"producer-perf-test, {self.size:,} B, acks 1, none, 16 KB"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            arguments = ["--topic", name, "--num-records", str(self.messages), "--record-size", str(self.size)]
            settings = [f"bootstrap.servers={broker.bootstrap_servers}", "acks=1", "batch.size=16384", "linger.ms=5"]
            arguments += ["--throughput", "-1", "--producer-props", *settings]
            return java_run(
                broker, self.messages, "org.apache.kafka.tools.ProducerPerformance", arguments, _last_producer_line
            )


@dataclass(frozen=True)
class JavaConsumer:
    """The Java consumer with an assigned partition, without a group."""

    log: FilledLog
    passes: int = 2
    goals: ClassVar[Mapping[str, Goal]] = _CONSUMING

    @property
    def name(self) -> str:
        return f"Java consumer, assigned, {self.log}"

    def run(self, broker: Broker) -> Sample:
        name = self.log.topic(broker)
        classes = maven.compile_java(Path(__file__).with_name("JavaConsume.java"), client_jars())
        arguments = [broker.bootstrap_servers, name, str(self.log.messages), str(self.passes)]
        messages = self.log.messages * self.passes
        return java_run(broker, messages, "JavaConsume", arguments, _last_pass, [classes])


@dataclass(frozen=True)
class ConsumerPerformance:
    """``kafka-consumer-perf-test.sh``, as a member of a group."""

    log: FilledLog
    goals: ClassVar[Mapping[str, Goal]] = _CONSUMING

    @property
    def name(self) -> str:
        return f"consumer-perf-test, {self.log}"

    def run(self, broker: Broker) -> Sample:
        arguments = ["--bootstrap-server", broker.bootstrap_servers, "--topic", self.log.topic(broker)]
        arguments += ["--messages", str(self.log.messages), "--timeout", "20000"]
        main = "org.apache.kafka.tools.ConsumerPerformance"
        return java_run(broker, self.log.messages, main, arguments, _fetched_per_second)


def client_jars() -> list[Path]:
    """The class path of the Java clients. Raises SkippedError if there is no Java to run them."""
    try:
        return kafka_jars(CLIENT_VERSION)
    except maven.JvmUnavailableError as reason:
        raise SkippedError(f"it is Java's, and {reason}") from reason


def java_run(
    broker: Broker,
    messages: int,
    main: str,
    arguments: Sequence[str],
    rate: Callable[[str], float],
    classes: Sequence[Path] = (),
) -> Sample:
    """Run a class with the client's jars; ``rate`` extracts messages/s, without the start-up time, from its output."""
    java = ["java", f"-Xmx{CLIENT_HEAP}", f"-Xms{CLIENT_HEAP}", "-XX:+UseG1GC"]
    command = [*java, "-cp", maven.join([*classes, *client_jars()]), main, *arguments]
    output = ""

    def run() -> None:
        nonlocal output
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        output = done.stdout
        if done.returncode != 0:
            raise RuntimeError(f"{main} against {broker.name}: exit code {done.returncode}\n{output}{done.stderr}")

    sample = measured(broker, messages, run)
    return {MESSAGES: rate(output)} | cpu_of(sample)


def _last_producer_line(output: str) -> float:
    """``1500000 records sent, 468018.7 records/sec (44.63 MB/sec), …``: the last line has the totals."""
    rates = re.findall(r"records sent, ([0-9.]+) records/sec", output)
    if not rates:
        raise RuntimeError(f"the producer's tool said no rate:\n{output}")
    return float(rates[-1])


def _last_pass(output: str) -> float:
    """The last pass, for which the JVM has compiled the hot code."""
    return float(output.splitlines()[-1])


def _fetched_per_second(output: str) -> float:
    """``fetch.nMsg.sec``, the last column, which excludes the time of joining the group."""
    header, values = (line.split(", ") for line in output.splitlines()[-2:])
    if header[-1].strip() != "fetch.nMsg.sec":
        raise RuntimeError(f"the consumer's tool printed something else than expected:\n{output}")
    return float(values[-1])
