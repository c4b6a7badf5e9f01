r"""The name of a certificate's subject, as Java writes it: ``CN=alice,OU=Sales\, North,O=Example,C=DE``.

A certificate is DER: each value has a tag, a length and its content, which may be more values. ::

    Certificate     SEQUENCE { tbsCertificate, signatureAlgorithm, signature }
    tbsCertificate  SEQUENCE { [0] version?, serialNumber, signature, issuer, validity, subject, … }
    subject         SEQUENCE of SET of SEQUENCE { type: OBJECT IDENTIFIER, value: a string of some kind }

The text lists the parts from the last to the first, as RFC 2253 asks for. A part without a keyword there, such as an
e-mail address, is its number and the bytes of its DER: ``1.2.840.113549.1.9.1=#160f…``.

Kafka 0.10.2: none; javax.security.auth.x500.X500Principal.getName, which SSL principals have for a name · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafka_lite.common.errors import KafkaError

KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_VERSION = 0xA0
_ENCODINGS = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1C: "utf-32-be", 0x1E: "utf-16-be"}
"""By tag: UTF8String, PrintableString, T61String, IA5String, UniversalString, BMPString."""
_ESCAPED = frozenset(',=+<>#;"\\')


class CertificateError(KafkaError):
    """Bytes that are no certificate."""


class _Der(NamedTuple):
    """A value: its tag, its content, and all of its bytes."""

    tag: int
    content: bytes
    encoded: bytes


def subject_of(certificate: bytes) -> str:
    """The subject's name of a certificate in DER. Raises CertificateError."""
    try:
        body = list(_values(next(_values(next(_values(certificate)).content)).content))
        subject = body[5 if body[0].tag == _VERSION else 4]
        parts = [_part(relative) for relative in _values(subject.content)]
    except (IndexError, StopIteration, UnicodeDecodeError) as error:
        raise CertificateError("not a certificate in DER") from error
    return ",".join(reversed(parts))


def _values(der: bytes) -> Iterator[_Der]:
    """The values in ``der``, one after the other."""
    at = 0
    while at < len(der):
        start = at
        tag, length = der[at], der[at + 1]
        at += 2
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(der[at : at + count], "big")
            at += count
        if at + length > len(der):
            raise IndexError("a value is longer than its place")
        yield _Der(tag, der[at : at + length], der[start : at + length])
        at += length


def _part(relative: _Der) -> str:
    """A relative name: most have one attribute; several are joined by ``+``."""
    return "+".join(_attribute(*_values(attribute.content)) for attribute in _values(relative.content))


def _attribute(kind: _Der, value: _Der) -> str:
    number = _object_identifier(kind.content)
    keyword, encoding = KEYWORDS.get(number), _ENCODINGS.get(value.tag)
    if keyword is None or encoding is None:
        return f"{keyword or number}=#{value.encoded.hex()}"
    return f"{keyword}={_escaped(value.content.decode(encoding))}"


def _object_identifier(content: bytes) -> str:
    """Seven bits per byte, the highest first; the first number holds two."""
    numbers, number = [], 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _escaped(text: str) -> str:
    escaped = ["\\00" if char == "\0" else "\\" + char if char in _ESCAPED else char for char in text]
    core = text.strip(" ")
    leading = len(text) - len(text.lstrip(" "))
    for at, char in enumerate(escaped):
        if char == " " and not leading <= at < leading + len(core):
            escaped[at] = "\\ "
    return "".join(escaped)
