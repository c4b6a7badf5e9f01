"""TLS between brokers and ZooKeeper: Kafka 3.9.1 on our server, our broker on Apache's, and the same lists by both."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.security.ssl.zookeeper_ssl import (
    SECURE_PORT_CONFIGS,
    client_id,
    client_ssl_factory,
    parse_client,
    server_ssl_context,
)
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.testing.security.certificate_authority import CertificateAuthority
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.embedded.secure_server_cnxn import SecurePort
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.eventually import eventually
from tests.support.real_kafka import HOST, TODAYS, real_kafka_with_zookeeper
from tests.support.real_zookeeper import real_zookeeper

pytestmark = [pytest.mark.jvm, pytest.mark.nightly]

WAIT_MS = 60_000
SETTINGS = {
    "zookeeper.set.acl": "true",
    "inter.broker.protocol.version": "2.6",
    "log.message.format.version": "2.6",
}
PATHS = ("/", "/consumers", "/brokers/ids/0", "/brokers/topics", "/config/topics", "/controller")
Lists = dict[str, list[tuple[str, str, int]]]


class Keys:
    """Stores of PEM for ZooKeeper and its clients, which trust one authority."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._authority = folder, CertificateAuthority()
        self._trust = folder / "ca.pem"
        self._trust.write_text(self._authority.certificate)

    def _store(self, name: str) -> str:
        file = self._folder / f"{name}.pem"
        file.write_text("".join(self._authority.issue(name, ("localhost", HOST))))
        return str(file)

    def of_server(self) -> dict[str, str]:
        return {"ssl.keyStore.location": self._store("zookeeper"), "ssl.trustStore.location": str(self._trust)}

    def of_client(self, name: str = "kafka") -> dict[str, str]:
        return {
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
            "zookeeper.ssl.keystore.location": self._store(name),
            "zookeeper.ssl.keystore.type": "PEM",
            "zookeeper.ssl.truststore.location": str(self._trust),
            "zookeeper.ssl.truststore.type": "PEM",
        }


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


def client(connect: str, properties: dict[str, str], timeout_ms: int = WAIT_MS) -> KafkaZkClient:
    factory = client_ssl_factory(parse_client(properties, {}))
    assert factory is not None
    zk = KafkaZkClient(connect, WAIT_MS, timeout_ms, wrap_socket=factory.wrap_socket)
    zk.start()
    return zk


def lists(connect: str, keys: Keys) -> Lists:
    zk = client(connect, keys.of_client())
    try:
        for path in PATHS:
            eventually(lambda path=path: zk.zookeeper.exists(path) is not None)  # type: ignore[misc]
        return {path: zk.zookeeper.acl(path) for path in PATHS}
    finally:
        zk.close()


def test_both_write_the_same_lists_into_our_zookeeper(tmp_path: Path, keys: Keys) -> None:
    found = []
    for kind in ("theirs", "ours"):
        folder = tmp_path / kind
        folder.mkdir()
        port = SecurePort(server_ssl_context(SECURE_PORT_CONFIGS.parse(keys.of_server())), client_id)
        with EmbeddedZooKeeper(folder / "shared", port=None, secure_port=port) as zookeeper:
            connect = zookeeper.connect_string
            settings = SETTINGS | keys.of_client()
            if kind == "theirs":
                plain = free_port()
                own = {"listeners": f"PLAINTEXT://{HOST}:{plain}", "zookeeper.connect": connect}
                with real_kafka_with_zookeeper(TODAYS, folder, settings | own, port=plain):
                    found.append(lists(connect, keys))
            else:
                servers = KafkaServers(folder, connect, settings)
                servers.start(0)
                found.append(lists(connect, keys))
                servers.stop_all()
    assert found[0] == found[1]
    assert found[0]["/controller"] == [("x509", "CN=kafka", 31), ("world", "anyone", 1)]


def test_our_broker_on_apaches_zookeeper(tmp_path: Path, keys: Keys) -> None:
    secure = free_port()
    settings = {
        "secureClientPort": secure,
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
        **keys.of_server(),
    }
    with real_zookeeper(tmp_path / "zookeeper", settings=settings):
        connect = f"{HOST}:{secure}"
        servers = KafkaServers(tmp_path, connect, SETTINGS | keys.of_client())
        try:
            servers.start(0)
            assert lists(connect, keys)["/controller"] == [("x509", "CN=kafka", 31), ("world", "anyone", 1)]
        finally:
            servers.stop_all()
        foreign = tmp_path / "foreign"
        foreign.mkdir()
        with pytest.raises(ZkConnectionError, match=r"certificate|alert|handshake"):
            client(connect, Keys(foreign).of_client(), 3000)
