"""From the bytes of a frame to a request, or to the reason why they are not one.

Kafka 0.10.2: core/.../network/RequestChannel.scala (Request), clients/.../requests/AbstractRequest.java · book 2.3.3
"""

from __future__ import annotations

import struct

from kafka_lite.common.errors import KafkaError
from kafka_lite.protocol.api_key import LATER_APIS, ApiKey
from kafka_lite.protocol.framing import decode_request
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError

_KEY_AND_VERSION = struct.Struct(">hh")


class InvalidRequestError(KafkaError):
    """The frame is not a request of Kafka's protocol; the message says why."""


class LaterApiError(InvalidRequestError):
    """A request of an API that Kafka has, but this broker has no codec for."""

    def __init__(self, header: RequestHeader) -> None:
        super().__init__(f"{LATER_APIS[header.api_key]} version {header.api_version} is not supported by this broker")
        self.header = header


def parse_request(frame: memoryview) -> tuple[RequestHeader, Message, bool]:
    """Decode header and body; the third value is ``Request.unsupported_api_version``.

    Raises InvalidRequestError for bytes that are not a request of a known version, LaterApiError if they may be one of
    an API that is not known here.

    One exception: with an ApiVersions request of an unknown version a newer client asks for a version that both sides
    know, so it must get a response. It passes with an empty body and the flag set.
    """
    try:
        header, body = decode_request(frame)
    except UnsupportedVersionError as error:
        unserved = error.header
        if unserved is None:
            raise _unknown_api(frame, error) from error
        if unserved.api_key != ApiKey.API_VERSIONS:
            raise InvalidRequestError(str(error)) from error
        return unserved, ApiVersionsRequest(), True
    except SchemaError as error:
        raise InvalidRequestError(f"{_best_guess(frame)}: {error}") from error
    return header, body, False


def _unknown_api(frame: memoryview, error: SchemaError) -> InvalidRequestError:
    """Every header since version 1 begins with the same fields, so the client's id can be read without a codec."""
    try:
        header, _ = RequestHeader.decode_from(frame, 0, 1)
    except SchemaError:
        return InvalidRequestError(str(error))
    return LaterApiError(header) if header.api_key in LATER_APIS else InvalidRequestError(str(error))


def _best_guess(frame: memoryview) -> str:
    """A guess at what the frame is, for the error message."""
    if len(frame) < _KEY_AND_VERSION.size:
        return "not a request"
    return "error parsing a request with apiKey {} and apiVersion {}".format(*_KEY_AND_VERSION.unpack_from(frame))
