"""The libraries of the codecs, written in C. A missing one makes its codec unsupported, and nothing else.

Kafka 3.9: clients/.../common/compress/SnappyCompression.java, ZstdCompression.java · book 2.1.1

Kafka, too, loads snappy and zstd only when they are used, since both are native libraries. A page in a browser has
none of them.
"""

from __future__ import annotations

import struct
import zlib
from types import ModuleType
from typing import Any

from kafka_lite.common.errors import Errors

__all__ = ["DECOMPRESSION_ERRORS", "MissingLibrary", "cramjam", "lz4_frame", "xxhash", "zstandard"]


class MissingLibrary(ModuleType):
    """Takes the place of a library that is not installed. Every use raises UNSUPPORTED_COMPRESSION_TYPE."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception(f"The library {self.__name__} is not installed")


DECOMPRESSION_ERRORS: tuple[type[Exception], ...] = (zlib.error, struct.error, RuntimeError)
"""The errors that mean that data is corrupt. lz4 raises RuntimeError."""

try:
    import cramjam
except ImportError:
    cramjam = MissingLibrary("cramjam")
else:
    DECOMPRESSION_ERRORS += (cramjam.DecompressionError,)

try:
    import lz4.frame as lz4_frame
except ImportError:
    lz4_frame = MissingLibrary("lz4")

try:
    import xxhash
except ImportError:
    xxhash = MissingLibrary("xxhash")

try:
    import zstandard
except ImportError:
    zstandard = MissingLibrary("zstandard")
else:
    DECOMPRESSION_ERRORS += (zstandard.ZstdError,)
