"""A worker of Connect in a process of its own: ours or Java's, with the same properties."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self

from bench.brokers import KAFKA_VERSIONS, Broker, cpu_s_of, resident_peak_mb_of
from bench.contest import environment_of
from bench.measure import TIMEOUT_S
from kafka_lite.server.broker_process import HOST, free_port, write_properties
from kafka_lite.testing import maven

VERSION = KAFKA_VERSIONS[0]
KAFKA_CONNECT = f"Kafka Connect {VERSION}"
JARS = tuple(f"org.apache.kafka:connect-{part}:{VERSION}" for part in ("runtime", "json", "file"))
LOGGING = "org.slf4j:slf4j-nop:1.7.36"
HEAP = "1g"
POLL_S = 0.02
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS: Mapping[str, str] = {
    "group.id": "bench", "key.converter": STRING, "value.converter": STRING, "rest.host.name": HOST,
    "internal.key.converter": JSON, "internal.key.converter.schemas.enable": "false",
    "internal.value.converter": JSON, "internal.value.converter.schemas.enable": "false",
    "offset.flush.interval.ms": "1000", "connect.protocol": "eager", "plugin.discovery": "service_load",
    **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
}  # fmt: skip


class WorkerProcess:
    """A worker that runs; a context manager that ends it."""

    def __init__(self, system: str, broker: Broker, topics: Mapping[str, str]) -> None:
        """``topics`` are the keys of the internal topics. Raises JvmUnavailableError."""
        self.system = system
        self._folder = tempfile.TemporaryDirectory(prefix="kafka-lite-bench-", ignore_cleanup_errors=True)
        self._port = free_port()
        properties = Path(self._folder.name, "worker.properties")
        own = {"rest.port": str(self._port), "listeners": f"http://{HOST}:{self._port}"}
        write_properties(properties, {**PROPS, **topics, **own, "bootstrap.servers": broker.bootstrap_servers})
        self._log = Path(self._folder.name, "output.log")
        began = time.perf_counter()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command(system), str(properties)], stdout=log, stderr=log, env=environment_of(system)
            )
        try:
            self._await_membership(began)
        except BaseException:
            self.__exit__()
            raise
        self.start_s = time.perf_counter() - began
        """From the start of its process until it is in its group, which serves requests."""

    def _await_membership(self, began: float) -> None:
        while not self._answers():
            self.ensure_alive()
            if time.perf_counter() - began > TIMEOUT_S:
                raise RuntimeError(f"{self.system} is not in its group after {TIMEOUT_S:.0f} s")
            time.sleep(POLL_S)

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "/connectors")[0] == 200
        except (OSError, HTTPException, ValueError):  # Java's answers with a page while it starts
            return False

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of an answer. Raises OSError, HTTPException."""
        connection = HTTPConnection(HOST, self._port, timeout=TIMEOUT_S)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        return response.status, json.loads(text) if text else None

    def create(self, name: str, config: Mapping[str, str]) -> None:
        """Create a connector. Raises RuntimeError."""
        status, answer = self.ask("PUT", f"/connectors/{name}/config", dict(config))
        if status != 201:
            raise RuntimeError(f"{self.system} does not create a connector: {status} {answer}")

    def ensure_alive(self) -> None:
        """Raises RuntimeError if it has ended."""
        if self._process.poll() is not None:
            said = self._log.read_text(encoding="utf-8", errors="replace").strip()
            raise RuntimeError(f"{self.system} ended: {said.rpartition(chr(10))[2]}")

    def cpu_s(self) -> float:
        """Its processor time so far, in seconds, of all threads."""
        return cpu_s_of(self._process.pid)

    def peak_mb(self) -> float:
        """Its peak memory so far."""
        return resident_peak_mb_of(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def command(system: str) -> list[str]:
    """The command without the file of properties. Raises JvmUnavailableError."""
    if system == KAFKA_CONNECT:
        jars = maven.classpath(*JARS, LOGGING)
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        return ["java", f"-Xmx{HEAP}", "-XX:+UseG1GC", "-cp", maven.join(jars), main]
    return [sys.executable, "-m", "kafka_lite.tools.main", "connect-distributed"]
