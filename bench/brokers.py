"""The two brokers under test, each a process of its own with the same settings."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
KAFKA_HEAP = "1g"

COMMON = {
    "num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "auto.create.topics.enable": "false",
    "log.segment.bytes": str(1 << 30),
    "message.max.bytes": str(2 << 20),
}


class Broker(ABC):
    """A broker on loopback with a folder of its own; a context manager that starts and stops it."""

    name: str

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.settings: dict[str, str] = {}
        """Further lines of the server.properties, for trying something out."""
        self.start_up_s = 0.0
        self.resident_idle_mb = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """For clients."""
        return f"127.0.0.1:{self.port}"

    @abstractmethod
    def command(self) -> list[str]:
        """The command line of the broker; whatever must happen once before has happened when it returns."""

    def write_properties(self, extra: dict[str, str]) -> Path:
        """The broker's server.properties."""
        path = self.directory / "server.properties"
        settings = COMMON | {"log.dirs": str(self.directory / "data")} | extra | self.settings
        path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        return path

    def __enter__(self) -> Self:
        self.directory.mkdir(parents=True)
        command = self.command()
        with (self.directory / "broker.out").open("wb") as output:
            began = time.perf_counter()
            self._process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=self.directory)
        try:
            self._await_answer(began + START_TIMEOUT_S)
        except BaseException:
            self.stop()
            raise
        self.start_up_s = time.perf_counter() - began
        time.sleep(2)  # what the start left to do is done
        self.resident_idle_mb = self.process.memory_info().rss / 1e6
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process: politely, then not."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    @property
    def process(self) -> psutil.Process:
        """The broker's process."""
        assert self._process is not None
        return psutil.Process(self._process.pid)

    def cpu_s(self) -> float:
        """User and system time so far, seconds."""
        times = self.process.cpu_times()
        return times.user + times.system

    def resident_peak_mb(self) -> float:
        """The most memory that was resident so far (where /proc tells, else what is resident now)."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return self.process.memory_info().rss / 1e6
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1e3

    def _await_answer(self, deadline: float) -> None:
        """Until the broker tells a client that it is a broker."""
        while time.perf_counter() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            if _accepts(self.port) and self._answers():
                return
            time.sleep(0.02)
        output = (self.directory / "broker.out").read_text(errors="replace")
        raise RuntimeError(f"{self.name} did not start:\n{output[-3000:]}")

    def _answers(self) -> bool:
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        try:
            return bool(admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return False


class KafkaLite(Broker):
    """This project's broker, ZooKeeper embedded."""

    name = "kafka_lite"

    def command(self) -> list[str]:
        """``kafka-lite server-start``."""
        properties = self.write_properties(
            {
                "broker.id": "1",
                "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
                "zookeeper.connect": "embedded",
            }
        )
        return [sys.executable, "-m", "kafka_lite.tools.main", "server-start", str(properties)]


class RealKafka(Broker):
    """Apache Kafka in KRaft mode, broker and controller in one process."""

    def __init__(self, directory: Path, classpath: str, version: str) -> None:
        super().__init__(directory)
        self.name = f"Kafka {version}"
        self._java = ["java", f"-Xmx{KAFKA_HEAP}", f"-Xms{KAFKA_HEAP}", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"]
        self._java += ["-Djava.awt.headless=true", f"-Dlog4j.configuration=file:{directory / 'log4j.properties'}"]
        self._java += ["-cp", classpath]

    def command(self) -> list[str]:
        """Format the storage, then ``kafka.Kafka``."""
        controller_port = free_port()
        (self.directory / "log4j.properties").write_text(
            "log4j.rootLogger=WARN, stdout\n"
            "log4j.appender.stdout=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.stdout.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n\n"
        )
        properties = self.write_properties(
            {
                "process.roles": "broker,controller",
                "node.id": "1",
                "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
                "controller.listener.names": "CONTROLLER",
                "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            }
        )
        cluster_id = uuid.uuid4().hex[:22]
        format_storage = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties)]
        subprocess.run([*self._java, *format_storage], check=True, capture_output=True, cwd=self.directory)
        return [*self._java, "kafka.Kafka", str(properties)]


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def cpu_count() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
