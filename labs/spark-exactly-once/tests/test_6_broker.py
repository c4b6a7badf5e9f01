"""Task 6: a query that dies twice, between a real broker, your table, and a topic."""

from collections import Counter
from datetime import date

import pandas as pd
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.flight_events import create_topics, publish_events
from kafka_learn.labs.rows import rows_of
from kafka_learn.labs.streams import once
from pipeline import reference
from pipeline.events import DELAYS, FLIGHTS, PARTITIONS, encode
from pipeline.jobs.delays import delay_records, delays_by_window
from pipeline.jobs.parsing import events_of
from pipeline.queries import PipelineConfig, read_stream
from pipeline.run.day_range import load_days
from pipeline.sinks import ParquetTable, PublishedTable, each_once, read_table


class DiedError(RuntimeError):
    """The query dies at this moment."""


@pytest.fixture(scope="session")
def day():
    return load_days(date(2013, 7, 1), 1)


@pytest.fixture(scope="session")
def sent(broker, day):
    create_topics(broker, PARTITIONS)
    publish_events(broker, [*encode(FLIGHTS, day.flights), *day.closing_events()])
    return len(day.flights)


@pytest.fixture(scope="module")
def result(spark, broker, sent, tmp_path_factory):
    """The folder of the table, after a query that died before its table had the batch, and after it."""

    def run():
        assert sent
        folder = tmp_path_factory.mktemp("query")
        config = PipelineConfig(broker.bootstrap_servers, folder)
        job = delays_by_window(events_of(read_stream(spark, config, FLIGHTS)))
        deaths = ["before the table", "between table and topic"]
        for died in range(len(deaths) + 1):
            sink = dying_sink(broker, folder, deaths[died:][:1])
            writer = job.writeStream.foreachBatch(sink).outputMode("append")
            query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
            try:
                query.processAllAvailable()
            except StreamingQueryException as error:
                if "DiedError" not in str(error):
                    raise
            finally:
                query.stop()
        return folder / "table"

    return once(run)


def dying_sink(broker, folder, deaths):
    """The learner's sink; ``deaths`` has the moment of its first batch with rows at which it dies, or nothing."""
    table = ParquetTable(folder / "table", folder / "checkpoint")
    sink = PublishedTable(table, broker.bootstrap_servers, DELAYS, delay_records)
    write = table.write_batch

    def write_and_die(rows, batch_id):
        if not rows.isEmpty() and "before the table" in deaths:
            raise DiedError("before the table")
        write(rows, batch_id)
        if table.batch_folder(batch_id).exists() and "between table and topic" in deaths:
            raise DiedError("between table and topic")

    table.write_batch = write_and_die
    return sink.write_batch


@pytest.mark.points(5, task=6)
def test_the_table_has_each_window_once(result, day):
    """After two deaths, against pandas"""
    found = reference.differences(
        read_table(result()), reference.delays_by_window(day.flights), reference.KEYS["delays"]
    )
    assert not found, f"{len(found)} differences from pandas, among them: {found[0]}"


@pytest.fixture
def topic(spark, broker, result):
    assert result()
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": DELAYS, "includeHeaders": "true"}
    return spark.read.format("kafka_lite").options(**options).load()


@pytest.mark.points(5, task=6)
def test_the_topic_has_each_window_at_least_once(topic, result):
    """Each id in the table and in the topic"""
    windows = read_table(result())
    starts = pd.to_datetime(windows["window_start"], utc=True).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    want = set(windows["origin"].astype(str) + "/" + starts)
    got = {row["event_id"] for row in rows_of(each_once(topic))}
    assert got == want, (
        f"{len(got ^ want)} windows are only in the table or only in the topic: {sorted(got ^ want)[:3]}"
    )


@pytest.mark.points(5, task=6)
def test_each_once_is_the_topic_without_doubles(topic):
    """Records of the topic, rows of each_once"""
    rows = rows_of(topic.select("offset", "partition", F.col("value").cast("string").alias("value")))
    doubles = Counter(row["value"] for row in rows)
    once_only = rows_of(each_once(topic).select(F.col("value").cast("string").alias("value")))
    assert len(once_only) == len(doubles), f"the topic has {len(doubles)} different results; you have {len(once_only)}"
