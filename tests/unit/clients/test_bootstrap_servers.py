"""Addresses of brokers, in all forms that users have from Kafka's own clients and from testcontainers."""

from __future__ import annotations

import pytest

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.common.config_def import ConfigError


@pytest.mark.parametrize(
    ("servers", "addresses"),
    [
        ("h:1", [("h", 1)]),
        (" h:1 , i_2.example:2,", [("h", 1), ("i_2.example", 2)]),
        (["h:1 ", "", "i:65535"], [("h", 1), ("i", 65535)]),
        ("PLAINTEXT://localhost:32768", [("localhost", 32768)]),
        ("PLAINTEXT://a:1, plaintext://[::1]:2,b:3", [("a", 1), ("::1", 2), ("b", 3)]),
        ("[fe80::1%eth0]:9092,[::1]:80", [("fe80::1%eth0", 9092), ("::1", 80)]),
        ("::1:9092", [("::1", 9092)]),  # as in Java: the last number is the port
    ],
)
def test_servers_of_every_form_are_parsed(servers: str | list[str], addresses: list[tuple[str, int]]) -> None:
    assert parse_bootstrap_servers(servers) == addresses


@pytest.mark.parametrize(
    "text",
    [
        "h",
        "h:",
        ":1",
        ":",
        "h:x",
        "h:0",
        "h:65536",
        "h:-1",
        "h 1:2",
        "h:1/",
        "[::1:9",
        "PLAINTEXT://:1",
        "://h:1",
        "h:²",
    ],
)
def test_a_malformed_server_is_refused_by_name(text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"for configuration bootstrap\.servers: an address must be host:port"
    ) as raised:
        parse_bootstrap_servers(f"good:1,{text}")
    assert f"Invalid value {text} " in str(raised.value)


def test_a_port_of_more_digits_than_python_converts_is_refused_like_any_other() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value h:99.*an address must be host:port with a port"):
        parse_bootstrap_servers("h:" + "9" * 5_000)


@pytest.mark.parametrize("protocol", ["SSL", "sasl_plaintext", "SASL_SSL"])
def test_a_protected_protocol_is_refused_with_the_reason(protocol: str) -> None:
    with pytest.raises(ConfigError, match=r"write host:port; .* use TLS with security\.protocol=SSL"):
        parse_bootstrap_servers(f"{protocol}://h:1")


def test_another_protocol_is_refused_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match=r"http://h:1 .*must be host:port or PLAINTEXT://host:port"):
        parse_bootstrap_servers("http://h:1")


@pytest.mark.parametrize("servers", ["", " , ", []])
def test_no_server_is_an_error_of_its_key(servers: str | list[str]) -> None:
    with pytest.raises(ConfigError, match=r"metadata\.broker\.list: there must be at least one host:port"):
        parse_bootstrap_servers(servers, "metadata.broker.list")
