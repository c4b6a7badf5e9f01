"""ZooKeeper behind TLS: brokers and tools with certificates come in and own their znodes, nobody else does."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.properties import load_properties
from kafka_lite.security.ssl.zookeeper_ssl import client_ssl_factory, parse_client
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.tools.main import main
from kafka_lite.tools.zookeeper.zookeeper_server_start import create_server
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.certificates import Pem, certificate, server_certificate

NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty"
KAFKA, OPERATOR = certificate(common_name="kafka"), certificate(common_name="operator")
SHORT_MS = 1500


def client_properties(folder: Path, name: str, own: Pem | None = None, trusted: Pem = KAFKA) -> dict[str, str]:
    found = {
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.clientCnxnSocket": NETTY,
        "zookeeper.ssl.truststore.location": str(trusted.write(folder, f"{name}-trust")[1]),
    }
    if own is not None:
        found["zookeeper.ssl.keystore.location"] = str(own.write(folder, name)[0])
    return found


@pytest.fixture
def zookeeper(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    """As its file of properties has it: with the secure port alone."""
    store, trust = server_certificate().write(tmp_path, "zookeeper")
    file = tmp_path / "zookeeper.properties"
    file.write_text(
        f"dataDir={tmp_path / 'data'}\nsecureClientPort=0\nssl.keyStore.location={store}\n"
        f"ssl.trustStore.location={trust}\nserverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
    )
    with create_server(load_properties(file)) as server:
        yield server


@pytest.fixture
def brokers(tmp_path: Path, zookeeper: EmbeddedZooKeeper) -> Iterator[KafkaServers]:
    settings = {"zookeeper.set.acl": "true", **client_properties(tmp_path, "broker", KAFKA)}
    servers = KafkaServers(tmp_path, zookeeper.connect_string, settings)
    yield servers
    servers.stop_all()


def client(zookeeper: EmbeddedZooKeeper, properties: dict[str, str], timeout_ms: int = 30_000) -> KafkaZkClient:
    factory = client_ssl_factory(parse_client(properties, {}))
    wrap_socket = None if factory is None else factory.wrap_socket
    made = KafkaZkClient(zookeeper.connect_string, connection_timeout_ms=timeout_ms, wrap_socket=wrap_socket)
    made.start()
    return made


@pytest.mark.soak
def test_brokers_and_tools_with_certificates(
    tmp_path: Path, zookeeper: EmbeddedZooKeeper, brokers: KafkaServers,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    brokers.start(0)
    file = tmp_path / "tls.properties"
    properties = client_properties(tmp_path, "tool", KAFKA)
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    connect, tls = zookeeper.connect_string, ["--zk-tls-config-file", str(file)]
    configs = ["configs", "--zookeeper", connect, *tls, "--entity-type", "users", "--entity-name", "alice"]
    assert main([*configs, "--alter", "--add-config", "producer_byte_rate=1024"]) == 0
    capsys.readouterr()
    assert main([*configs, "--describe"]) == 0
    assert "producer_byte_rate=1024" in capsys.readouterr().out
    assert main(["zookeeper-shell", *tls, connect, "getAcl", "/config/users/alice"]) == 0
    owner, _, rights = capsys.readouterr().out.partition("'x509,'")[2].partition("\n")
    assert "CN=kafka" in owner, "the tool's certificate owns what it creates"
    assert rights == ": cdrwa\n", "and nobody else reads it"
    assert main(["zookeeper-shell", *tls, connect, "get", "/controller"]) == 0
    assert '"brokerid":0' in capsys.readouterr().out
    options = " ".join([
        "-Dzookeeper.client.secure=true", f"-Dzookeeper.clientCnxnSocket={NETTY}",
        f"-Dzookeeper.ssl.keyStore.location={properties['zookeeper.ssl.keystore.location']}",
        f"-Dzookeeper.ssl.trustStore.location={properties['zookeeper.ssl.truststore.location']}",
    ])  # fmt: skip
    monkeypatch.setenv("KAFKA_OPTS", options)
    topic = ["--topic", "t", "--partitions", "1", "--replication-factor", "1"]
    assert main(["topics", "--zookeeper", connect, "--create", *topic]) == 0
    capsys.readouterr()
    monkeypatch.delenv("KAFKA_OPTS")
    assert main([*configs[:2], connect, "--entity-type", "topics", "--describe"]) == 1, "in plain text"


def test_the_certificate_owns_what_brokers_write(
    tmp_path: Path, zookeeper: EmbeddedZooKeeper, brokers: KafkaServers, capsys: pytest.CaptureFixture[str]
) -> None:
    brokers.start(0)
    kafka = client(zookeeper, client_properties(tmp_path, "kafka", KAFKA))
    operator = client(zookeeper, client_properties(tmp_path, "operator", OPERATOR))
    try:
        (owner, everyone) = kafka.zookeeper.acl("/controller")
        assert (owner[0], owner[2], everyone) == ("x509", 31, ("world", "anyone", 1))
        assert "CN=kafka" in owner[1]
        assert operator.get_broker_ids() == [0]
        with pytest.raises(Exception, match="NoAuth"):
            operator.zookeeper.set("/controller_epoch", b"9")
        kafka.zookeeper.create("/consumers/old", b"")
        file = tmp_path / "tls.properties"
        properties = client_properties(tmp_path, "kafka", KAFKA)
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        migrate = ["zookeeper-security-migration", "--zookeeper.connect", zookeeper.connect_string]
        assert main([*migrate, "--zookeeper.acl", "unsecure", "--zk-tls-config-file", str(file)]) == 0
        assert kafka.zookeeper.acl("/controller") == [("world", "anyone", 31)]
        assert main([*migrate, "--zookeeper.acl", "secure"]) == 1
        assert "--zk-tls-config-file" in capsys.readouterr().err
    finally:
        kafka.close()
        operator.close()


def test_strangers_are_refused(tmp_path: Path, zookeeper: EmbeddedZooKeeper) -> None:
    foreign = certificate("localhost", common_name="kafka", of="Another CA")
    expired = certificate(common_name="kafka", expired=True)
    for properties, why in (
        ({}, "is ZooKeeper running there"),
        (client_properties(tmp_path, "none"), "accept this client's certificate|alert|handshake|TLS"),
        (client_properties(tmp_path, "foreign", foreign), "alert|unknown ca|certificate"),
        (client_properties(tmp_path, "expired", expired), "alert|certificate"),
        (client_properties(tmp_path, "trust", KAFKA, foreign), "certificate verify failed"),
    ):
        with pytest.raises(ZkConnectionError, match=why):
            client(zookeeper, properties, SHORT_MS)
    client(zookeeper, client_properties(tmp_path, "kafka", KAFKA)).close()


def test_half_open_handshakes_keep_nobody_waiting(tmp_path: Path, zookeeper: EmbeddedZooKeeper) -> None:
    host, _, port = zookeeper.connect_string.rpartition(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(50)]
    try:
        for sock in silent[::2]:
            sock.sendall(b"\x16\x03\x01\x02\x00")
        for sock in silent[1::4]:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client(zookeeper, client_properties(tmp_path, "kafka", KAFKA)).close()
    finally:
        for sock in silent:
            sock.close()


def test_set_acl_without_an_owner_is_an_error(tmp_path: Path, zookeeper: EmbeddedZooKeeper) -> None:
    settings = {"zookeeper.set.acl": "true", **client_properties(tmp_path, "broker")}
    servers = KafkaServers(tmp_path, zookeeper.connect_string, settings)
    try:
        with pytest.raises(ConfigError, match="a certificate in a key store"):
            servers.start(0)
    finally:
        servers.stop_all()
