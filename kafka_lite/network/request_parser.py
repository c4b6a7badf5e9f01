"""From the bytes of a frame to a request, or to the reason why they are not one.

Kafka 0.10.2: core/.../network/RequestChannel.scala (Request), clients/.../requests/AbstractRequest.java · book 2.3.3
"""

from __future__ import annotations

import struct
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.protocol.api_key import LATER_APIS, ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import decode_bounded_request, decode_request, decode_request_header
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError

MAX_DECODED_BYTES: Final = 64 * 1024
"""The size up to which a network thread decodes a request: a larger one can hold so many elements that the thread's
other connections would notice."""
MAX_DECODED_PRODUCE_BYTES: Final = 256 * 1024
"""The same for Produce, whose records are not decoded."""
UNDECODED: Final = ApiVersionsRequest()
"""The body of a request that is not decoded yet."""

_KEY_AND_VERSION = struct.Struct(">hh")


class InvalidRequestError(KafkaError):
    """The frame is not a request of Kafka's protocol; the message says why."""


class LaterApiError(InvalidRequestError):
    """A request of an API that Kafka has, but this broker has no codec for."""

    def __init__(self, header: RequestHeader) -> None:
        super().__init__(f"{LATER_APIS[header.api_key]} version {header.api_version} is not supported by this broker")
        self.header = header


def parse_request(frame: memoryview, max_elements: int | None = None) -> tuple[RequestHeader, Message, bool]:
    """Decode header and body; the third value is ``Request.unsupported_api_version``.

    ``max_elements`` replaces the bound that the request has for the elements of its arrays.

    Raises InvalidRequestError for bytes that are not a request of a known version, LaterApiError if they may be one of
    an API that is not known here.

    One exception: with an ApiVersions request of an unknown version a newer client asks for a version that both sides
    know, so it must get a response. It passes with an empty body and the flag set.
    """
    try:
        header, body = decode_request(frame) if max_elements is None else decode_bounded_request(frame, max_elements)
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


def parse_large_request(frame: memoryview) -> tuple[RequestHeader, Message, bool]:
    """Decode only the header of a frame above ``MAX_DECODED_BYTES``; the body is ``UNDECODED``.

    What needs no time is done at once, as ``parse_request`` does it: a Produce request that is not too large, and any
    request that is refused for its header.
    """
    try:
        header, _ = decode_request_header(frame)
    except SchemaError:
        return parse_request(frame)
    key = ApiKey(header.api_key)
    if header.api_version not in API_SPECS[key].request.VERSIONS:
        return parse_request(frame)
    if key is ApiKey.PRODUCE and len(frame) <= MAX_DECODED_PRODUCE_BYTES:
        return parse_request(frame)
    return header, UNDECODED, False


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
