"""TLS and passwords: batches through SASL_SSL, and connections that are opened and closed."""

from __future__ import annotations

import socket
import ssl
import statistics
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.brokers import Broker, Candidate
from bench.filled_log import FilledLog
from bench.librdkafka import BATCH_1_MB, BATCH_16_KB, Connection, Consume, Produce
from bench.measure import MESSAGES, Goal, Sample, Study, measured, ratio_at_least
from kafka_lite.clients.admin_client import ADMIN_CONFIG
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.server.broker_process import HOST, free_port
from kafka_lite.testing.security.certificate_authority import CertificateAuthority

HANDSHAKES = "connections/s"
AT_ONCE = 4
"""How many clients connect at the same time."""
RUNS = 3
USER, PASSWORD = "alice", "secret"
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@dataclass(frozen=True)
class Secured:
    """The same loads through SASL_SSL (TLS 1.3, PLAIN), and how many connections a second a broker admits."""

    scale: float

    def study(self, rounds: int) -> Study:
        """The study, for the report."""
        return Study("TLS and passwords (SASL_SSL)", self.workloads, self.run, rounds)

    @property
    def _loads(self) -> list[Produce | Consume]:
        messages = max(2_000, int(60_000 * self.scale))
        produce = [Produce(1000, "all", "none", batch, messages) for batch in (BATCH_16_KB, BATCH_1_MB)]
        return [*produce, Consume(FilledLog(1000, "none", 4 * messages))]

    @property
    def _connections(self) -> int:
        return max(40, int(1_000 * self.scale))

    @property
    def workloads(self) -> Mapping[str, Mapping[str, Goal]]:
        """The reported workloads and their goals."""
        loads = {each.name: {MESSAGES: ratio_at_least(1.0)} for each in self._loads}
        return {
            **loads,
            "connect, TLS handshake": {HANDSHAKES: ratio_at_least(1.0)},
            "connect, TLS handshake, password": {HANDSHAKES: ratio_at_least(1.0)},
        }

    def run(self, candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> Mapping[str, Sample]:
        """Run everything on one broker, after a warm-up, and take medians."""
        broker = candidate.make(folder / "broker", {})
        authority = CertificateAuthority()
        port = secure(broker, authority)
        found: dict[str, list[Sample]] = {}
        tell("starting, warming up")
        with broker:
            connection = SecuredConnection(broker, port, authority.certificate)
            for number in range(RUNS + 1):  # the first one is the warm-up
                for load in self._loads:
                    tell(f"{load.name}, run {number}")
                    sample = load.run(broker, connection)
                    found.setdefault(load.name, []).append(sample)
                for name, connect in (
                    ("connect, TLS handshake", connection.shake_hands),
                    ("connect, TLS handshake, password", connection.log_in),
                ):
                    tell(f"{name}, run {number}")
                    found.setdefault(name, []).append(self._connect(broker, connect))
        return {name: _medians(samples[1:]) for name, samples in found.items()}

    def _connect(self, broker: Broker, connect: Callable[[], None]) -> Sample:
        with ThreadPoolExecutor(AT_ONCE) as clients:
            return measured(
                broker,
                self._connections,
                lambda: list(clients.map(lambda _: connect(), range(self._connections))),
                HANDSHAKES,
            )


class SecuredConnection(Connection):
    """The listener with SASL_SSL of a broker, for librdkafka and for bare connections."""

    def __init__(self, broker: Broker, port: int, authority: str) -> None:
        super().__init__({
            "bootstrap.servers": f"{HOST}:{port}", "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN",
            "sasl.username": USER, "sasl.password": PASSWORD, "ssl.ca.pem": authority,
        })  # fmt: skip
        self._port = port
        self._context = ssl.create_default_context(cadata=authority)
        keys = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "ssl.truststore.certificates": authority}
        jaas = {"sasl.jaas.config": f'{_MODULE} required username="{USER}" password="{PASSWORD}";'}
        parsed = ADMIN_CONFIG.parse({"bootstrap.servers": broker.bootstrap_servers, **keys, **jaas})
        self._security = client_channel_builder(parsed)

    def shake_hands(self) -> None:
        """Connect, do the handshake of TLS, and leave."""
        with socket.create_connection((HOST, self._port)) as sock:
            self._context.wrap_socket(sock, server_hostname="localhost").close()

    def log_in(self) -> None:
        """Connect, and leave as soon as the password is accepted."""
        with BlockingChannel(HOST, self._port, security=self._security):
            pass


def secure(broker: Broker, authority: CertificateAuthority) -> int:
    """Give a broker that has not started a further listener, with TLS 1.3 and one user; returns its port."""
    port, store = free_port(), broker.directory / "keys.pem"
    store.write_text("".join(authority.issue("localhost", ("localhost", HOST))))
    lines = [line.partition("=") for line in broker.properties.read_text(encoding="utf-8").splitlines()]
    settings = {name: value for name, _, value in lines}
    settings["listeners"] += f",SASL_SSL://{HOST}:{port}"
    if "listener.security.protocol.map" in settings:
        settings["listener.security.protocol.map"] += ",SASL_SSL:SASL_SSL"
    settings |= {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f'{_MODULE} required user_{USER}="{PASSWORD}";',
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }
    broker.properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
    return port


def _medians(samples: list[Sample]) -> Sample:
    return {figure: statistics.median(each[figure] for each in samples) for figure in samples[0]}
