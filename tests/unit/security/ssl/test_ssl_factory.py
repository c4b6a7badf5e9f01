from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from kafka_lite.common.config_def import ConfigError, Password
from kafka_lite.security.ssl.ssl_factory import SslFactory
from tests.support.certificates import Pem, certificate, keys_and_trust, server_certificate


def context(config: dict[str, object], *, server: bool = True) -> ssl.SSLContext:
    return SslFactory(config, server=server)._context


def server_config(**settings: object) -> dict[str, object]:
    return keys_and_trust(server_certificate(), **settings)  # type: ignore[arg-type]


def encrypted(pem: Pem, password: str) -> str:
    key = serialization.load_pem_private_key(pem.key.encode(), None)
    algorithm = serialization.BestAvailableEncryption(password.encode())
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, algorithm).decode()


def test_files_and_inline_text_are_the_same(tmp_path: Path) -> None:
    store, trust = server_certificate().write(tmp_path, "broker")
    files = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trust),
    }
    inline = keys_and_trust(server_certificate(), server_certificate())

    assert context(files).get_ca_certs() == context(inline).get_ca_certs() != []
    assert not list(tmp_path.glob("kafka-lite-*"))


@pytest.mark.parametrize("join", [" ", "\\n"])
def test_text_may_stand_on_one_line(join: str) -> None:
    pem = server_certificate()
    one_line = Pem(*(join.join(text.split("\n")) for text in (pem.key, pem.chain, pem.authority)))

    assert context(keys_and_trust(one_line, one_line)).get_ca_certs()


def test_passwords_are_unwrapped_and_open_the_key() -> None:
    pem = server_certificate()
    locked = Pem(encrypted(pem, "secret"), pem.chain, pem.authority)
    config = keys_and_trust(locked)
    config["ssl.keystore.key"] = Password(locked.key)

    context(config | {"ssl.key.password": Password("secret")})
    with pytest.raises(ConfigError, match=r"set ssl\.key\.password") as raised:
        context(config)
    assert "PRIVATE KEY" not in str(raised.value)
    with pytest.raises(ConfigError, match=r"ssl.keystore.key: cannot be loaded"):
        context(config | {"ssl.key.password": Password("wrong")})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"ssl.keystore.type": "JKS"},
            "JKS for configuration ssl.keystore.type: must be PEM for keys and certificates",
        ),
        ({"ssl.keystore.key": None}, "ssl.keystore.key: is missing"),
        ({"ssl.keystore.certificate.chain": None}, "ssl.keystore.certificate.chain: is missing"),
        ({"ssl.keystore.location": "/a"}, "ssl.keystore.location: cannot be set beside ssl.keystore.key"),
        ({"ssl.keystore.key": "garbage"}, "ssl.keystore.key: cannot be loaded"),
        ({"ssl.keystore.certificate.chain": "garbage"}, "ssl.keystore.key: cannot be loaded"),
        ({"ssl.truststore.certificates": "garbage"}, "ssl.truststore.certificates: cannot be loaded"),
        ({"ssl.truststore.location": "/not/there"}, "ssl.truststore.location: cannot be loaded: No such file"),
        ({"ssl.truststore.location": "/a", "ssl.truststore.certificates": "b"}, "cannot be set beside"),
        ({"ssl.truststore.location": "/a", "ssl.truststore.type": "BKS"}, "not supported; valid: PEM, JKS, PKCS12"),
        ({"ssl.enabled.protocols": ["TLSv1.1", "TLSv1.2"]}, "TLSv1.1 cannot be offered; valid: TLSv1.2 and TLSv1.3"),
        ({"ssl.cipher.suites": ["TLS_RSA_WITH_NULL_MD5"]}, "TLS_RSA_WITH_NULL_MD5 is not known"),
        (
            {"ssl.cipher.suites": ["TLS_AES_128_GCM_SHA256"], "ssl.enabled.protocols": ["TLSv1.2"]},
            "has only suites of TLSv1.3",
        ),
        ({"ssl.client.auth": "required"}, "ssl.truststore.location: is needed to check the certificates of clients"),
    ],
)
def test_an_error_names_the_key_and_shows_no_private_key(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        context(server_config() | changed)
    assert "BEGIN" not in str(raised.value)


def test_a_listener_needs_a_certificate_and_a_client_does_not() -> None:
    with pytest.raises(ConfigError, match="is needed for a listener with TLS"):
        context({})
    assert context({}, server=False).verify_mode is ssl.CERT_REQUIRED


def test_a_key_that_belongs_to_another_certificate_is_found_at_the_start() -> None:
    other = certificate("other.example")
    with pytest.raises(ConfigError, match="key values mismatch"):
        context(server_config() | {"ssl.keystore.key": other.key})


@pytest.mark.parametrize(
    ("names", "lowest", "highest"),
    [
        (None, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
        (["TLSv1.3"], ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
        (["TLSv1.2"], ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2),
        (["TLSv1.3", "TLSv1.2"], ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
    ],
)
def test_protocols(names: list[str] | None, lowest: ssl.TLSVersion, highest: ssl.TLSVersion) -> None:
    found = context(server_config() | {"ssl.enabled.protocols": names})
    assert (found.minimum_version, found.maximum_version) == (lowest, highest)


def test_ciphers_have_java_s_names() -> None:
    suites = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"]
    names = [cipher["name"] for cipher in context(server_config() | {"ssl.cipher.suites": suites}).get_ciphers()]

    older = [name for name in names if not name.startswith("TLS_")]
    assert older == ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"]


@pytest.mark.parametrize(("algorithm", "checks"), [(None, True), ("https", True), ("HTTPS", True), ("", False)])
def test_clients_check_host_names_unless_told_not_to(algorithm: str | None, checks: bool) -> None:
    config = {"ssl.endpoint.identification.algorithm": algorithm}
    assert context(config, server=False).check_hostname is checks


def test_another_identification_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be https, or empty"):
        context({"ssl.endpoint.identification.algorithm": "LDAPS"}, server=False)


@pytest.mark.parametrize(
    ("value", "mode"), [(None, ssl.CERT_NONE), ("requested", ssl.CERT_OPTIONAL), ("required", ssl.CERT_REQUIRED)]
)
def test_client_authentication(value: str | None, mode: ssl.VerifyMode) -> None:
    config = keys_and_trust(server_certificate(), server_certificate()) | {"ssl.client.auth": value}
    assert context(config).verify_mode is mode


def test_renegotiation_and_compression_are_off() -> None:
    options = context(server_config()).options
    assert options & ssl.OP_NO_RENEGOTIATION
    assert options & ssl.OP_NO_COMPRESSION


def test_a_replacement_has_the_changed_files_and_is_refused_if_it_cannot_be_loaded(tmp_path: Path) -> None:
    store, _ = server_certificate().write(tmp_path, "broker")
    config = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(store)}
    factory = SslFactory(config, server=True)
    first = factory._context
    assert (factory.has_changed_files, "CN=localhost" in factory.subject) == (False, True)
    other = certificate("other", common_name="other")
    store.write_text(other.key + other.chain)
    assert factory.has_changed_files

    factory.take_over(factory.replacement(config))
    assert factory._context is not first
    assert (factory.has_changed_files, "CN=other" in factory.subject) == (False, True)
    second = factory._context
    store.write_text("garbage")
    with pytest.raises(ConfigError):
        factory.replacement(config)
    assert factory._context is second
    store.unlink()
    assert factory.has_changed_files
