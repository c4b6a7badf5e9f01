"""zookeeper.set.acl of Kafka 3.9.1 and ours: both authenticate with ZooKeeper, and write the same lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sasl_connection import ZkLogin
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.eventually import eventually
from tests.support.real_kafka import HOST, TODAYS, real_kafka_with_zookeeper
from tests.support.real_zookeeper import real_zookeeper

pytestmark = [pytest.mark.jvm, pytest.mark.nightly]

MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
SETTINGS = {
    "zookeeper.set.acl": "true",
    "inter.broker.protocol.version": "2.6",
    "log.message.format.version": "2.6",
    "delegation.token.master.key": "key",
}
WAIT_MS = 60_000
SHARED = ("/", "/consumers", "/brokers", "/brokers/topics", "/config", "/config/topics", "/cluster/id",
          "/controller", "/controller_epoch", "/admin/delete_topics", "/delegation_token/tokens",
          "/delegation_token/token_changes")  # fmt: skip


@pytest.fixture(autouse=True)
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same file for Java's processes and for ours."""
    file = tmp_path / "jaas.conf"
    file.write_text(
        f'Client {{ {MODULE} required username="kafka" password="secret"; }};\n'
        f'Server {{ {MODULE} required user_kafka="secret"; }};\n'
    )
    option = f"-Djava.security.auth.login.config={file}"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"{option} -Dzookeeper.authProvider.sasl={PROVIDER}")
    monkeypatch.setenv("KAFKA_OPTS", option)
    return file


def lists(connect: str, *paths: str) -> Iterator[tuple[str, list[tuple[str, str, int]]]]:
    zk = KafkaZkClient(connect, WAIT_MS, WAIT_MS, login=ZkLogin("kafka", "secret"))
    zk.start()
    try:
        for path in paths:
            eventually(lambda p=path: zk.zookeeper.exists(p) is not None)  # type: ignore[misc]
            yield path, zk.zookeeper.acl(path)
    finally:
        zk.close()


def test_both_write_the_same_lists_into_our_zookeeper(tmp_path: Path) -> None:
    found = []
    for kind in ("theirs", "ours"):
        folder = tmp_path / kind
        folder.mkdir()
        with EmbeddedZooKeeper(folder / "shared", sasl_users={"kafka": "secret"}) as zookeeper:
            connect = zookeeper.connect_string
            if kind == "theirs":
                port = free_port()
                own = {"listeners": f"PLAINTEXT://{HOST}:{port}", "zookeeper.connect": connect}
                with real_kafka_with_zookeeper(TODAYS, folder, SETTINGS | own, port=port):
                    found.append(dict(lists(connect, "/brokers/ids/0", *SHARED)))
            else:
                servers = KafkaServers(folder, connect, SETTINGS)
                servers.start(0)
                found.append(dict(lists(connect, "/brokers/ids/0", *SHARED)))
                servers.stop_all()
    assert found[0] == found[1]
    assert found[0]["/controller"] == [("sasl", "kafka", 31), ("world", "anyone", 1)]


def test_our_broker_authenticates_with_apaches_zookeeper(tmp_path: Path) -> None:
    with real_zookeeper(tmp_path / "zookeeper") as connect:
        servers = KafkaServers(tmp_path, connect, SETTINGS)
        try:
            servers.start(0)
            assert dict(lists(connect, "/controller")) == {
                "/controller": [("sasl", "kafka", 31), ("world", "anyone", 1)]
            }
        finally:
            servers.stop_all()
        wrong = KafkaZkClient(connect, WAIT_MS, WAIT_MS, login=ZkLogin("kafka", "wrong"))
        with pytest.raises(ZkConnectionError, match="refuses the user kafka"):
            wrong.start()
