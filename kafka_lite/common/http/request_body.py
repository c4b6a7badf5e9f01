"""Reads the body of an HTTP request, up to a bound.

Kafka 0.10.2: Jetty's HttpInput, which has no bound · book 8.3.1
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Protocol

from kafka_lite.common.http.http_messages import HttpRequestError

MAX_BODY_BYTES = 8 * 1024 * 1024
"""No configuration of a connector is that large: each has to fit into one record of the config topic."""
_MAX_LINE_BYTES = 1024


class Stream(Protocol):
    """Where the bytes come from. An end in between is noticed by short results."""

    def read(self, size: int, /) -> bytes:
        """So many bytes."""
        ...

    def readline(self, size: int, /) -> bytes:
        """A line with its end, of so many bytes at most."""
        ...


def read_body(stream: Stream, headers: Mapping[str, str], max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body that the headers announce. Raises HttpRequestError; the connection is of no use then."""
    coding = headers.get("transfer-encoding")
    if coding is not None:
        if coding.strip().lower() != "chunked":
            raise HttpRequestError(HTTPStatus.NOT_IMPLEMENTED, f"Transfer-Encoding {coding} is not supported")
        return _read_chunks(stream, max_bytes)
    announced = headers.get("content-length", "0").strip()
    if not (announced.isascii() and announced.isdigit()):
        raise _bad("Content-Length is not a number")
    return _read(stream, _bounded(int(announced[:20]), max_bytes))


def _read_chunks(stream: Stream, max_bytes: int) -> bytes:
    body = bytearray()
    while size := _chunk_size(stream.readline(_MAX_LINE_BYTES)):
        _bounded(len(body) + size, max_bytes)
        body += _read(stream, size)
        if stream.readline(_MAX_LINE_BYTES).strip():
            raise _bad("a chunk is longer than it says")
    while stream.readline(_MAX_LINE_BYTES).strip():
        pass  # trailers
    return bytes(body)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 16 or digits.strip(b"0123456789abcdefABCDEF"):
        raise _bad("the size of a chunk is not a number")
    return int(digits, 16)


def _bounded(size: int, max_bytes: int) -> int:
    if size > max_bytes:
        raise HttpRequestError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The request's body is larger than {max_bytes} bytes"
        )
    return size


def _read(stream: Stream, size: int) -> bytes:
    body = stream.read(size)
    if len(body) < size:
        raise _bad("the connection ended within the body")
    return body


def _bad(problem: str) -> HttpRequestError:
    return HttpRequestError(HTTPStatus.BAD_REQUEST, f"The request's body cannot be read: {problem}")
