import pytest

from kafka_lite.connect.runtime.storage.java_hash_map import JavaStreamError, dump, load
from tests.support.samples import hex_sample

SAMPLE = hex_sample("connect-offsets-0.10.2.hex")


def test_the_file_of_a_real_worker() -> None:
    entries = load(SAMPLE)
    ((key, value),) = entries.items()
    assert key is not None
    assert key.startswith(b'["sa-src",{"filename":')
    assert value == b'{"position":37}'
    assert dump(entries) == SAMPLE


@pytest.mark.parametrize("size", [0, 1, 12, 13, 200])
def test_any_number_of_entries(size: int) -> None:
    entries: dict[bytes | None, bytes | None] = {b"k%d" % number: b"v" * number for number in range(size)}
    data = dump(entries)
    assert load(data) == entries
    capacity = int.from_bytes(data[data.index(b"\x77\x08") + 2 :][:4], "big")
    assert capacity * 0.75 >= size
    assert capacity == 16 or capacity * 0.75 / 2 < size


def test_nulls() -> None:
    entries: dict[bytes | None, bytes | None] = {b"k": None, None: b"v", b"l": b""}
    assert load(dump(entries)) == entries


def test_a_cut_file_ends_too_early() -> None:
    for end in range(len(SAMPLE)):
        with pytest.raises(EOFError):
            load(SAMPLE[:end])


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04",
        SAMPLE.replace(b"HashMap", b"TreeMap"),
        SAMPLE.replace(b"\x77\x08", b"\x77\x09"),
        SAMPLE.replace(b"[B", b"[I"),
        SAMPLE.replace(b"\x00\x00\x00\x10\x00\x00\x00\x01", b"\x00\x00\x00\x10\xff\xff\xff\xff"),
        SAMPLE.replace(b"\x00\x00\x00\x0f{", b"\xff\xff\xff\x0f{"),
        SAMPLE[:-1] + b"\x79",
    ],
)
def test_other_streams_are_refused(data: bytes) -> None:
    with pytest.raises(JavaStreamError):
        load(data)
