"""A broker takes a new certificate while it runs: AlterConfigs, as `kafka-configs` sends it."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.security.certificate_authority import CertificateAuthority, Credential
from tests.support.eventually import eventually

LOCATION = "listener.name.ssl.ssl.keystore.location"
WAIT_S = 60


def written(file: Path, pem: Credential) -> str:
    file.write_text(pem.key + pem.certificate)
    return str(file)


def served(cluster: Cluster) -> str:
    """The certificate that the listener shows, as PEM."""
    return ssl.get_server_certificate(("127.0.0.1", cluster.server.bound_port("SSL")))


def alter(cluster: Cluster, location: str) -> None:
    entry = ConfigEntry(LOCATION, location, incremental_operation=AlterConfigOpType.SET)
    broker = ConfigResource(ResourceType.BROKER, "0", incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for done in admin.incremental_alter_configs([broker]).values():
        done.result(WAIT_S)


def test_new_connections_see_the_new_certificate_and_old_ones_stay(tmp_path: Path) -> None:
    authority = CertificateAuthority()
    first, second = (authority.issue("localhost", ["localhost"]) for _ in range(2))
    keys = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        LOCATION: written(tmp_path / "first.pem", first),
    }
    with Cluster(keys) as cluster:
        before = served(cluster)
        trusting = ssl.create_default_context(cadata=authority.certificate)
        plain = socket.create_connection(("127.0.0.1", cluster.server.bound_port("SSL")))
        with trusting.wrap_socket(plain, server_hostname="localhost") as held:
            alter(cluster, written(tmp_path / "second.pem", second))
            eventually(lambda: served(cluster) != before)
            held.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff")  # ApiVersions v0
            assert held.recv(4), "the connection has kept its keys"
        with pytest.raises(KafkaException, match=r"ssl\.keystore\.location"):
            alter(cluster, str(tmp_path / "none.pem"))
        assert served(cluster) != before
