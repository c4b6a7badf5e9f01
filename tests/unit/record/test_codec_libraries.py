"""A codec whose library is not installed."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.record import compression
from kafka_lite.record.codec_libraries import MissingLibrary
from kafka_lite.record.compression import CompressionType, compress, decompress

LIBRARIES = {
    CompressionType.SNAPPY: "cramjam",
    CompressionType.LZ4: "lz4_frame",
    CompressionType.ZSTD: "zstandard",
}


@pytest.mark.parametrize("codec", LIBRARIES)
def test_a_codec_without_its_library_is_unsupported(codec: CompressionType, monkeypatch: pytest.MonkeyPatch) -> None:
    compressed = compress(codec, b"data", 2)
    monkeypatch.setattr(compression, LIBRARIES[codec], MissingLibrary(LIBRARIES[codec]))
    monkeypatch.setattr(compression, "_of_thread", compression._ZstdOfThread())  # as when the module is imported
    for use in (lambda: compress(codec, b"data", 2), lambda: decompress(codec, compressed, 2)):
        with pytest.raises(ApiError, match="is not installed") as raised:
            use()
        assert raised.value.error is Errors.UNSUPPORTED_COMPRESSION_TYPE
    for other in set(CompressionType) - {codec}:
        assert decompress(other, compress(other, b"data", 2), 2) == b"data"


def test_a_missing_library_has_no_dunder_attributes() -> None:
    assert not hasattr(MissingLibrary("lz4"), "__file__")  # inspect and pickle ask for such names
