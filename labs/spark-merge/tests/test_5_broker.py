"""Task 5: a real topic, a stream that starts again from nothing, and the table."""

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.rows import must_equal
from kafka_learn.labs.streams import once
from pipeline.tables.delta_merge import as_frame, batch_merger, create_table

COUNT, KEYS, PARTITIONS = 600, 40, 2


def value(number):
    return None if number % 7 == 0 else f"v{number}"


@pytest.fixture(scope="session")
def source(broker):
    """A topic of 600 changes of 40 keys, one in seven a deletion, as the options of a reader."""
    create_topic(broker, "changes", PARTITIONS)

    def fields(number):
        text = value(number)
        return {"key": f"k{number * 11 % KEYS}", "value": text, "partition": number * 11 % KEYS % PARTITIONS}

    publish(broker, 0, COUNT, fields, topic="changes")
    return {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "changes",
            "startingOffsets": "earliest", "maxOffsetsPerTrigger": "200"}  # fmt: skip


@pytest.fixture(scope="session")
def stream(spark, source, tmp_path_factory):
    """Runs the stream into one table, each time with a new checkpoint; returns the table."""
    folder = str(tmp_path_factory.mktemp("delta") / "table")
    create_table(folder)

    def run():
        frame = spark.readStream.format("kafka_lite").options(**source).load()
        checkpoint = str(tmp_path_factory.mktemp("checkpoint"))
        writer = frame.writeStream.foreachBatch(batch_merger(folder, "changes"))
        writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
        return create_table(folder)

    return run


@pytest.fixture(scope="session")
def first_run(stream):
    return once(stream)


@pytest.fixture(scope="session")
def wanted():
    """The table after all changes, by plain Python."""
    final = {f"k{number * 11 % KEYS}": value(number) for number in range(COUNT)}
    return [{"key": key, "value": text} for key, text in final.items() if text is not None]


@pytest.mark.points(5, task=5)
def test_the_table_after_a_stream(spark, first_run, wanted):
    """Three batches, three commits"""
    table = first_run()
    must_equal(as_frame(spark, table.table_uri).select("key", "value"), wanted, ["key"])
    assert table.version() == 3, f"600 changes, 200 a batch: three versions, not {table.version()}"


@pytest.mark.points(6, task=5)
def test_a_stream_that_has_lost_its_checkpoint(spark, first_run, stream, wanted):
    """All batches come again"""
    version = first_run().version()
    table = stream()
    assert table.version() == version, f"no batch was new, and there are {table.version() - version} new versions"
    must_equal(as_frame(spark, table.table_uri).select("key", "value"), wanted, ["key"])


@pytest.mark.points(5, task=5)
def test_the_table_between_two_batches(spark, first_run):
    """After the first batch"""
    table = first_run()
    early = as_frame(spark, table.table_uri, 1)
    largest = early.groupBy("partition").agg({"offset": "max"}).collect()
    assert all(offset < COUNT / PARTITIONS / 2 for _, offset in largest), (
        f"version 1 has only changes of the first batch: {largest}"
    )
