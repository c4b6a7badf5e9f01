"""Where a broker listens, what it tells others, and by which listener brokers reach each other."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.security.sasl_channel_builder import SaslClientChannelBuilder
from kafka_lite.security.ssl.ssl_factory import SslFactory
from kafka_lite.server.config.listeners import Listeners, pairs_of
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF
from tests.support.certificates import keys_and_trust, server_certificate

LISTENERS, ADVERTISED = "listeners", "advertised.listeners"
BETWEEN, PROTOCOL = "inter.broker.listener.name", "security.inter.broker.protocol"
MAP = "listener.security.protocol.map"


def listeners(**keys: str) -> Listeners:
    """From keys whose dots are underscores."""
    original = {key.replace("_", "."): value for key, value in keys.items()}
    return Listeners(KAFKA_CONFIG_DEF.parse({"zookeeper.connect": "zk", **original}), original)


def shown(found: Listeners) -> tuple[list[str], list[str]]:
    return [str(each) for each in found.listeners], [str(each) for each in found.advertised]


def test_a_broker_listens_to_its_own_machine_unless_told_otherwise() -> None:
    found = listeners()
    assert shown(found) == (["PLAINTEXT://127.0.0.1:9092"], ["PLAINTEXT://127.0.0.1:9092"])
    assert found.inter_broker_name == "PLAINTEXT"


def test_listeners_have_names_protocols_and_addresses() -> None:
    found = listeners(
        listeners="INTERNAL://:9093, client://[::1]:9094,",
        listener_security_protocol_map="internal:PLAINTEXT,CLIENT:plaintext",
        advertised_listeners="INTERNAL://host1:1",
        inter_broker_listener_name="internal",
    )
    assert shown(found) == (["INTERNAL://:9093", "CLIENT://[::1]:9094"], ["INTERNAL://host1:1"])
    assert found.inter_broker_name == "INTERNAL"
    assert {each.security_protocol for each in found.listeners} == {SecurityProtocol.PLAINTEXT}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"host_name": "h", "port": "1000"}, ("h:1000", "h:1000")),
        ({"port": "1000"}, (":1000", ":1000")),
        ({"host_name": "h"}, ("h:9092", "h:9092")),
        ({"host_name": "h", "port": "1000", "advertised_port": "2000"}, ("h:1000", "h:2000")),
        ({"host_name": "h", "advertised_host_name": "other"}, ("h:9092", "other:9092")),
        ({"host_name": "::1", "advertised_host_name": "fe80::2"}, ("[::1]:9092", "[fe80::2]:9092")),
        ({"listeners": "PLAINTEXT://a:1", "host_name": "h", "port": "2"}, ("a:1", "a:1")),
        ({"advertised_listeners": "PLAINTEXT://a:1", "advertised_host_name": "b"}, ("127.0.0.1:9092", "a:1")),
    ],
)
def test_the_old_host_and_port_keys_count_if_the_newer_key_is_missing(
    keys: dict[str, str], expected: tuple[str, str]
) -> None:
    here, told = expected
    assert shown(listeners(**keys)) == ([f"PLAINTEXT://{here}"], [f"PLAINTEXT://{told}"])


def test_a_wildcard_is_fine_as_long_as_others_are_told_a_host() -> None:
    found = listeners(listeners="PLAINTEXT://0.0.0.0:9092", advertised_listeners="PLAINTEXT://h:9092")
    assert shown(found) == (["PLAINTEXT://0.0.0.0:9092"], ["PLAINTEXT://h:9092"])


def test_the_system_may_choose_the_ports_of_several_listeners() -> None:
    assert len(listeners(listeners="PLAINTEXT://h:0,TRACE://h:0", listener_security_protocol_map=
                         "PLAINTEXT:PLAINTEXT,TRACE:PLAINTEXT").listeners) == 2  # fmt: skip


def test_two_listeners_may_be_reached_by_the_same_port_from_outside() -> None:
    protocols = "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT"
    told = "PLAINTEXT://a:1,OTHER://b:1"
    found = listeners(
        listeners="PLAINTEXT://:1,OTHER://:2", advertised_listeners=told, listener_security_protocol_map=protocols
    )
    assert shown(found)[1] == told.split(",")


@pytest.mark.parametrize(
    ("keys", "name", "says"),
    [
        ({"listeners": "127.0.0.1:9092"}, LISTENERS, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://h:" + "9" * 5000}, LISTENERS, "NAME://host:port"),
        ({"listeners": "FOO://127.0.0.1:9092"}, LISTENERS, "FOO"),
        ({"listeners": "PLAINTEXT://h:65536"}, LISTENERS, "65535"),
        ({"listeners": "PLAINTEXT://h:-1"}, LISTENERS, "65535"),
        ({"listeners": "PLAINTEXT://h:1,plaintext://h:2"}, LISTENERS, "different name"),
        ({"listeners": "PLAINTEXT://h:1,TRACE://h:1"}, LISTENERS, "different port"),
        ({"listeners": " , "}, LISTENERS, "at least one"),
        ({"listeners": "PLAINTEXT://0.0.0.0:9092"}, LISTENERS, ADVERTISED),
        ({"listeners": "PLAINTEXT://[::]:9092"}, LISTENERS, ADVERTISED),
        ({"advertised_listeners": "PLAINTEXT://0.0.0.0:9092"}, ADVERTISED, "wildcard"),
        ({"advertised_host_name": "0.0.0.0"}, ADVERTISED, "wildcard"),
        ({"listeners": "SSL://h:1"}, PROTOCOL, "must name an advertised listener: one of SSL"),
        ({"listeners": "TRACE://0.0.0.0:1"}, LISTENERS, "uses TRACE; only PLAINTEXT and SSL and SASL"),
        ({"advertised_listeners": "SSL://h:1"}, ADVERTISED, "only listener names of listeners: PLAINTEXT"),
        ({"security_inter_broker_protocol": "SSL"}, PROTOCOL, "one of PLAINTEXT"),
        ({"security_inter_broker_protocol": "FOO"}, PROTOCOL, "SASL_SSL"),
        ({"inter_broker_listener_name": "other"}, BETWEEN, "one of PLAINTEXT"),
        ({"security_inter_broker_protocol": "PLAINTEXT", "inter_broker_listener_name": "A"}, BETWEEN, "Only one of"),
        ({"listener_security_protocol_map": "A"}, MAP, "key:value"),
        ({"listener_security_protocol_map": "A:B"}, MAP, "PLAINTEXT"),
    ],
)  # fmt: skip
def test_an_error_names_the_key_to_change(keys: dict[str, str], name: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        listeners(**keys)
    assert caught.value.name == name
    assert says in str(caught.value)


def test_connections_to_other_brokers_have_the_protocol_of_their_listener() -> None:
    keys = {key.replace(".", "_"): str(value) for key, value in keys_and_trust(server_certificate()).items()}
    assert listeners(listeners="PLAINTEXT://h:1").inter_broker_security("b") is None
    over_tls = listeners(**keys, listeners="SSL://h:1", security_inter_broker_protocol="SSL")
    assert isinstance(over_tls.inter_broker_security("b"), SslFactory)
    with_sasl = {
        "listeners": "PLAINTEXT://h:1,INTERNAL://h:2",
        "listener_security_protocol_map": "PLAINTEXT:PLAINTEXT,INTERNAL:SASL_PLAINTEXT",
        "inter_broker_listener_name": "INTERNAL",
    }
    with pytest.raises(ConfigError, match="is missing") as caught:
        listeners(**with_sasl).inter_broker_security("b")
    assert caught.value.name == "sasl.jaas.config"
    with_sasl["sasl_mechanism_inter_broker_protocol"] = "PLAIN"
    with pytest.raises(ConfigError, match="is missing"):
        listeners(**with_sasl).inter_broker_security("b")
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="b" password="c";'
    with_sasl["listener_name_internal_plain_sasl_jaas_config"] = jaas
    assert isinstance(listeners(**with_sasl).inter_broker_security("b"), SaslClientChannelBuilder)


def test_a_listener_with_tls_is_opened_with_its_keys() -> None:
    keys = {key.replace(".", "_"): str(value) for key, value in keys_and_trust(server_certificate()).items()}
    found = listeners(**keys, listeners="PLAINTEXT://h:1,SSL://h:2")

    plain, tls = found.protected()
    assert (plain.security_protocol, plain.channel_builder) == ("PLAINTEXT", None)
    assert (tls.name, tls.port, tls.security_protocol) == ("SSL", 2, "SSL")
    assert tls.channel_builder is not None


def test_a_listener_with_tls_needs_a_certificate() -> None:
    with pytest.raises(ConfigError, match=r"ssl\.keystore\.location: is needed for a listener with TLS"):
        listeners(listeners="PLAINTEXT://h:1,SSL://h:2").protected()


def test_the_listener_between_brokers_must_be_told_to_them() -> None:
    keys = {
        "listeners": "PLAINTEXT://:1,INSIDE://:2",
        "advertised_listeners": "PLAINTEXT://h:1",
        "listener_security_protocol_map": "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT",
    }
    assert listeners(**keys, inter_broker_listener_name="plaintext").inter_broker_name == "PLAINTEXT"
    with pytest.raises(ConfigError, match="must name an advertised listener: one of PLAINTEXT"):
        listeners(**keys, inter_broker_listener_name="INSIDE")


def test_the_last_colon_of_a_pair_separates() -> None:
    values = {"key": " ::1:3 , a.b : 4,, "}
    assert pairs_of("key", values) == [("::1", "3"), ("a.b", "4")]
    with pytest.raises(ConfigError, match="separated by commas"):
        pairs_of("key", {"key": "a:1,b"})
