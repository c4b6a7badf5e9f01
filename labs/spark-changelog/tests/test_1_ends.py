"""Task 1: a time becomes an offset per partition."""

import pytest

from kafka_learn.labs.rows import at, must_equal, rows_of
from pipeline.tables.changelog import ends_at

TIMES = [10, 11, 12, 16, 13, 17]
ONE = [{"offset": n, "key": "N1", "value": "EWR", "timestamp": time} for n, time in enumerate(TIMES)]


def end_of(frame, records, time):
    rows = rows_of(ends_at(frame(records), at(time)))
    assert len(rows) == 1, f"there is one partition, so one row is asked for; you have {rows}"
    return rows[0]["end"]


@pytest.mark.points(6, task=1)
def test_the_first_later_record_ends_the_log(frame):
    """A record that comes late"""
    end = end_of(frame, ONE, 13)
    assert end != 5, (
        "timestamps 10 11 12 16 13 17, time 13: you took the last record that is not later, offset 4. By then, "
        "offset 3 (timestamp 16) was there, and a state without 3 but with 4 never was"
    )
    assert end == 3, f"timestamps 10 11 12 16 13 17, time 13: offset 3 is the first one that is later, not {end}"


@pytest.mark.points(3, task=1)
def test_a_record_at_the_very_time_belongs_to_it(frame):
    """A record at exactly the time"""
    end = end_of(frame, ONE, 12)
    assert end == 3, (
        f"timestamps 10 11 12 16 …: at time 12 the record with timestamp 12 was there, so end is 3, not {end}"
    )


@pytest.mark.points(3, task=1)
def test_without_a_later_record_the_log_ends_after_its_last_offset(frame):
    """No later record"""
    compacted = [{**record, "offset": 100 + 3 * record["offset"]} for record in ONE]
    end = end_of(frame, compacted, 99)
    assert end != 6, "you counted records; a compacted log has holes, and offsets 100, 103, … 115 end at 116"
    assert end == 116, f"the last offset is 115, and nothing is later: the end is 116, not {end}"


@pytest.mark.points(3, task=1)
def test_ends_of_several_partitions(frame, changelog, ends_of):
    """600 records in 3 partitions, at 4 times"""
    records = changelog(seed=61)
    for time in (900_000, 1_100_000, 1_300_000, 9_000_000):
        want = [{"partition": partition, "end": end} for partition, end in ends_of(records, time).items()]
        must_equal(ends_at(frame(records), at(time)), want, ["partition"])
