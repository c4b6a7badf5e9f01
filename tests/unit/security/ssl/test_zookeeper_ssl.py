"""The keys of TLS to ZooKeeper: in server.properties, in KAFKA_OPTS, and in ZooKeeper's own file."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError, Password
from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.security.ssl.zookeeper_ssl import (
    SECURE_PORT_CONFIGS,
    ZK_SSL_CONFIGS,
    client_id,
    client_ssl_factory,
    client_values,
    has_client_certificate,
    parse_client,
    server_ssl_context,
)
from tests.support.certificates import certificate, server_certificate

NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty"


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, str]:
    """A client's keys as they stand in server.properties."""
    store, trust = certificate(common_name="kafka").write(tmp_path, "client")
    return {
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.clientCnxnSocket": NETTY,
        "zookeeper.ssl.keystore.location": str(store),
        "zookeeper.ssl.truststore.location": str(trust),
    }


def server(tmp_path: Path, **settings: str) -> ssl.SSLContext:
    store, trust = server_certificate().write(tmp_path, "server")
    given = {"ssl.keyStore.location": str(store), "ssl.trustStore.location": str(trust)}
    return server_ssl_context(SECURE_PORT_CONFIGS.parse(given | {f"ssl.{key}": each for key, each in settings.items()}))


def shake_hands(context: ssl.SSLContext, values: dict[str, str], host: str = "localhost") -> bytes | None:
    """The client's certificate as the server sees it. Raises what the client raises."""
    factory = client_ssl_factory(parse_client(values, {}))
    assert factory is not None
    near, far = socket.socketpair()
    seen: list[bytes | None] = []

    def serve() -> None:
        try:
            with context.wrap_socket(far, server_side=True) as secured:
                seen.append(secured.getpeercert(binary_form=True))
                secured.send(b"x")
        except OSError:
            far.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with factory.wrap_socket(near, host) as secured:
            secured.recv(1)
    finally:
        near.close()
        thread.join()
    return seen[0]


def test_without_the_key_there_is_no_tls() -> None:
    assert client_ssl_factory(parse_client({}, {})) is None
    assert not has_client_certificate(parse_client({"zookeeper.ssl.keystore.location": "/x"}, {}))


def test_both_ends_know_each_other(tmp_path: Path, stores: dict[str, str]) -> None:
    seen = shake_hands(server(tmp_path), stores)
    assert seen is not None
    assert "CN=kafka" in client_id(seen)
    assert has_client_certificate(parse_client(stores, {}))


@pytest.mark.parametrize(("how", "refused"), [("need", True), ("want", False), ("none", False)])
def test_a_server_says_whether_clients_need_certificates(
    tmp_path: Path, stores: dict[str, str], how: str, refused: bool
) -> None:
    del stores["zookeeper.ssl.keystore.location"]
    context = server(tmp_path, clientAuth=how)
    if refused:
        with pytest.raises(OSError):
            shake_hands(context, stores)
    else:
        assert shake_hands(context, stores) is None


def test_host_names_are_checked_unless_told_otherwise(tmp_path: Path, stores: dict[str, str]) -> None:
    with pytest.raises(SslAuthenticationError, match="certificate verify failed"):
        shake_hands(server(tmp_path), stores, "elsewhere")
    stores["zookeeper.ssl.endpoint.identification.algorithm"] = ""
    assert shake_hands(server(tmp_path), stores, "elsewhere")


def test_a_foreign_authority_is_refused(tmp_path: Path, stores: dict[str, str]) -> None:
    foreign = certificate("localhost", of="Another CA")
    stores["zookeeper.ssl.truststore.location"] = str(foreign.write(tmp_path, "foreign")[1])
    with pytest.raises(SslAuthenticationError, match="certificate verify failed"):
        shake_hands(server(tmp_path), stores)


def test_the_version_is_1_2_as_in_zookeeper_unless_others_are_named(tmp_path: Path, stores: dict[str, str]) -> None:
    factory = client_ssl_factory(parse_client(stores, {}))
    assert factory is not None
    assert factory.context.maximum_version is ssl.TLSVersion.TLSv1_2
    assert server(tmp_path).maximum_version is ssl.TLSVersion.TLSv1_2
    factory = client_ssl_factory(parse_client(stores | {"zookeeper.ssl.enabled.protocols": "TLSv1.3"}, {}))
    assert factory is not None
    assert factory.context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert server(tmp_path, enabledProtocols="TLSv1.2,TLSv1.3").maximum_version is ssl.TLSVersion.TLSv1_3


def test_the_names_of_java_are_known_too(stores: dict[str, str]) -> None:
    options = (
        f"-Dzookeeper.client.secure=true -Dzookeeper.clientCnxnSocket={NETTY} "
        "-Dzookeeper.ssl.hostnameVerification=false "
        f"-Dzookeeper.ssl.keyStore.location={stores['zookeeper.ssl.keystore.location']} "
        "-Dzookeeper.ssl.keyStore.password=p -Dzookeeper.ssl.enabledProtocols=TLSv1.2,TLSv1.3"
    )
    values = parse_client({}, {"KAFKA_OPTS": options})
    assert values["zookeeper.ssl.client.enable"] is True
    assert values["zookeeper.ssl.keystore.password"] == Password("p")
    assert values["zookeeper.ssl.enabled.protocols"] == ["TLSv1.2", "TLSv1.3"]
    assert values["zookeeper.ssl.endpoint.identification.algorithm"] == ""
    assert (
        parse_client({"zookeeper.ssl.client.enable": "false"}, {"KAFKA_OPTS": options})["zookeeper.ssl.client.enable"]
        is False
    ), "what is in the file counts first"


def test_a_tools_file_may_have_other_keys(tmp_path: Path, stores: dict[str, str]) -> None:
    file = tmp_path / "tls.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in stores.items()) + "broker.id=x\n")
    assert client_values(file, {}) == parse_client(stores, {})
    assert set(client_values(None, {})) == {key.name for key in ZK_SSL_CONFIGS}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("zookeeper.ssl.keystore.location", "/nowhere.pem"),
        ("zookeeper.ssl.truststore.location", "/nowhere.p12"),
        ("zookeeper.ssl.truststore.type", "BCFKS"),
        ("zookeeper.ssl.enabled.protocols", "TLSv1"),
        ("zookeeper.ssl.cipher.suites", "TLS_NONE"),
        ("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNIO"),
        ("zookeeper.ssl.crl.enable", "true"),
        ("zookeeper.ssl.ocsp.enable", "true"),
    ],
)
def test_an_error_names_the_key_that_was_set(stores: dict[str, str], key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key) as error:
        client_ssl_factory(parse_client(stores | {key: value}, {}))
    assert error.value.name == key


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("keyStore.location", "/nowhere.pem"),
        ("trustStore.location", "/nowhere.jks"),
        ("ciphersuites", "TLS_NONE"),
        ("enabledProtocols", "SSLv3"),
        ("clientAuth", "perhaps"),
    ],
)
def test_an_error_has_zookeepers_name_in_its_own_file(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"ssl.{key}"):
        server(tmp_path, **{key: value})


def test_a_server_needs_a_key() -> None:
    with pytest.raises(ConfigError, match=r"ssl\.keyStore\.location"):
        server_ssl_context(SECURE_PORT_CONFIGS.parse({}))
