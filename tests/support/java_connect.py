"""A worker of Java's Connect, which may share a group with ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from kafka_lite.server.broker_process import free_port, takes_connections, write_properties
from kafka_lite.testing.connect.connect_cluster import WORKER_DEFAULTS
from tests.support.connect_process import ConnectProcess
from tests.support.eventually import eventually
from tests.support.jvm import classpath, java_command

JARS = {
    "0.10.2.2": (
        "org.apache.kafka:connect-runtime:0.10.2.2",
        "org.apache.kafka:connect-json:0.10.2.2",
        "org.apache.kafka:connect-file:0.10.2.1",  # 0.10.2.2 of these two is not in Maven's repository
        "org.apache.kafka:connect-transforms:0.10.2.1",
        "javax.xml.bind:jaxb-api:2.3.1",
        "javax.annotation:javax.annotation-api:1.3.2",
        "org.slf4j:slf4j-log4j12:1.7.21",
    ),
    "3.9.1": (
        "org.apache.kafka:connect-runtime:3.9.1",
        "org.apache.kafka:connect-json:3.9.1",
        "org.apache.kafka:connect-file:3.9.1",
        "org.slf4j:slf4j-reload4j:1.7.36",
    ),
}
VERIFIABLE: Final = "org.apache.kafka.connect.tools.Verifiable"
NO_PROPS: Final[Mapping[str, str]] = MappingProxyType({})


class JavaWorker(ConnectProcess):
    """``connect-distributed`` of Kafka 0.10.2.2, or 3.9.1, which shares the work as eagerly if one of ours is there."""

    def __init__(
        self,
        version: str,
        bootstrap_servers: str,
        folder: Path,
        *,
        jars: Sequence[str] = (),
        more: Sequence[Path] = (),
        props: Mapping[str, str] = NO_PROPS,
    ) -> None:
        """``jars``: artifacts besides those of JARS; ``more``: class path besides those."""
        port = free_port()
        properties = folder / "java-worker.properties"
        own = {"bootstrap.servers": bootstrap_servers, "rest.host.name": "127.0.0.1", "rest.port": str(port)}
        if version != "0.10.2.2":
            own |= {"listeners": f"http://127.0.0.1:{port}", "plugin.discovery": "service_load"}
            own |= {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
        write_properties(properties, {**WORKER_DEFAULTS, **own, **props})
        log4j = folder / "log4j.properties"
        log4j.write_text(
            "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n\n"
        )
        command = java_command(
            "org.apache.kafka.connect.cli.ConnectDistributed",
            str(properties),
            classpath=[*classpath(*JARS[version], *jars), *more],
            options=[f"-Dlog4j.configuration={log4j.as_uri()}"],
        )
        super().__init__(command, port, folder / "java-worker.log")

    def start(self) -> float:
        """Start it, however long that takes on a busy machine."""
        if not self.is_running:
            self.spawn()
        eventually(lambda: takes_connections(self.port), lambda: self.log_file.read_text()[-3000:], timeout_s=120)
        return 0

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of an answer, without the key that 3.9.1 adds: whether it is a source or a sink."""
        status, answer = super().ask(method, path, body)
        is_known = isinstance(answer, dict) and "type" in answer
        return status, {key: value for key, value in answer.items() if key != "type"} if is_known else answer


def verifiable_connectors(version: str, folder: Path) -> list[Path]:
    """The class path of Java's verifiable connectors, and of a file that names them.

    They are a part of 0.10.2's worker. Those of 3.6 and later are not published, so 3.9.1 gets those of 3.5.
    """
    if version == "0.10.2.2":
        return []
    for kind in ("Source", "Sink"):
        services = folder / "META-INF" / "services" / f"org.apache.kafka.connect.{kind.lower()}.{kind}Connector"
        services.parent.mkdir(parents=True, exist_ok=True)
        services.write_text(f"{VERIFIABLE}{kind}Connector\n")
    found = classpath("org.apache.kafka:connect-runtime:3.5.2")
    return [folder, *(jar for jar in found if jar.name.startswith(("connect-runtime-", "kafka-tools-3")))]
