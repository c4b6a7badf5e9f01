"""Task 2: read the segment once; valid batches stay, the indexes are rebuilt, and the rest is truncated."""

import struct

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.log.abstract_index import InvalidOffsetError
from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.transaction_replay import TransactionReplay
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError, InvalidRecordError

SIZE = 205  # of a batch of three messages in format v2


def entries(segment):
    return [tuple(segment.offset_index.entry(n)) for n in range(segment.offset_index.entries)]


@pytest.mark.points(3, task=2)
def test_a_valid_segment(write_segment, open_segment):
    """Nothing is wrong, nothing is truncated"""
    file = write_segment(20, 6, closed=False)
    before = file.read_bytes()
    segment = open_segment()
    cut = segment.recover()
    assert cut != 6 * SIZE, f"{cut} is the size of the valid part; how many bytes were cut off?"
    assert cut == 0, f"nothing was wrong, so 0 bytes were cut off, not {cut}"
    assert file.read_bytes() == before, "the log of a valid segment must not change"


@pytest.mark.points(5, task=2)
def test_the_indexes_equal_those_of_appends(write_segment, open_segment, folder):
    """Both indexes, entry by entry"""
    write_segment(20, 6, closed=False)
    segment = open_segment()
    try:
        segment.recover()
    except (struct.error, ValueError) as error:  # raised by full, unsorted and closed indexes
        pytest.fail(f"what the crash left in the indexes is in the way. Reset the indexes first ({error})")
    got, want = entries(segment), [(28, 410), (34, 820)]
    assert len(got) <= len(want), f"{got}: are these old entries? Reset the indexes first; count as append does"
    assert got == want, f"appends wrote the entries {want}; yours are {got}: compare before you count, > and not >="
    times = [tuple(segment.time_index.entry(n)) for n in range(segment.time_index.entries)]
    assert times[-1] == (352, 37), f"the last entry of the time index is the largest timestamp: (352, 37), not {times}"
    sizes = [part.file.stat().st_size for part in (segment.offset_index, segment.time_index)]
    assert sizes == [16, 36], f"a recovered segment is trimmed, its indexes to 16 and 36 bytes, not {sizes}"
    config = LogConfig({"index.interval.bytes": str(2 * SIZE), "segment.index.bytes": "4096"})
    segment = LogSegment.open(folder, 20, config, MockTime())
    segment.recover()
    got, want = entries(segment), [(31, 3 * SIZE)]
    assert got == want, (
        f"the interval is {2 * SIZE} bytes, and two batches have exactly as many: an entry is due after *more*, so the "
        f"entries are {want}, not {got}"
    )


@pytest.mark.points(4, task=2)
def test_every_torn_tail(write_segment, open_segment):
    """The last batch torn at many places"""
    file = write_segment(20, 3, closed=False)
    whole = file.read_bytes()
    for left in (1, 11, 12, 17, 60, 61, 100, SIZE - 1):
        file.write_bytes(whole[: 2 * SIZE + left])
        segment = open_segment()
        cut = segment.recover()
        assert (segment.size, cut) == (2 * SIZE, left), (
            f"{left} bytes of the third batch are there: cut them off and return their number; {cut} cut, "
            f"{segment.size} left"
        )
        assert file.stat().st_size == 2 * SIZE, f"the file must be {2 * SIZE} bytes long, not {file.stat().st_size}"


@pytest.mark.points(4, task=2)
def test_damage_in_the_middle(write_segment, open_segment, damage):
    """A bit flips in the second of four batches"""
    file = write_segment(20, 4, closed=False)
    damage(file, SIZE + 100)
    segment = open_segment()
    cut = segment.recover()
    assert segment.size != 4 * SIZE, "the second batch is damaged, but all four are still there"
    assert segment.size <= SIZE, "the damaged batch is still there: count a batch only after it was found valid"
    why = "everything after a bad batch is cut off, too, or the log has a gap"
    assert (segment.size, cut) == (SIZE, 3 * SIZE), (
        f"one batch is left, three are cut off: {why}; {segment.size}, {cut} cut"
    )


@pytest.mark.points(1, task=2)
def test_whatever_is_wrong_with_a_batch(write_segment, open_segment, monkeypatch):
    """The second batch is invalid in three ways"""
    file = write_segment(20, 3, closed=False)
    whole = file.read_bytes()
    load_valid = LogSegment._load_valid
    for error in (CorruptRecordError, InvalidRecordError, InvalidOffsetError):

        def load(self, batch, next_offset, error=error):
            if batch.position == SIZE:
                raise error("found in the second batch")
            return load_valid(self, batch, next_offset)

        file.write_bytes(whole)
        with monkeypatch.context() as patched:
            patched.setattr(LogSegment, "_load_valid", load)
            segment = open_segment()
            try:
                segment.recover()
            except error as raised:
                pytest.fail(
                    f"{type(raised).__name__} makes a batch invalid, too: cut it off, or the broker does not start"
                )
        assert segment.size == SIZE, f"one batch is valid, {SIZE} bytes; {error.__name__} is in the second one"


@pytest.mark.points(1, task=2)
def test_more_entries_than_an_index_has_room_for(write_segment, folder):
    """Indexes with room for three entries"""
    write_segment(20, 12, closed=False)
    for index in folder.glob("*index"):
        index.unlink()
    small = LogConfig({"index.interval.bytes": "300", "segment.index.bytes": "24"})
    segment = LogSegment.open(folder, 20, small, MockTime())
    try:
        segment.recover()
    except IndexError as error:
        pytest.fail(f"an index is full, and the recovery ends with an error ({error}): go on without an entry")
    assert segment.size == 12 * SIZE, f"a full index is no reason to cut batches off: {segment.size} bytes are left"


@pytest.mark.points(2, task=2)
def test_the_largest_timestamp(write_segment, open_segment):
    """Timestamps out of order"""
    write_segment(20, 3, closed=False, timestamps=[5000, 9000, 1000])
    segment = open_segment()
    segment.recover()
    got = tuple(segment.max_timestamp_so_far)
    assert got == (9002, 25), f"the largest timestamp is 9002, in the batch that ends at 25, not {got}"
    write_segment(60, 2, closed=False, timestamps=[5000, 5000])
    segment = open_segment(60)
    segment.recover()
    got = tuple(segment.max_timestamp_so_far)
    assert got == (5002, 62), (
        f"two batches have 5002, and the first one counts, which ends at 62, as in append: not {got}"
    )


@pytest.mark.points(2, task=2)
def test_old_formats_are_indexed_by_their_first_offset(write_segment, open_segment):
    """Compressed messages of format v1"""
    write_segment(20, 8, closed=False, magic=1)
    segment = open_segment()
    segment.recover()
    got = [offset for offset, _ in entries(segment)]
    assert got, "eight compressed sets are more than 300 bytes: there must be an entry"
    assert all((offset - 20) % 3 == 0 for offset in got), (
        f"v1 is indexed by the *first* offset of a set, which only the loaded batch knows (base_offset); yours: {got}"
    )


@pytest.mark.points(1, task=2)
def test_leader_epochs_are_recovered(write_segment, open_segment):
    """Epochs are assigned to the cache"""
    write_segment(20, 4, closed=False, epochs=[-1, 0, 5, 5])
    seen = []

    class Cache:
        def assign_newer(self, epoch, offset):
            seen.append((epoch, offset))

    open_segment().recover(Cache())
    want = [(0, 23), (5, 26), (5, 29)]
    assert seen == want, (
        f"each batch's epoch and first offset are assigned to the cache: {want}, not {seen}. The first batch has none "
        "(-1), the second has epoch 0, which is one"
    )


@pytest.mark.points(1, task=2)
def test_the_transaction_index_is_kept(write_segment, open_segment, damage):
    """Nobody knows what was open; the second batch is damaged"""
    file = write_segment(20, 2, closed=False)
    damage(file, SIZE + 100)
    segment = open_segment()
    kept = AbortedTxn(7, 20, 21, 22)
    segment.txn_index.append([kept, AbortedTxn(9, 23, 25, 26)])
    segment.recover()
    got = list(segment.txn_index.entries)
    assert got != [], "without transactions the index cannot be rebuilt: keep it"
    assert got == [kept], f"only entries of batches that are cut off go, here that of the marker 25; yours: {got}"
    segment = open_segment(60)
    data = MemoryRecordsBuilder(base_offset=60, producer_id=7, producer_epoch=0, base_sequence=0)
    data.append(1000, b"k", b"v")
    records = data.build()
    segment.append(analyze_and_validate_records(records), records)
    segment.flush()
    try:
        cut = open_segment(60).recover()
    except AttributeError as error:
        pytest.fail(f"a batch has a producer id, but recover got no transactions: leave the index as it is ({error})")
    assert cut == 0, f"a batch with a producer id is as valid as any: nothing is cut off, not {cut} bytes"


@pytest.mark.points(1, task=2)
def test_aborted_transactions_are_indexed_again(open_segment):
    """The transaction index, of which a crash left an entry that is not true"""
    segment = open_segment()
    data = MemoryRecordsBuilder(base_offset=20, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    data.append(1000, b"k", b"v")
    marker = EndTransactionMarker(ControlRecordType.ABORT, 0).to_batch(7, 0, 1001, base_offset=21)
    for records in (data.build(), marker):
        segment.append(analyze_and_validate_records(records), records)
    segment.txn_index.append([AbortedTxn(9, 20, 30, 31)])
    segment.flush()
    segment = open_segment()
    segment.recover(transactions=TransactionReplay())
    got = [tuple(entry) for entry in segment.txn_index.entries]
    assert got == [(7, 20, 21, 22)], (
        "reset the transaction index first, then append what transactions.add(loaded) returns for each batch that has "
        f"a producer id; its entries should be [(7, 20, 21, 22)], not {got}"
    )
