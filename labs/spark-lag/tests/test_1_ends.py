"""Task 1: the end of each log over time."""

import pytest

from kafka_learn.labs.rows import at, must_equal
from pipeline.tables.lag import ends_over_time

KEY = ["topic", "partition", "time"]


def ends(records, *, running=True, after_last=True, in_order=False):
    """The wanted rows, in plain Python; the switches are mistakes."""
    rows = []
    places = dict.fromkeys((each.get("topic", "flights"), each.get("partition", 0)) for each in records)
    for topic, partition in places:
        mine = [each for each in records
                if (each.get("topic", "flights"), each.get("partition", 0)) == (topic, partition)]  # fmt: skip
        for time in sorted({each["timestamp"] for each in mine}):
            seen = [each["offset"] for each in mine
                    if (each["timestamp"] <= time if running else each["timestamp"] == time)]  # fmt: skip
            end = len(seen) if in_order else max(seen) + (1 if after_last else 0)
            rows.append({"topic": topic, "partition": partition, "time": at(time), "end": end})
    return rows


def mistakes(records):
    return {
        "an end never goes back: a late timestamp must not make it smaller than it was before": ends(
            records, running=False
        ),
        "the end is the offset after the last record: offset n shows the end n + 1": ends(records, after_last=False),
        "you counted records, but a log may have holes: the end follows from the greatest offset": ends(
            records, in_order=True
        ),
    }


@pytest.mark.points(5, task=1)
def test_an_end_is_the_offset_after_the_last_record(frame):
    """Offsets 100, 103, 104"""
    records = [{"offset": 100 + each, "timestamp": 1000 * each} for each in (0, 3, 4)]
    must_equal(ends_over_time(frame(records)), ends(records), KEY, mistakes=mistakes(records))


@pytest.mark.points(5, task=1)
def test_an_end_never_goes_back(frame):
    """A late timestamp"""
    records = [{"offset": n, "timestamp": time} for n, time in enumerate([10, 20, 15, 20, 40])]
    must_equal(ends_over_time(frame(records)), ends(records), KEY, mistakes=mistakes(records))


@pytest.mark.points(5, task=1)
def test_every_partition_has_ends_of_its_own(frame, night):
    """160 records of 3 partitions, against plain Python"""
    records, _ = night(41)
    wrong = mistakes(records)

    def mixed(*columns):
        return [
            {**row, "end": max(each["end"] for each in ends(records)
                               if each["time"] <= row["time"] and all(each[name] == row[name] for name in columns))}
            for row in ends(records)
        ]  # fmt: skip

    wrong["ends of several partitions were mixed: the key of a log is topic and partition"] = mixed("topic")
    wrong["ends of several topics were mixed: the key of a log is topic and partition"] = mixed("partition")
    wrong["ends of all logs were mixed: the key of a log is topic and partition"] = mixed()
    must_equal(ends_over_time(frame(records)), ends(records), KEY, mistakes=wrong)
