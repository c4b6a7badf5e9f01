"""SaslAuthenticate: a token of a SASL exchange.

Kafka 1.0: clients/.../common/requests/SaslAuthenticateRequest.java · book 2.3.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, bytes_, int16, int64, string


class SaslAuthenticateRequest(Request, api_key=ApiKey.SASL_AUTHENTICATE, versions="0-2", flexible="2+"):
    """The client's token.

    v2  compact lengths and tagged fields
    """

    auth_bytes: bytes = bytes_()  # as the mechanism defines it


class SaslAuthenticateResponse(Response, api_key=ApiKey.SASL_AUTHENTICATE, versions="0-2", flexible="2+"):
    """The broker's token.

    v1  session_lifetime_ms: when the client must authenticate again
    v2  compact lengths and tagged fields
    """

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    auth_bytes: bytes = bytes_()
    session_lifetime_ms: int = int64(versions="1+", ignorable=True)  # 0 for ever
