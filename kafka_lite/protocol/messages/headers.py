"""What stands before every request and every answer.

    request header    v0: api_key api_version correlation_id
                      v1: … client_id                        v2: … client_id tagged_fields
    response header   v0: correlation_id                     v1: correlation_id tagged_fields

Which version of the header is used follows from the API and its version: see ``framing``.

Kafka 0.10.2: clients/.../common/requests/RequestHeader.java, ResponseHeader.java · book 2.1.3
"""

from __future__ import annotations

from kafka_lite.protocol.schema import Message, int16, int32, string


class RequestHeader(Message, versions="0-2", flexible="2+"):
    """Which API is called, in which version, by whom, and the number that the answer will repeat.

    Version 0 is only used by ControlledShutdown v0. The client id keeps its int16 length in version 2, since a broker
    must be able to read it before it knows whether it knows the version of the request.
    """

    api_key: int = int16()
    api_version: int = int16()
    correlation_id: int = int32()
    client_id: str | None = string(versions="1+", nullable="1+", default=None, ignorable=True, flexible="none")


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    """The number that the request carried, by which the client finds what it asked."""

    correlation_id: int = int32()
