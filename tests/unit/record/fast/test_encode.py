"""The fast encoder writes the same bytes as the plain one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.record import default_record
from kafka_lite.record.fast.encode import encode_record
from tests.support.examples import examples

numbers = st.sampled_from([0, 1, 63, 64, 4095, 4096, 8192, -1, -70, 2**60])
fields = st.none() | st.sampled_from([0, 1, 63, 64, 4000, 4063, 4064, 4065, 4095, 4096, 9000]).map(
    lambda size: b"x" * size
)
headers = st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=3)


@settings(derandomize=True, max_examples=examples(300))
@given(numbers, numbers, fields, fields, headers)
def test_it_agrees_with_the_plain_encoder(
    timestamp_delta: int,
    offset_delta: int,
    key: bytes | None,
    value: bytes | None,
    headers: list[tuple[str, bytes | None]],
) -> None:
    arguments = (timestamp_delta, offset_delta, key, value, headers)
    assert encode_record(*arguments) == default_record.encode_record(*arguments)


def test_it_accepts_any_buffer() -> None:
    expected = default_record.encode_record(1, 2, b"key", b"value", ())
    assert encode_record(1, 2, memoryview(b"key"), bytearray(b"value"), ()) == expected
