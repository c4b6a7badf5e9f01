"""The TLS of an HTTP port: whose keys it has, and when."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.security.ssl.https_sockets import HttpsSockets
from tests.support.certificates import Pem, certificate, keys_and_trust, server_certificate
from tests.support.patience import patient_s

PREFIX = "metrics.http."


def name_of_server(sockets: HttpsSockets, trusted: Pem) -> str:
    """The common name in the certificate with which it meets a client."""
    here, there = socket.socketpair()
    for each in (here, there):
        each.settimeout(patient_s(30))

    def serve() -> None:
        with sockets.wrap(there) as connection:
            connection.do_handshake()
            connection.recv(1)

    server = threading.Thread(target=serve)
    server.start()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=trusted.authority)
    try:
        with context.wrap_socket(here) as client:
            subject: Mapping[str, str] = {key: value for ((key, value),) in client.getpeercert()["subject"]}  # type: ignore[index,misc]
            return subject["commonName"]
    finally:
        server.join(patient_s(30))


def test_the_keys_of_the_port_come_before_those_of_all_ports() -> None:
    all_ports, own = server_certificate(), certificate("localhost", common_name="metrics")
    config = keys_and_trust(all_ports)
    assert name_of_server(HttpsSockets(config, PREFIX), all_ports) == "localhost"
    config |= {PREFIX + key: value for key, value in keys_and_trust(own).items()}
    assert name_of_server(HttpsSockets(config, PREFIX), own) == "metrics"


def test_a_port_without_a_key_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"ssl\.keystore\.location"):
        HttpsSockets({}, PREFIX)
    with pytest.raises(ConfigError, match=r"metrics\.http\.ssl\.client\.auth"):
        HttpsSockets(keys_and_trust(server_certificate()) | {f"{PREFIX}ssl.client.auth": "perhaps"}, PREFIX)


def test_files_that_are_replaced_count_for_the_next_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = server_certificate(), certificate("localhost", common_name="renewed")
    store, _ = first.write(tmp_path, "broker")
    sockets = HttpsSockets({"ssl.keystore.location": str(store), "ssl.keystore.type": "PEM"}, PREFIX)
    assert name_of_server(sockets, first) == "localhost"
    store.write_text("half a file")
    assert name_of_server(sockets, first) == "localhost"
    assert "Still using the former keys and certificates" in caplog.text
    second.write(tmp_path, "broker")
    assert name_of_server(sockets, second) == "renewed"
