"""Task 1: 61 bytes."""

import pytest

from pipeline.tables.log_files import OldFormatError, parse_header


@pytest.mark.points(4, task=1)
def test_offsets_and_counts(batch):
    """Offsets, record count, timestamp"""
    header = parse_header(batch(1000, 5)[:61], 0)
    assert header.base_offset == 1000, f"the first 8 bytes are the base offset, 1000, not {header.base_offset}"
    assert header.last_offset != 4, "4 is the delta; the last offset is base offset + delta"
    assert header.last_offset == 1004, f"five records from 1000 on end at 1004, not {header.last_offset}"
    assert header.record_count == 5, f"there are 5 records, not {header.record_count}"
    assert header.max_timestamp_ms == 1_001_004, f"the max timestamp is 1,001,004, not {header.max_timestamp_ms}"


@pytest.mark.points(3, task=1)
def test_the_size_is_that_of_the_whole_batch(batch):
    """Position and size"""
    data = batch(7)
    header = parse_header(data[:61], 4096)
    assert header.size_bytes != len(data) - 12, (
        "length does not count itself and the base offset: the batch has 12 more"
    )
    assert header.size_bytes == len(data), f"the batch has {len(data)} bytes, not {header.size_bytes}"
    assert header.position == 4096, f"the batch begins at byte 4096 of its file, you say {header.position}"


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.points(1, task=1)
def test_the_codec(batch, codec):
    """The codec"""
    found = parse_header(batch(0, 3, codec)[:61], 0).codec
    assert found == codec, f"the lowest three bits say {codec}, not {found}"


@pytest.mark.points(2, task=1)
def test_other_attributes_are_not_the_codec(batch):
    """A transactional batch with a producer id"""
    data = batch(0, 3, "lz4", producer_id=4711, producer_epoch=0, base_sequence=0, is_transactional=True)
    try:
        header = parse_header(data[:61], 0)
    except (IndexError, KeyError) as error:
        pytest.fail(f"attributes are 0x13: lz4 and the transactional bit; take only the three lowest bits ({error})")
    assert (header.codec, header.producer_id) == ("lz4", 4711), f"codec lz4, producer 4711; you have {header}"


@pytest.mark.points(1, task=1)
def test_an_old_message_is_refused(batch):
    """Message format v1"""
    data = bytearray(batch(0)[:61])
    data[16] = 1
    try:
        header = parse_header(bytes(data), 204)
    except OldFormatError:
        return
    pytest.fail(f"magic 1 has another header, and all of these numbers are wrong: {header}; raise OldFormatError")
