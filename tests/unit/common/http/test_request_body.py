import io

import pytest

from kafka_lite.common.http.http_messages import HttpRequestError
from kafka_lite.common.http.request_body import read_body

CHUNKED = {"transfer-encoding": "chunked"}


def test_as_many_bytes_as_are_announced() -> None:
    stream = io.BytesIO(b"abcdef")
    assert read_body(stream, {"content-length": "4"}) == b"abcd"
    assert stream.read() == b"ef"
    assert read_body(stream, {}) == b""


def test_chunks_are_put_together() -> None:
    stream = io.BytesIO(b"3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: z\r\n\r\nnext")
    assert read_body(stream, CHUNKED, max_bytes=13) == b"abc0123456789"
    assert stream.read() == b"next"


@pytest.mark.parametrize(
    ("headers", "sent", "status"),
    [
        ({"content-length": "11"}, b"a" * 11, 413),
        ({"content-length": "9" * 5000}, b"", 413),
        ({"content-length": "-1"}, b"", 400),
        ({"content-length": "4"}, b"abc", 400),
        ({"transfer-encoding": "gzip"}, b"", 501),
        (CHUNKED, b"6\r\nabcdef\r\n5\r\nabcde\r\n0\r\n\r\n", 413),
        (CHUNKED, b"FFFFFFFFFFFFFFFF\r\n", 413),
        (CHUNKED, b"0x1\r\na\r\n0\r\n\r\n", 400),
        (CHUNKED, b"1\r\nab\r\n0\r\n\r\n", 400),
        (CHUNKED, b"5\r\nab", 400),
        (CHUNKED, b"", 400),
    ],
)
def test_other_bodies_are_refused(headers: dict[str, str], sent: bytes, status: int) -> None:
    with pytest.raises(HttpRequestError) as refused:
        read_body(io.BytesIO(sent), headers, max_bytes=10)
    assert refused.value.status == status
