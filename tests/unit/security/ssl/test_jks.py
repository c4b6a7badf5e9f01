"""Key stores that Java's keytool has made, byte for byte; a wrong password and every cut are errors."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from kafka_lite.security.ssl.jks import JksError, load_jks

STORES = Path(__file__).parents[3] / "data" / "security" / "stores"
KEYS = (STORES / "broker.jks").read_bytes()
TRUST = (STORES / "trust.jks").read_bytes()


def test_a_private_key_with_a_password_of_its_own() -> None:
    store = load_jks(KEYS, "of-store")
    (key,) = store.private_keys
    assert store.trusted == []
    assert key.unlock("of-key")[:4] == bytes.fromhex("30410201"), "PKCS #8, version 0"
    assert key.chain == load_jks(TRUST, "of-store").trusted
    assert "BEGIN CERTIFICATE" in ssl.DER_cert_to_PEM_cert(key.chain[0])


def test_certificates_need_no_password() -> None:
    assert len(load_jks(TRUST, None).trusted) == 1


@pytest.mark.parametrize("password", ["", "of-stor", "of-store ", "OF-STORE"])
def test_a_wrong_password_is_noticed(password: str) -> None:
    with pytest.raises(JksError, match="tampered with, or its password is wrong"):
        load_jks(TRUST, password)
    (key,) = load_jks(KEYS, "of-store").private_keys
    with pytest.raises(JksError, match=r"set ssl\.key\.password"):
        key.unlock(password)


@pytest.mark.parametrize("at", [5, 60, len(TRUST) - 30])
def test_a_changed_byte_is_noticed(at: int) -> None:
    changed = TRUST[:at] + bytes([TRUST[at] ^ 1]) + TRUST[at + 1 :]
    with pytest.raises(JksError, match="tampered with"):
        load_jks(changed, "of-store")


def test_every_cut_is_an_error() -> None:
    for size in range(len(KEYS) - 20):
        with pytest.raises(JksError):
            load_jks(KEYS[:size], None)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04" * 9, "is no key store"),
        (KEYS[:4] + bytes.fromhex("00000001") + KEYS[8:], "version 2"),
        (KEYS[:12] + bytes.fromhex("00000003") + KEYS[16:], "an entry of an unknown kind, 3"),
        (TRUST.replace(b"X.509", b"PGP.1"), "of the kind PGP.1, not X.509"),
    ],
)
def test_other_content_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(JksError, match=says):
        load_jks(data, None)
