"""CRC-32C without the package agrees with the package."""

from __future__ import annotations

import crc32c as package
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.pure_python_crc32c import crc32c


def test_checksum_of_the_standard_test_vectors() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@given(data=st.binary(max_size=300), value=st.integers(0, 2**32 - 1))
def test_the_package_computes_the_same(data: bytes, value: int) -> None:
    assert crc32c(data, value) == package.crc32c(data, value)


@given(data=st.binary(max_size=100), at=st.integers(0, 100))
def test_a_checksum_can_be_continued(data: bytes, at: int) -> None:
    assert crc32c(memoryview(data)[at:], crc32c(data[:at])) == crc32c(data)
