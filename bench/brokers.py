"""The brokers under test, each in its own process with the same settings."""

from __future__ import annotations

import compileall
import os
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from kafka_learn.site.bench_results import COMPILED, PLAIN
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.server.broker_process import (
    HOST,
    SERVER_START,
    ServerProcess,
    free_port,
    takes_connections,
    write_properties,
)
from kafka_lite.testing import maven
from scripts.compile_hot_modules import PROJECT, TARGET, is_current

KAFKA_VERSIONS = ("3.9.1", "4.3.1")
"""Ratios are relative to the first."""
KAFKA_HEAP = "1g"
_LOGGING = {
    # Kafka's log4j controller requires log4j, and without a binding the reason for a failed start is not logged.
    "3": "org.slf4j:slf4j-reload4j:1.7.36",
    "4": "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
}
_LOG4J = """log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J2 = """rootLogger.level=warn
rootLogger.appenderRef.stdout.ref=STDOUT
appender.stdout.type=Console
appender.stdout.name=STDOUT
appender.stdout.layout.type=PatternLayout
appender.stdout.layout.pattern=[%d] %p %m (%c)%n
"""
_METADATA_VERSION = 8
_CPU_CLOCK_OF_PROCESS = 2

COMMON = {
    "num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "auto.create.topics.enable": "false",
    "log.segment.bytes": str(1 << 30),
    "message.max.bytes": str(2 << 20),
    "group.initial.rebalance.delay.ms": "0",
}


class Broker(ServerProcess):
    """A broker on loopback with its own folder; a context manager that starts and stops it."""

    def __init__(
        self, name: str, directory: Path, command: Sequence[str], settings: Mapping[str, str], port: int
    ) -> None:
        directory.mkdir(parents=True)
        self.name = name
        self.directory = directory
        self.properties = directory / "server.properties"
        write_properties(self.properties, COMMON | {"log.dirs": str(self.log_dir)} | dict(settings))
        super().__init__([*command, str(self.properties)], port, directory / "broker.out")
        self.start_ms = 0.0
        """Time of the last start until the first response, in ms."""

    def start(self) -> float:
        """Start the broker and wait for its first response; returns the time in ms."""
        self.start_ms = super().start()
        return self.start_ms

    @property
    def log_dir(self) -> Path:
        """The folder of the partitions' folders."""
        return self.directory / "data"

    def is_ready(self) -> bool:
        """Whether the broker responds to a metadata request."""
        if not takes_connections(self.port):
            return False
        try:
            with BlockingChannel(HOST, self.port, read_timeout_ms=1000) as channel:
                response = channel.exchange(MetadataRequest(topics=[]), _METADATA_VERSION)
        except ConnectionError:
            return False
        return bool(response.brokers)  # type: ignore[attr-defined]

    def cpu_s(self) -> float:
        """Processor time so far of all threads, user and system, in seconds."""
        return cpu_s_of(self.process.pid)

    def kernel_cpu_s(self) -> float:
        """The system part of the processor time so far, in seconds."""
        return float(psutil.Process(self.process.pid).cpu_times().system)

    def resident_mb(self) -> float:
        """Current resident memory."""
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    def resident_peak_mb(self) -> float:
        """Peak resident memory so far (current resident memory if there is no /proc)."""
        return resident_peak_mb_of(self.process.pid)

    def bytes_read(self) -> int | None:
        """Bytes that the process has read so far with ``read`` and similar calls; None if there is no /proc."""
        try:
            text = Path(f"/proc/{self.process.pid}/io").read_text()
        except OSError:
            return None
        return int(next(line for line in text.splitlines() if line.startswith("rchar:")).split()[1])


class KafkaLite(Broker):
    """This project's broker with embedded ZooKeeper, from the source tree or from a package elsewhere."""

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None, package: Path | None = None) -> None:
        port = free_port()
        # As package installers do. Without bytecode, and where Python cannot write it, a start takes twice as long.
        compileall.compile_dir((package or PROJECT) / "kafka_lite", quiet=1)
        # Without the safe path, Python would find the working directory's package first.
        elsewhere = ("env", "PYTHONSAFEPATH=1", f"PYTHONPATH={package}") if package else ()
        command = (*elsewhere, *SERVER_START)
        own = {"broker.id": "1", "listeners": f"PLAINTEXT://{HOST}:{port}", "zookeeper.connect": "embedded"}
        name = PLAIN if package is None else COMPILED
        super().__init__(name, directory, command, own | dict(settings or {}), port)


class RealKafka(Broker):
    """Apache Kafka: in KRaft mode, broker and controller in one process; in ZooKeeper mode if it is given one."""

    def __init__(
        self, directory: Path, version: str, jars: Sequence[Path], settings: Mapping[str, str] | None = None
    ) -> None:
        port = free_port()
        self._java = ["java", f"-Xmx{KAFKA_HEAP}", f"-Xms{KAFKA_HEAP}", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"]
        self._java += [
            "-Djava.awt.headless=true",
            f"-Dlog4j.configuration=file:{directory / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile={directory / 'log4j2.properties'}",
            f"-Dkafka.logs.dir={directory}",
        ]
        self._java += ["-cp", maven.join(jars)]
        own = dict(settings or {})
        self._has_zookeeper = "zookeeper.connect" in own
        mode = {"listeners": f"PLAINTEXT://{HOST}:{port}"} if self._has_zookeeper else _kraft(port)
        command = [*self._java, "kafka.Kafka"]
        super().__init__(f"Kafka {version}", directory, command, mode | own, port)
        (directory / "log4j.properties").write_text(_LOG4J)
        (directory / "log4j2.properties").write_text(_LOG4J2)

    def start(self) -> float:
        """Format the storage of KRaft before the first start, which is not measured, then start the broker."""
        if not self._has_zookeeper and not self.log_dir.exists():
            cluster_id = uuid.uuid4().hex[:22]
            format_storage = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(self.properties)]
            done = subprocess.run([*self._java, *format_storage], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{self.name}: the storage was not formatted:\n{done.stdout}{done.stderr}")
        return super().start()


def _kraft(port: int) -> dict[str, str]:
    """The settings of a broker that is its own controller."""
    controller_port = free_port()
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }


@dataclass(frozen=True)
class Candidate:
    """A kind of broker under test; ``make`` prepares an instance in a new folder with additional settings."""

    name: str
    make: Callable[[Path, Mapping[str, str]], Broker]


def kafka_lite(settings: Mapping[str, str]) -> Candidate:
    """This project's broker, with ``settings`` in every instance."""
    return Candidate(PLAIN, lambda directory, own: KafkaLite(directory, {**own, **settings}))


def kafka_lite_compiled(settings: Mapping[str, str]) -> Candidate:
    """The same with compiled hot modules. Raises FileNotFoundError if `make compiled` has not built them."""
    if not is_current():
        raise FileNotFoundError("it is not there, or of another source: `make compiled` makes it")
    return Candidate(COMPILED, lambda directory, own: KafkaLite(directory, {**own, **settings}, TARGET))


def real_kafka(version: str) -> Candidate:
    """Apache Kafka. Raises JvmUnavailableError if it is not available."""
    jars = kafka_jars(version)
    return Candidate(f"Kafka {version}", lambda directory, own: RealKafka(directory, version, jars, own))


def kafka_jars(version: str) -> list[Path]:
    """The class path of the broker and tools, from Maven."""
    artifacts = [f"org.apache.kafka:kafka_2.13:{version}", f"org.apache.kafka:kafka-tools:{version}"]
    return maven.classpath(*artifacts, _LOGGING[version.partition(".")[0]])


def cpu_s_of(pid: int) -> float:
    """Processor time so far of all threads of a process, user and system, in seconds."""
    try:
        # Linux's id for another process's CPU clock, with ns resolution; /proc/PID/stat has steps of 10 ms.
        return time.clock_gettime(~pid << 3 | _CPU_CLOCK_OF_PROCESS)
    except OSError:
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system


def resident_peak_mb_of(pid: int) -> float:
    """Peak resident memory of a process so far (current resident memory if there is no /proc)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return psutil.Process(pid).memory_info().rss / 1e6
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


def cpu_count() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
