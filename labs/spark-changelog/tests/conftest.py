"""What the tests of this lab share: changelogs made from a seed, and a table kept by a plain Python dict."""

import random

import pytest

from kafka_learn.labs.rows import records_frame

AIRPORTS = ("EWR", "JFK", "LGA", "ORD", "ATL", "LAX", "BOS", "")
PARTITIONS = 3


@pytest.fixture
def frame(spark):
    """``frame([{"offset": 0, "key": "N1", "value": "EWR"}, …])``: a DataFrame of records."""
    return lambda records: records_frame(spark, records)


@pytest.fixture
def changelog():
    """``changelog(seed)``: where aircraft are, 600 records with holes, late timestamps, deletions, empty values."""

    def make(seed, count=600):
        rnd = random.Random(seed)
        offsets = [rnd.randrange(50) for _ in range(PARTITIONS)]
        records = []
        for number in range(count):
            aircraft = rnd.randrange(40)
            partition = aircraft % PARTITIONS
            offsets[partition] += rnd.choice((1, 1, 1, 2, 5))
            late = rnd.randrange(60_000) if rnd.random() < 0.2 else 0
            value = None if rnd.random() < 0.15 else rnd.choice(AIRPORTS)
            records.append(
                {
                    "partition": partition,
                    "offset": offsets[partition],
                    "key": f"N{aircraft:03d}",
                    "value": value,
                    "timestamp": 1_000_000 + number * 1000 - late,
                }
            )
        return records

    return make


@pytest.fixture
def replay():
    """``replay(records, ends)``: the table in a dict, (partition, key) → value, of the records before the ends."""

    def run(records, ends=None):
        table = {}
        for record in sorted(records, key=lambda each: each["offset"]):
            partition = record["partition"]
            if ends is not None and record["offset"] >= ends.get(partition, -1):
                continue
            if record["value"] is None:
                table.pop((partition, record["key"].encode()), None)
            else:
                table[partition, record["key"].encode()] = record["value"].encode()
        return table

    return run


@pytest.fixture
def ends_of():
    """``ends_of(records, time_ms)``: each partition's end, found by going through its records in order."""

    def find(records, time_ms):
        ends = {}
        for record in sorted(records, key=lambda each: each["offset"]):
            partition, offset = record["partition"], record["offset"]
            _end, is_open = ends.get(partition, (None, True))
            if is_open:
                later = record["timestamp"] > time_ms
                ends[partition] = (offset if later else offset + 1, not later)
        return {partition: end for partition, (end, _) in ends.items()}

    return find
