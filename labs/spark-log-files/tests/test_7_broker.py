"""Task 7: the disk of a real broker, which is killed before Spark looks at it."""

from itertools import pairwise

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.rows import rows_of
from kafka_lite.tools.log_files.log_file import LogFile
from pipeline.nycflights import load_flights
from pipeline.tables.log_files import batches, index_density, index_entries, scan_lengths

COUNT = 3000
INTERVAL = 1024
PARTITIONS = 2


@pytest.fixture(scope="session")
def broker_settings():
    """Small segments and an entry for each kilobyte."""
    return {"log.segment.bytes": "65536", "log.index.interval.bytes": str(INTERVAL), "log.index.size.max.bytes": "8192"}


@pytest.fixture(scope="session")
def disk(broker):
    """3,000 flights in a topic, in batches of 10; then the broker is killed: its active segments are not closed."""
    flights = load_flights().head(COUNT)
    keys, values = flights["carrier"].tolist(), flights.to_json(orient="records", lines=True).splitlines()
    create_topic(broker, "flight-log", PARTITIONS)
    fields = {"partitioner": "murmur2_random", "compression.type": "lz4"}
    publish(broker, 0, COUNT, lambda n: {"key": keys[n], "value": values[n]}, topic="flight-log", **fields)
    broker.kill()
    return broker.log_dir


@pytest.fixture
def on_disk(spark, disk):
    frame = batches(spark, disk)
    return frame.where(frame.topic == "flight-log")


@pytest.mark.points(6, task=7)
def test_every_record_is_on_the_disk(on_disk):
    """3,000 records, offsets without a hole"""
    rows = sorted(rows_of(on_disk), key=lambda row: (row["partition"], row["base_offset"]))
    records = sum(row["record_count"] for row in rows)
    assert records == COUNT, f"{COUNT} records were acknowledged, the batches on disk have {records}"
    for before, row in pairwise(rows):
        expected = before["last_offset"] + 1 if before["partition"] == row["partition"] else 0
        assert row["base_offset"] == expected, f"after {before} comes offset {expected}, not {row['base_offset']}"
    assert {row["codec"] for row in rows} == {"lz4"}, "the producer compressed with lz4"


@pytest.mark.points(6, task=7)
def test_the_tools_see_the_same(on_disk, disk):
    """Beside kafka-lite dump-log"""
    want = set()
    for path in disk.glob("flight-log-*/*.log"):
        with LogFile(path) as log:
            position = 0
            for each in log.batches():
                want.add((int(path.parent.name[-1]), int(path.stem), position, each.size_in_bytes, each.base_offset))
                position += each.size_in_bytes
    columns = ("partition", "segment", "position", "size_bytes", "base_offset")
    got = {tuple(row[name] for name in columns) for row in rows_of(on_disk)}
    assert got == want, f"{len(got ^ want)} of {len(want)} batches differ, among them {sorted(got ^ want)[:2]}"


@pytest.mark.points(6, task=7)
def test_an_index_is_as_dense_as_its_interval(spark, on_disk, disk):
    """index.interval.bytes = 1024"""
    entries = index_entries(spark, disk)
    entries = entries.where(entries.topic == "flight-log")
    largest = max(row["size_bytes"] for row in rows_of(on_disk))
    longest = max(row["scan_bytes"] for row in rows_of(scan_lengths(on_disk, entries)))
    # Up to the interval, the batch that exceeds it, and the one with the entry, whose offset is its last one.
    assert 0 < longest <= INTERVAL + 3 * largest, f"with an entry per {INTERVAL} bytes no scan is {longest} bytes long"
    dense = [row["bytes_per_entry"] for row in rows_of(index_density(on_disk, entries)) if row["entries"] > 10]
    assert dense, "segments of 64 KB with an entry per kilobyte have more than 10 entries"
    assert all(INTERVAL <= each <= INTERVAL + 3 * largest for each in dense), f"bytes per entry: {dense}"
