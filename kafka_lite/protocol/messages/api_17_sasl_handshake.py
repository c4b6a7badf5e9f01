"""SaslHandshake: the SASL mechanism that the client will use.

Kafka 0.10.2: clients/.../common/requests/SaslHandshakeRequest.java, SaslHandshakeResponse.java · book 2.3.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, array, int16, string


class SaslHandshakeRequest(Request, api_key=ApiKey.SASL_HANDSHAKE, versions="0-1"):
    """The mechanism that the client chooses.

    v0  raw SASL tokens follow, without headers
    v1  the tokens follow in SaslAuthenticate requests
    """

    mechanism: str = string()


class SaslHandshakeResponse(Response, api_key=ApiKey.SASL_HANDSHAKE, versions="0-1"):
    """The mechanisms that the broker offers."""

    error_code: int = int16()
    mechanisms: list[str] = array(string)
