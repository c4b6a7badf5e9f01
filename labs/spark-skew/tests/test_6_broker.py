"""Task 6: a real topic, whose partitions confluent-kafka has chosen."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.rows import rows_of
from pipeline.nycflights import load_flights
from pipeline.tables.skew import load_of_partitions, partition_of, salted_totals, skew, totals

COUNT, PARTITIONS = 3000, 6


@pytest.fixture(scope="session")
def delays():
    """The first 3,000 flights of 2013: airline and delay of departure, None if cancelled."""
    first = load_flights().head(COUNT)
    return [(key, None if delay != delay else int(delay)) for key, delay in
            zip(first["carrier"], first["dep_delay"].astype("float"), strict=True)]  # fmt: skip


@pytest.fixture
def topic(spark, broker, published):
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": published}
    return spark.read.format("kafka_lite").options(**options).load()


@pytest.fixture(scope="session")
def published(broker, delays):
    """The topic ``by-airline``: the key is the airline, the value the delay or nothing."""
    create_topic(broker, "by-airline", PARTITIONS)

    def fields(number):
        key, delay = delays[number]
        return {"key": key, "value": b"" if delay is None else str(delay).encode(), "timestamp": number}

    publish(broker, 0, COUNT, fields, topic="by-airline", partitioner="murmur2_random")
    return "by-airline"


@pytest.mark.points(5, task=6)
def test_your_partition_is_that_of_the_client(topic):
    """3,000 records of confluent-kafka's"""
    wrong = topic.where(partition_of(F.col("key"), PARTITIONS) != F.col("partition")).count()
    assert wrong == 0, f"{wrong} of {COUNT} records are in another partition than your function says"


@pytest.mark.points(5, task=6)
def test_the_skew_of_airlines(topic):
    """The skew that is there, and that of 24 partitions"""
    real = topic.groupBy("partition").count().agg(F.max("count")).first()[0]
    row = rows_of(skew(load_of_partitions(topic, PARTITIONS)))[0]
    assert (row["records"], row["largest"]) == (COUNT, real), f"the fullest partition has {real} records, you say {row}"
    more = rows_of(skew(load_of_partitions(topic, 4 * PARTITIONS)))[0]
    assert more["skew"] > row["skew"], "more partitions do not split a key: the skew grows"


@pytest.mark.points(5, task=6)
def test_means_in_two_steps(topic, delays):
    """The mean delay of each airline"""
    text = F.col("value").cast("string")
    rows = topic.select(
        F.col("key").cast("string").alias("key"),
        F.concat_ws("/", "partition", "offset").alias("offset"),
        F.when(text != "", text.cast("double")).alias("value"),
    )
    got = {row["key"]: (row["count"], row["largest"]) for row in rows_of(totals(salted_totals(rows, 8)))}
    by_key = {}
    for key, delay in delays:
        by_key.setdefault(key, []).extend([] if delay is None else [delay])
    assert got == {key: (len(each), max(each)) for key, each in by_key.items()}
