"""The headers of requests and responses.

    request header    v0: api_key api_version correlation_id
                      v1: … client_id                        v2: … client_id tagged_fields
    response header   v0: correlation_id                     v1: correlation_id tagged_fields

The API and its version determine the version of the header: see ``framing``.

Kafka 0.10.2: clients/.../common/requests/RequestHeader.java, ResponseHeader.java · book 2.1.3
"""

from __future__ import annotations

from kafka_lite.protocol.schema import Message, int16, int32, string


class RequestHeader(Message, versions="0-2", flexible="2+"):
    """The API, its version, the client's name, and the correlation id that the response repeats.

    Version 0 is only used by ControlledShutdown v0. The client id keeps its int16 length in version 2, since a broker
    must be able to read it even if it does not know the version of the request.
    """

    api_key: int = int16()
    api_version: int = int16()
    correlation_id: int = int32()
    client_id: str | None = string(versions="1+", nullable="1+", default=None, ignorable=True, flexible="none")


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    """The correlation id of the request, by which the client matches the response."""

    correlation_id: int = int32()
