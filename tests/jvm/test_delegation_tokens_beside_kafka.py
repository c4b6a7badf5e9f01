"""Delegation tokens of a cluster of two brokers, Kafka 3.9.1 and ours, on one ZooKeeper: each takes the tokens of the
other, Java's tool and client use those of ours, and both have the same errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kafka_lite.clients.admin_client import ADMIN_CONFIG
from kafka_lite.common.errors import Errors
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages import api_38_create_delegation_token as create
from kafka_lite.protocol.messages import api_39_renew_delegation_token as renew
from kafka_lite.protocol.messages import api_40_expire_delegation_token as expire
from kafka_lite.protocol.messages import api_41_describe_delegation_token as describe
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools, our_tool, words
from tests.support.real_kafka import HOST, TODAYS, real_kafka_with_zookeeper

pytestmark = [pytest.mark.jvm, pytest.mark.nightly]

PACKAGE = "org.apache.kafka.common.security"
TOOL, TOPICS = "org.apache.kafka.tools.DelegationTokenCommand", "org.apache.kafka.tools.TopicCommand"
SETTINGS = {
    "inter.broker.protocol.version": "2.6",
    "log.message.format.version": "2.6",
    "security.inter.broker.protocol": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{PACKAGE}.plain.PlainLoginModule required user_alice="a" user_bob="b";'
    ),
    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{PACKAGE}.scram.ScramLoginModule required;",
    "delegation.token.master.key": "of both brokers",
}
TIMEOUT_MS = 60_000
DAY_MS = 24 * 60 * 60 * 1000


class Broker(NamedTuple):
    """A broker's ports."""

    plain: int
    sasl: int

    def ask(self, user: Mapping[str, str] | None, request: Any, version: int) -> Any:
        """The response to a user's request; to one in plain text without a user."""
        security = None if user is None else client_channel_builder(ADMIN_CONFIG.parse(_client(self, user)))
        port = self.plain if user is None else self.sasl
        with BlockingChannel(HOST, port, read_timeout_ms=TIMEOUT_MS, security=security) as channel:
            return channel.exchange(request, version)

    def lets_in(self, user: Mapping[str, str]) -> bool:
        try:
            self.ask(user, MetadataRequest(topics=[]), 4)
        except SaslAuthenticationError:
            return False
        return True


class Cluster(NamedTuple):
    theirs: Broker
    ours: Broker
    zk: KafkaZkClient


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder: Path = tmp_path_factory.mktemp("tokens")
    plain, sasl = free_port(), free_port()
    with EmbeddedZooKeeper(folder / "shared") as zookeeper:
        own = {
            "listeners": f"PLAINTEXT://{HOST}:{plain},SASL_PLAINTEXT://{HOST}:{sasl}",
            "zookeeper.connect": zookeeper.connect_string,
        }
        with real_kafka_with_zookeeper(TODAYS, folder, SETTINGS | own, port=plain):
            listeners = {"listeners": f"PLAINTEXT://{HOST}:0,SASL_PLAINTEXT://{HOST}:0"}
            servers = KafkaServers(folder, zookeeper.connect_string, SETTINGS | listeners)
            zk = KafkaZkClient(zookeeper.connect_string)
            zk.start()
            try:
                server = servers.start(1)
                ours = Broker(server.bound_port("PLAINTEXT"), server.bound_port("SASL_PLAINTEXT"))
                yield Cluster(Broker(plain, sasl), ours, zk)
            finally:
                zk.close()
                servers.stop_all()


@pytest.fixture(scope="module")
def java() -> Iterator[KafkaTools]:
    with KafkaTools(TODAYS, with_errors=True) as tools:
        yield tools


def _client(broker: Broker, user: Mapping[str, str]) -> dict[str, object]:
    return {"bootstrap.servers": f"{HOST}:{broker.sasl}", "security.protocol": "SASL_PLAINTEXT", **user}


def user(name: str) -> dict[str, str]:
    module = f"{PACKAGE}.plain.PlainLoginModule"
    jaas = f'{module} required username="{name}" password="{name[0]}";'
    return {"sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas}


def by_token(token_id: str, hmac: bytes) -> dict[str, str]:
    secret = base64.b64encode(hmac).decode()
    module = f"{PACKAGE}.scram.ScramLoginModule"
    jaas = f'{module} required username="{token_id}" password="{secret}" tokenauth="true";'
    return {"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": jaas}


ALICE, BOB = user("alice"), user("bob")


def new_token(broker: Broker, **fields: Any) -> Any:
    request = create.CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
    for name, value in fields.items():
        setattr(request, name, value)
    return broker.ask(ALICE, request, 3)


def where(broker: Broker, who: Mapping[str, str], folder: Path) -> list[str]:
    """The flags of a tool."""
    file = folder / "client.properties"
    lines = {key: value for key, value in _client(broker, who).items() if key != "bootstrap.servers"}
    file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    return ["--bootstrap-server", f"{HOST}:{broker.sasl}", "--command-config", str(file)]


def test_each_broker_lets_in_with_the_token_of_the_other(cluster: Cluster) -> None:
    for maker, other in ((cluster.theirs, cluster.ours), (cluster.ours, cluster.theirs)):
        token = new_token(maker)
        assert token.error_code == 0
        assert token.expiry_timestamp_ms - token.issue_timestamp_ms == DAY_MS
        assert token.max_timestamp_ms - token.issue_timestamp_ms == 7 * DAY_MS
        shown = by_token(token.token_id, token.hmac)
        assert maker.lets_in(shown)
        eventually(lambda o=other, s=shown: o.lets_in(s))  # type: ignore[misc]
        end = expire.ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
        assert other.ask(BOB, end, 2).error_code == Errors.DELEGATION_TOKEN_OWNER_MISMATCH.code
        assert other.ask(ALICE, end, 2).error_code == 0
        eventually(lambda m=maker, s=shown: not m.lets_in(s))  # type: ignore[misc]


def test_both_write_the_same_nodes(cluster: Cluster) -> None:
    renewers = [create.CreatableRenewers(principal_type="User", principal_name="CN=b/ö,O=x y*~")]
    nodes = []
    for broker in (cluster.theirs, cluster.ours):
        token = new_token(broker, renewers=renewers, owner_principal_type="User", owner_principal_name="bob")
        assert (token.error_code, len(token.token_id), len(token.hmac)) == (0, 22, 64)
        data, _ = cluster.zk.zookeeper.get(f"/delegation_token/tokens/{token.token_id}")
        node = json.loads(data or b"")
        assert node.pop("tokenId") == token.token_id
        assert node.pop("maxTimestamp") == node.pop("issueTimestamp") + 7 * DAY_MS
        del node["expiryTimestamp"]
        nodes.append(node)
    assert nodes[0] == nodes[1]


def test_java_s_tool_has_the_same_words_beside_ours(cluster: Cluster, java: KafkaTools, tmp_path: Path) -> None:
    flags = where(cluster.ours, ALICE, tmp_path)
    made = java(TOOL, *flags, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob")
    *_, row = made.splitlines()
    token_id, hmac, owner, *_ = row.split()
    assert owner == "User:alice"
    described = ["--describe", "--owner-principal", "User:alice"]
    theirs, ours = (
        words(java(TOOL, *flags, *described)),
        words(our_tool("delegation-tokens", *flags, *described).output),
    )
    assert row.split() in theirs
    assert ours == theirs

    who = by_token(token_id, base64.b64decode(hmac))
    for broker in (cluster.ours, cluster.theirs):
        eventually(lambda b=broker: b.lets_in(who))  # type: ignore[misc]
        assert java.run(TOPICS, *where(broker, who, tmp_path), "--list").code == 0

    flags = where(cluster.ours, BOB, tmp_path)  # a renewer
    renewed = java(TOOL, *flags, "--renew", "--hmac", hmac, "--renew-time-period", "-1")
    assert "Completed renew operation. New expiry date : " in renewed
    ended = java(TOOL, *flags, "--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert "Completed expire operation. New expiry date : " in ended
    assert java.run(TOOL, *flags, "--renew", "--hmac", hmac, "--renew-time-period", "-1").code == 1
    refused = java.run(TOPICS, *where(cluster.ours, who, tmp_path), "--list")
    assert refused.code == 1
    assert "due to invalid credentials with SASL mechanism SCRAM-SHA-256" in refused.output


def test_our_tool_beside_kafka(cluster: Cluster, tmp_path: Path) -> None:
    flags = where(cluster.theirs, ALICE, tmp_path)
    made = our_tool("delegation-tokens", *flags, "--create", "--max-life-time-period", "60000")
    assert made.code == 0, made.output
    token_id, hmac, *_ = made.output.splitlines()[-1].split()
    assert token_id in our_tool("delegation-tokens", *flags, "--describe").output
    ended = our_tool("delegation-tokens", *flags, "--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert ended.code == 0, ended.output
    assert token_id not in our_tool("delegation-tokens", *flags, "--describe").output


def _requests(hmac: bytes) -> dict[str, Any]:
    group = [create.CreatableRenewers(principal_type="Group", principal_name="g")]
    return {
        "create": create.CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=5),
        "create for a group": create.CreateDelegationTokenRequest(renewers=group, max_lifetime_ms=5),
        "renew": renew.RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=1_000_000),
        "renew an unknown one": renew.RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=1_000_000),
        "expire": expire.ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=1_000_000),
        "expire an unknown one": expire.ExpireDelegationTokenRequest(hmac=b"", expiry_time_period_ms=-1),
        "describe": describe.DescribeDelegationTokenRequest(owners=None),
        "describe those of nobody": describe.DescribeDelegationTokenRequest(owners=[]),
    }


def test_both_have_the_same_errors_in_every_version(cluster: Cluster) -> None:
    token = new_token(cluster.theirs)
    shown = by_token(token.token_id, token.hmac)
    eventually(lambda: cluster.ours.lets_in(shown))
    for name, request in _requests(token.hmac).items():
        for version in range(request.VERSIONS.lowest, request.VERSIONS.highest + 1):
            for who in (None, ALICE, BOB, shown):
                theirs, ours = (b.ask(who, request, version) for b in (cluster.theirs, cluster.ours))
                assert _comparable(theirs) == _comparable(ours), (name, version, who)


def _comparable(response: Any) -> dict[str, Any]:
    """The fields that do not depend on when and by whom a token was made."""
    values = {field.name: getattr(response, field.name) for field in response.FIELDS}
    if not response.error_code:
        values = {name: value for name, value in values.items() if "timestamp" not in name}
        for name in ("token_id", "hmac", "tokens"):
            values.pop(name, None)
    return values
