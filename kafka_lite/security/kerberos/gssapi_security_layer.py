"""The last two messages of GSSAPI, which choose how the connection is protected: in Kafka, not at all beyond TLS.

::

    broker, wrapped    layers offered: 1 byte | largest message that it takes: 3 bytes
    client, wrapped    the layer chosen: 1 byte | largest message: 3 bytes | whom it wants to be: UTF-8, or nothing

Layers are bits: 1 none, 2 integrity, 4 confidentiality. Only 1 is known here, and then no message is too large.

Kafka 0.10.2: none; com.sun.security.sasl.gsskerb.GssKrb5Server, GssKrb5Client, after RFC 4752 · book 2.3.2
"""

from __future__ import annotations

from kafka_lite.security.sasl.sasl_mechanism import SaslError

NO_LAYER = 1
_LENGTH = 4
_NO_LIMIT = bytes(3)


def offer() -> bytes:
    """The broker's message."""
    return bytes([NO_LAYER]) + _NO_LIMIT


def choice(offered: bytes, authorization_id: str) -> bytes:
    """The client's answer. Raises SaslError if the broker insists on a layer."""
    if len(offered) != _LENGTH:
        raise SaslError(f"The broker's offer of security layers has {len(offered)} bytes, not {_LENGTH}")
    if not offered[0] & NO_LAYER:
        raise SaslError(f"The broker asks for one of the security layers {offered[0]}; only none (1) is supported")
    return bytes([NO_LAYER]) + _NO_LIMIT + authorization_id.encode()


def authorization_id_of(chosen: bytes) -> str:
    """Whom the client wants to be, empty for itself. Raises SaslError for a layer that was not offered."""
    if len(chosen) < _LENGTH:
        raise SaslError(f"The client's choice of a security layer has {len(chosen)} bytes, not at least {_LENGTH}")
    if chosen[0] != NO_LAYER:
        raise SaslError(f"Client selected unsupported protection: {chosen[0]}")
    return chosen[_LENGTH:].decode("utf-8", "replace")
