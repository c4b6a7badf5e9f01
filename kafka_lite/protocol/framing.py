"""Requests and responses as frames: a header, then the message.

    frame on the socket    size:int32 | header | message

The network layer writes and reads the size. Everything here starts after it.

Kafka 0.10.2: clients/.../common/requests/AbstractRequest.java, RequestHeader.java,
clients/.../common/network/NetworkSend.java · book 2.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka_lite.common.sendable import Buffer, Part
from kafka_lite.protocol.api_keys import API_SPECS, ApiKey, ApiSpec
from kafka_lite.protocol.encoder_compiler import LongArrayError
from kafka_lite.protocol.malformed_text import REPLACE_OR_REFUSE
from kafka_lite.protocol.messages.headers import RequestHeader, ResponseHeader
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from kafka_lite.protocol.wire_types import Primitive


class _Codec(NamedTuple):
    """The properties of one version of one API, computed once because every request needs them."""

    request_header_version: int
    response_header_version: int
    request: type[Request]
    has_records: bool
    """Whether the response may contain records."""


_SPECS: dict[int, ApiSpec] = {int(key): spec for key, spec in API_SPECS.items()}
_CODECS: dict[tuple[int, int], _Codec] = {
    (key, version): _Codec(
        spec.request_header_version(version),
        spec.response_header_version(version),
        spec.request,
        spec.response.HAS_RECORDS,
    )
    for key, spec in _SPECS.items()
    for version in range(spec.min_version, spec.max_version + 1)
}
SMALL_BYTES = 4096
"""Up to this size, copying bytes costs less than writing them to a socket separately."""
_KEY_AND_VERSION = struct.Struct(">hh")
_USUAL_HEADER = struct.Struct(">hhih")
"""The start of all request headers but version 0: key, version, correlation id, length of the client id."""
_new_header = RequestHeader.maker("api_key", "api_version", "correlation_id", "client_id")
_PACK_RESPONSE_HEADER = (struct.Struct(">i").pack, struct.Struct(">ix").pack)
"""By header version: the correlation id; the correlation id and a zero, which means no tagged fields."""


def encode_request(request: Request, version: int, correlation_id: int, client_id: str | None) -> bytes:
    """A request with its header, without the size. Raises ``SchemaError``."""
    spec = _spec_of(request.API_KEY)
    header = RequestHeader(api_key=spec.key, api_version=version, correlation_id=correlation_id, client_id=client_id)
    return header.encode(spec.request_header_version(version)) + request.encode(version)


def encode_request_parts(request: Request, version: int, correlation_id: int, client_id: str | None) -> list[Part]:
    """Encode in parts, passing records through unread. Raises ``SchemaError``."""
    spec = _spec_of(request.API_KEY)
    header = RequestHeader(api_key=spec.key, api_version=version, correlation_id=correlation_id, client_id=client_id)
    parts: list[Part] = []
    header.encode_to(parts, spec.request_header_version(version))
    request.encode_to(parts, version)
    return join_small_parts(parts)


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """The header of a request, and the position after it.

    An unknown version of the API is accepted, an unknown key raises ``UnsupportedVersionError``. Raises ``SchemaError``
    for a frame that is too short.
    """
    if len(frame) < _KEY_AND_VERSION.size:
        raise SchemaError(f"a frame of {len(frame)} bytes has no request header")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    spec = _spec_of(key)
    return RequestHeader.decode_from(frame, 0, spec.request_header_version(version))


def decode_request(frame: Buffer) -> tuple[RequestHeader, Request]:
    """Read a request. Its records are views of the frame.

    Raises ``UnsupportedVersionError`` for a key or version without a codec, with the header if it could be read, and
    ``SchemaError`` for invalid bytes.
    """
    view = frame if isinstance(frame, memoryview) else memoryview(frame)
    if len(view) > _USUAL_HEADER.size:
        key, version, correlation_id, length = _USUAL_HEADER.unpack_from(view)
        codec = _CODECS.get((key, version))
        if codec is not None and codec.request_header_version == 1 and length >= 0:
            position = _USUAL_HEADER.size + length
            if position <= len(view):
                client_id = view[_USUAL_HEADER.size : position].tobytes().decode("utf-8", REPLACE_OR_REFUSE)
                header = _new_header(key, version, correlation_id, client_id)
                return header, codec.request.decode_from(view, position, version)[0]
    return _decode_any_request(view)


def decode_bounded_request(frame: Buffer, max_elements: int) -> tuple[RequestHeader, Request]:
    """The same, with another bound than the request's own for the elements of its arrays."""
    return _decode_any_request(frame if isinstance(frame, memoryview) else memoryview(frame), max_elements)


def decode_request_head(frame: Buffer) -> Request:
    """The numbers at the start of a request, up to its first field of another type; all others have their defaults.

    Raises ``UnsupportedVersionError`` and ``SchemaError`` as ``decode_request`` does.
    """
    header, position = decode_request_header(frame)
    request = _spec_of(header.api_key).request
    request.check_version(header.api_version)
    head = request()
    for field in request.FIELDS:
        if not field.is_plain_in(header.api_version):
            continue
        if not isinstance(field.type, Primitive):
            break
        if len(frame) - position < field.type.size:
            raise SchemaError(f"{request.__name__} v{header.api_version}: the bytes end before {field.name}")
        (value,) = struct.unpack_from(f">{field.type.code}", frame, position)
        setattr(head, field.name, value)
        position += field.type.size
    return head


def _decode_any_request(frame: memoryview, max_elements: int | None = None) -> tuple[RequestHeader, Request]:
    """For any header, and for invalid bytes."""
    codec = _CODECS.get(_KEY_AND_VERSION.unpack_from(frame)) if len(frame) >= _KEY_AND_VERSION.size else None
    if codec is None:
        header, _ = decode_request_header(frame)
        raise UnsupportedVersionError(f"{ApiKey(header.api_key).name} has no version {header.api_version} here", header)
    header, position = RequestHeader.decode_from(frame, 0, codec.request_header_version)
    return header, codec.request.decode_from(frame, position, header.api_version, max_elements)[0]


def encode_response(response: Response, version: int, correlation_id: int) -> list[Part]:
    """A response with its header, in parts, with records passed through unread. Raises ``SchemaError``."""
    try:
        return encode_short_response(response, version, correlation_id)
    except LongArrayError:
        return [part for parts in encode_response_slices(response, version, correlation_id) for part in parts]


def encode_short_response(response: Response, version: int, correlation_id: int) -> list[Part]:
    """The same for a response without long arrays. Raises ``LongArrayError`` if it has one."""
    codec = _codec_of(response, version)
    parts: list[Part] = [_PACK_RESPONSE_HEADER[codec.response_header_version](correlation_id)]
    response.encode_short_to(parts, version)
    return join_small_parts(parts) if codec.has_records else [b"".join(parts)]  # type: ignore[arg-type]  # bytes all


def encode_response_slices(response: Response, version: int, correlation_id: int) -> Iterator[list[Part]]:
    """A response with its header, some parts at a time: each takes about a millisecond."""
    header = _PACK_RESPONSE_HEADER[_codec_of(response, version).response_header_version](correlation_id)
    for number, pieces in enumerate(response.encode_slices(version)):
        yield join_small_parts(pieces if number else [header, *pieces])


def join_small_parts(parts: list[Part]) -> list[Part]:
    """Join adjacent short bytes. Long ones, views and sendables, which are records, stay separate."""
    joined: list[Part] = []
    run: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes) and len(part) <= SMALL_BYTES:
            run.append(part)
            continue
        if run:
            joined.append(b"".join(run))
            run.clear()
        joined.append(part)
    if run:
        joined.append(b"".join(run))
    return joined


def _codec_of(response: Response, version: int) -> _Codec:
    codec = _CODECS.get((response.API_KEY, version))
    if codec is None:
        raise UnsupportedVersionError(f"{response.API_KEY.name} has no version {version} here")
    return codec


def decode_response(api_key: int, version: int, frame: Buffer) -> tuple[int, Response]:
    """Read the response to a request of this key and version; returns the correlation id and the message.

    A broker that does not know the version of an ApiVersions request responds in version 0, so that is tried as well.
    Raises ``SchemaError``.
    """
    spec = _spec_of(api_key)
    header, position = ResponseHeader.decode_from(frame, 0, spec.response_header_version(version))
    try:
        return header.correlation_id, spec.response.decode_from(frame, position, version)[0]
    except SchemaError:
        if spec.key is not ApiKey.API_VERSIONS or version == 0:
            raise
    return header.correlation_id, spec.response.decode_from(frame, position, 0)[0]


def _spec_of(key: int) -> ApiSpec:
    spec = _SPECS.get(key)
    if spec is None:
        raise UnsupportedVersionError(f"there is no API with key {key} here")
    return spec
