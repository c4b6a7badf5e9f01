"""zookeeper.set.acl: brokers own their znodes, others read those without secrets; and the migration to it and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.tools.main import main
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sasl_connection import ZkLogin
from kafka_lite.zookeeper.zk_errors import ZkConnectionError, ZkError
from kafka_lite.zookeeper.zookeeper_session import SessionEvent
from tests.support.eventually import eventually

MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
KAFKA, EVERYONE = ("sasl", "kafka", 31), ("world", "anyone", 31)
READABLE, SECRET, OPEN = [KAFKA, ("world", "anyone", 1)], [KAFKA], [EVERYONE]
LISTS = {
    "/brokers/ids/0": READABLE,
    "/brokers/topics": READABLE,
    "/controller": READABLE,
    "/controller_epoch": READABLE,
    "/cluster/id": READABLE,
    "/config/changes": READABLE,
    "/config/users": SECRET,
    "/config/users/alice": SECRET,
    "/config/brokers/0": SECRET,
    "/delegation_token": READABLE,
    "/delegation_token/tokens": SECRET,
    "/consumers": OPEN,
}


@pytest.fixture
def zookeeper(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(tmp_path / "zookeeper", sasl_users={"kafka": "secret", "other": "o"}) as server:
        yield server


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "jaas.conf"
    file.write_text(f'Client {{ {MODULE} required username="kafka" password="secret"; }};')
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={file}")
    return file


@pytest.fixture
def brokers(tmp_path: Path, zookeeper: EmbeddedZooKeeper) -> Iterator[KafkaServers]:
    settings = {"zookeeper.set.acl": "true", "delegation.token.secret.key": "key"}
    servers = KafkaServers(tmp_path, zookeeper.connect_string, settings)
    yield servers
    servers.stop_all()


def client(zookeeper: EmbeddedZooKeeper, user: str | None = None, password: str = "") -> KafkaZkClient:
    login = None if user is None else ZkLogin(user, password)
    made = KafkaZkClient(zookeeper.connect_string, connection_timeout_ms=30_000, login=login, set_acl=user is not None)
    made.start()
    return made


def lists(zk: KafkaZkClient, *paths: str) -> dict[str, list[tuple[str, str, int]]]:
    return {path: zk.zookeeper.acl(path) for path in paths or LISTS}


def test_brokers_own_their_znodes_and_strangers_only_read(
    zookeeper: EmbeddedZooKeeper, brokers: KafkaServers, login: Path
) -> None:
    brokers.start(0)
    stranger, other, kafka = client(zookeeper), client(zookeeper, "other", "o"), client(zookeeper, "kafka", "secret")
    try:
        for path in ("users/alice", "brokers/0"):
            kafka.set_entity_config(path, {"producer_byte_rate": "1"})
        assert lists(kafka) == LISTS
        for zk in (stranger, other):
            assert zk.get_broker_ids() == [0]
            for forbidden in (
                lambda zk=zk: zk.get_entity_config("users/alice"),  # type: ignore[misc]
                lambda zk=zk: zk.set_entity_config("topics/t", {}),  # type: ignore[misc]
                lambda zk=zk: zk.zookeeper.set("/controller_epoch", b"9"),  # type: ignore[misc]
            ):
                with pytest.raises(ZkError):
                    forbidden()
        stranger.zookeeper.create("/consumers/old", b"")  # those of 0.8 write there themselves
    finally:
        for zk in (stranger, other, kafka):
            zk.close()


def test_a_broker_with_a_wrong_password_does_not_start(
    brokers: KafkaServers, login: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login.write_text(login.read_text().replace("secret", "wrong"))
    with pytest.raises(ZkConnectionError, match="refuses the user kafka"):
        brokers.start(0)
    monkeypatch.delenv("KAFKA_OPTS")
    with pytest.raises(ConfigError, match=r"zookeeper\.set\.acl: needs a user"):
        brokers.start(0)


def test_a_client_authenticates_again_after_each_lost_connection(tmp_path: Path) -> None:
    server = EmbeddedZooKeeper(tmp_path / "zookeeper", sasl_users={"kafka": "secret"})
    server.start()
    zk = client(server, "kafka", "secret")
    events: list[SessionEvent] = []
    zk.zookeeper.add_event_listener(events.append)
    try:
        zk.zookeeper.create("/mine", b"1")
        port = server.port
        server.shutdown()
        again = EmbeddedZooKeeper(tmp_path / "zookeeper", port=port, sasl_users={"kafka": "secret"})
        again.start()
        try:
            assert zk.zookeeper.set("/mine", b"2") == 1
            assert zk.zookeeper.acl("/mine") == READABLE
            eventually(lambda: SessionEvent.SASL_AUTHENTICATED in events)
        finally:
            zk.close()
            again.shutdown()
    finally:
        zk.close()
        server.shutdown()


def test_a_cluster_is_migrated_and_back(
    tmp_path: Path, zookeeper: EmbeddedZooKeeper, login: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = KafkaServers(tmp_path, zookeeper.connect_string, {"delegation.token.secret.key": "key"})
    kafka = client(zookeeper, "kafka", "secret")
    try:
        servers.start(0)
        for path in ("users/alice", "brokers/0"):
            kafka.zookeeper.set_or_create(f"/config/{path}", b'{"version":1,"config":{}}')
        before = lists(kafka, "/brokers/ids/0", "/config/changes")
        assert list(before.values()) == [OPEN, OPEN]
        where = ["--zookeeper.connect", zookeeper.connect_string]
        tool = "zookeeper-security-migration"
        assert main([tool, *where, "--zookeeper.acl", "secure", "--enable.path.check"]) == 1
        assert "do not exist in ZooKeeper: " in capsys.readouterr().out
        assert lists(kafka, *before) == before
        assert main([tool, *where, "--zookeeper.acl", "secure"]) == 0
        assert lists(kafka) == LISTS
        stranger = client(zookeeper)
        with pytest.raises(ZkError):
            stranger.delete_controller()  # that is a right on the root
        stranger.close()
        assert main([tool, *where, "--zookeeper.acl", "unsecure"]) == 0
        assert set(map(tuple, lists(kafka).values())) == {tuple(OPEN)}
    finally:
        kafka.close()
        servers.stop_all()


def test_the_migration_needs_a_user(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_OPTS", raising=False)
    assert main(["zookeeper-security-migration", "--zookeeper.acl", "secure"]) == 1
    assert "no user for ZooKeeper: KAFKA_OPTS must name a JAAS login file" in capsys.readouterr().err
