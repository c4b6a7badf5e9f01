"""What a secured run configures: three kinds of listeners, users who may do just what their clients do."""

from __future__ import annotations

import dataclasses
from itertools import chain

import pytest

from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.testing.chaos.chaos_security import ChaosSecurity, user_of
from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.chaos.workloads import SOURCE, TARGET, all_clients

OWN = {
    "broker.id": "0",
    "listeners": "CLIENTS://127.0.0.1:1,FROM_0://127.0.0.1:2,FROM_1://127.0.0.1:3",
    "advertised.listeners": "CLIENTS://127.0.0.1:11,FROM_0://127.0.0.1:2,FROM_1://127.0.0.1:13",
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,FROM_0:PLAINTEXT,FROM_1:PLAINTEXT",
    "inter.broker.listener.name": "FROM_0",
    "zookeeper.connect": "127.0.0.1:9",
}
SPECS = list(all_clients("127.0.0.1:11", 20.0))


@pytest.fixture(scope="module")
def security() -> ChaosSecurity:
    return ChaosSecurity()


def test_clients_have_tls_and_passwords_brokers_passwords_and_the_operator_neither(security: ChaosSecurity) -> None:
    settings = security.broker_settings(OWN, 77)
    assert settings["listeners"].endswith(",OPERATOR://127.0.0.1:77"), "the port of the last one is the broker's own"
    assert settings["advertised.listeners"].endswith(",OPERATOR://127.0.0.1:77")
    read = {key: value.replace("\\n", "\n") for key, value in settings.items()}  # as a properties file is read
    assert not any("\n" in value for value in settings.values())
    protocols = KafkaConfig(read)._listeners.security_protocol_map
    assert {name: protocol.name for name, protocol in protocols.items()} == {
        "CLIENTS": "SASL_SSL", "FROM_0": "SASL_PLAINTEXT", "FROM_1": "SASL_PLAINTEXT", "OPERATOR": "PLAINTEXT",
    }  # fmt: skip
    assert "User:ANONYMOUS" in settings["super.users"].split(";")


def test_users_may_do_what_their_clients_do(security: ChaosSecurity) -> None:
    rights = set(security.rights(SPECS))
    assert len(rights) == len(list(security.rights(SPECS)))
    assert ("User:alice", "WRITE", "TOPIC", SOURCE) in rights
    assert ("User:bob", "READ", "TOPIC", SOURCE) in rights
    assert ("User:bob", "WRITE", "TOPIC", TARGET) in rights
    assert {right for right in rights if right[1] == "READ" and right[0] == "User:alice"} == set()
    assert {right[3] for right in rights if right[:3] == ("User:bob", "WRITE", "TOPIC")} == {TARGET}
    assert all(name for *_, name in rights)


def test_the_operator_gives_the_rights(security: ChaosSecurity) -> None:
    given = []

    class Operator:
        def allow(self, *right: str) -> None:
            given.append(right)

    security.allow(Operator(), SPECS)  # type: ignore[arg-type]
    assert given == list(security.rights(SPECS))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_each_client_gets_its_password_in_its_own_words(security: ChaosSecurity, spec: ClientSpec) -> None:
    configs = security.client_configs(spec)
    assert user_of(spec) == ("alice" if spec.is_producer else "bob")
    assert configs.items() >= spec.configs.items()
    assert configs["security.protocol"] == "SASL_SSL"
    assert ("sasl.username" in configs) == (spec.library == "librdkafka")
    assert user_of(spec) in "".join(map(str, chain(configs.values())))
    assert dataclasses.replace(spec, configs=configs).to_json()
