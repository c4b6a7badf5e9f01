"""Task 1: the eight bytes of an entry."""

import pytest

from kafka_lite.log.index_entry import OffsetPosition

# The beginning of an index that Kafka 0.10.2.2 wrote, of a segment with base offset 20.
KAFKAS_BYTES = bytes.fromhex("00000002000000cc 0000000400000198 0000000600000264")


@pytest.fixture
def kafkas_index(tmp_path):
    from kafka_lite.log.offset_index import OffsetIndex

    file = tmp_path / "00000000000000000020.index"
    file.write_bytes(KAFKAS_BYTES)
    return OffsetIndex(file, base_offset=20, max_index_size=24)


@pytest.mark.points(3, task=1)
def test_the_position_is_read_big_endian(kafkas_index):
    """The position of an entry that Kafka wrote"""
    position = kafkas_index.entry(0)[1]
    assert position != 0xCC000000, "000000cc was read as little-endian; all integers of Kafka's files are big-endian"
    assert position == 204, f"entry 0 is 00000002 000000cc: its position is 0xcc = 204, yours is {position}"


@pytest.mark.points(3, task=1)
def test_the_offset_is_made_absolute(kafkas_index):
    """Stored offsets are relative to the base offset"""
    offset = kafkas_index.entry(0)[0]
    assert offset != 2, "2 is what is stored, relative to the base offset; the entry is for offset 20 + 2 = 22"
    assert offset == 22, f"entry 0 is for offset 20 + 2 = 22, not {offset}"


@pytest.mark.points(3, task=1)
def test_entry_n_begins_at_n_times_its_size(kafkas_index):
    """Entries one after the other"""
    positions = [kafkas_index.entry(n)[1] for n in range(3)]
    assert positions == [204, 408, 612], f"entry n begins at byte 8·n; the positions are 204, 408, 612, not {positions}"


@pytest.mark.points(1, task=1)
def test_an_entry_is_read_from_memory(kafkas_index):
    """A reader still uses an index that was deleted"""
    kafkas_index.delete()
    try:
        entry = kafkas_index.entry(2)
    except FileNotFoundError:
        pytest.fail(
            "a reader may still use an index whose file was deleted: read the mapping, self._mmap, not the file"
        )
    assert isinstance(entry, OffsetPosition), (
        f"an entry is an OffsetPosition, with its .offset and .position: not {entry}"
    )
    assert entry == (26, 612), f"entry 2 is for offset 26 at 612, deleted or not, not {tuple(entry)}"
