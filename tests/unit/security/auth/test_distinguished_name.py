from __future__ import annotations

import contextlib
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.security.auth.distinguished_name import CertificateError, subject_of
from tests.support.kafka_security_samples import accepted

SAMPLES = accepted("distinguished_name")
DER = ssl.PEM_cert_to_DER_cert(SAMPLES[0][0][0])


@pytest.mark.parametrize(("given", "name"), SAMPLES)
def test_a_subject_is_written_as_java_writes_it(given: list[str], name: str) -> None:
    assert subject_of(ssl.PEM_cert_to_DER_cert(given[0])) == name


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes(2, "big")
    return bytes([tag, 0x82]) + length + content


def certificate(*attributes: tuple[bytes, bytes], version: bool = True) -> bytes:
    """A certificate without key and signature, whose subject has these attributes: number and value, in DER."""
    parts = [der(0x31, der(0x30, der(0x06, number), value)) for number, value in attributes]
    versions = [der(0xA0, der(0x02, b"\2"))] if version else []
    serial, algorithm, issuer, validity = der(0x02, b"\1"), der(0x30), der(0x30), der(0x30)
    return der(0x30, der(0x30, *versions, serial, algorithm, issuer, validity, der(0x30, *parts)))


CN, OU = bytes([0x55, 4, 3]), bytes([0x55, 4, 11])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (der(0x0C, "Ünï".encode()), "Ünï"),
        (der(0x13, b"alice"), "alice"),
        (der(0x14, "é".encode("latin-1")), "é"),
        (der(0x16, b"alice"), "alice"),
        (der(0x1C, "日".encode("utf-32-be")), "日"),
        (der(0x1E, "日本".encode("utf-16-be")), "日本"),
        (der(0x0C, b"x" * 300), "x" * 300),
        (der(0x02, b"\5"), "#020105"),
    ],
)
def test_a_value_is_decoded_by_its_kind(value: bytes, text: str) -> None:
    assert subject_of(certificate((CN, value))) == f"CN={text}"


def test_a_name_cannot_pretend_to_have_more_parts() -> None:
    assert subject_of(certificate((CN, der(0x0C, b"mallory,CN=admin")))) == r"CN=mallory\,CN\=admin"
    assert subject_of(certificate((CN, der(0x0C, b"admin\0.example.com")))) == r"CN=admin\00.example.com"
    assert subject_of(certificate((OU, der(0x0C, b'a+"b"')), (CN, der(0x0C, b" c ")))) == r"CN=\ c\ ,OU=a\+\"b\""


def test_a_certificate_of_version_1_has_no_version() -> None:
    assert subject_of(certificate((CN, der(0x0C, b"old")), version=False)) == "CN=old"


def test_a_certificate_without_a_subject_has_an_empty_name() -> None:
    assert subject_of(certificate()) == ""


@given(st.integers(0, 120))
def test_a_truncated_certificate_is_refused(length: int) -> None:
    with pytest.raises(CertificateError):
        subject_of(DER[:length])


@given(st.binary(max_size=60))
def test_garbage_is_read_or_refused(garbage: bytes) -> None:
    with contextlib.suppress(CertificateError):
        subject_of(garbage)
