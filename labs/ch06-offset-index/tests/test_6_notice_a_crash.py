"""Task 6: the state in which a killed broker leaves its index."""

import pytest

from kafka_lite.log.abstract_index import CorruptIndexError
from kafka_lite.log.offset_index import OffsetIndex


def must_be_corrupt(index, why):
    """sanity_check raises CorruptIndexError."""
    try:
        index.sanity_check()
    except CorruptIndexError:
        return
    pytest.fail(why)


@pytest.mark.points(2, task=6)
def test_a_file_that_was_not_trimmed(new_index):
    """The index of a broker that was killed"""
    index = new_index(base_offset=20, room_for=50)
    index.append(22, 204)
    index.flush()  # and now the power fails: no close(), no trim
    reopened = OffsetIndex(index.file, 20, max_index_size=400)
    must_be_corrupt(reopened, "50 'entries', the last of them zero: that is unused space, so the file was never closed")


@pytest.mark.points(1, task=6)
def test_half_an_entry(tmp_path):
    """A file with half an entry"""
    file = tmp_path / "00000000000000000000.index"
    file.write_bytes(bytes.fromhex("00000002 000000cc 00000004"))
    must_be_corrupt(OffsetIndex(file, 0, 80), "12 bytes are one entry and a half: the size must be a multiple of 8")


@pytest.mark.points(1, task=6)
def test_the_last_offset_is_greater_than_the_base_offset(index_with):
    """A last entry that no broker writes"""
    for last, offset in ((0, 20), (-3, 17)):
        index = index_with([(2, 204), (last, 408)], base_offset=20)
        must_be_corrupt(index, f"the last entry is for offset {offset}, which is not greater than the base offset, 20")


@pytest.mark.points(1, task=6)
def test_valid_indexes_pass(new_index):
    """Valid indexes are accepted"""
    empty, one, two = new_index(base_offset=20), new_index(base_offset=500), new_index(base_offset=900)
    one.append(502, 204)
    two.append(901, 204)
    two.append(902, 408)
    cases = [(empty, 800, "no entry"), (one, 800, "one entry"), (two, 8, "two entries, and a lower limit than before,")]
    for index, max_index_size, name in cases:
        index.close()
        reopened = OffsetIndex(index.file, index.base_offset, max_index_size)
        try:
            reopened.sanity_check()
        except CorruptIndexError as error:
            pytest.fail(f"a cleanly closed index with {name} is valid, but you reject it: {error}")
