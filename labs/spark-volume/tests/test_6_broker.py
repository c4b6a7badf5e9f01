"""Task 6: a stream that catches up with a real topic."""

import json

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.streams import once
from pipeline.tuning.volume import batches, catch_up, cost_of, read_options, tasks_for

COUNT, PARTITIONS, LIMIT, CORES = 900, 3, 300, 2


@pytest.fixture(scope="session")
def published(broker):
    """The topic ``flights`` with 900 records, 300 in each of three partitions."""
    create_topic(broker, "flights", PARTITIONS)
    publish(broker, 0, COUNT, lambda number: {"value": b"%d" % number, "partition": number % 3}, topic="flights")
    return "flights"


@pytest.fixture(scope="session")
def stream(spark, broker, published, tmp_path_factory):
    """What a stream with the learner's options has done: its batches, and the rows of each task of each batch."""

    def run():
        options = read_options(LIMIT, tasks_for(LIMIT, PARTITIONS, CORES, per_task=50), PARTITIONS)
        source = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": published,
                  "startingOffsets": "earliest"}  # fmt: skip
        tasks = []

        def note(rows, _batch_id):
            tasks.append([row["count"] for row in rows.groupBy("task").count().collect()])

        frame = spark.readStream.format("kafka_lite").options(**source, **options).load()
        numbered = frame.selectExpr("spark_partition_id() AS task")
        checkpoint = str(tmp_path_factory.mktemp("checkpoint"))
        writer = numbered.writeStream.foreachBatch(note).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return batches([json.loads(each.json) for each in query.recentProgress]), tasks

    return once(run)


@pytest.mark.points(5, task=6)
def test_batches_are_as_large_as_the_limit(stream):
    """900 records, 300 a batch"""
    got, _ = stream()
    assert [each.records for each in got] == [300, 300, 300], f"three batches of 300, you find {got}"
    assert [each.behind for each in got] == [600, 300, 0], f"they leave 600, 300 and nothing, you find {got}"


@pytest.mark.points(4, task=6)
def test_tasks_are_as_many_as_computed(stream):
    """Three partitions, six tasks"""
    _, tasks = stream()
    assert all(len(each) == 6 for each in tasks), f"six tasks read each batch, two of each partition: {tasks}"
    assert all(max(each) <= 50 for each in tasks), f"no task reads more than 50 records: {tasks}"


@pytest.mark.points(4, task=6)
def test_the_cost_of_these_batches_predicts_them(stream):
    """From measured batches to a prediction"""
    got, _ = stream()
    cost = cost_of(got)
    want = sum(each.seconds for each in got[1:])
    said = catch_up(cost, LIMIT, 600, 0)
    assert said is not None
    assert said.batches == 2, f"600 behind, 300 a batch: two batches, you say {said.batches}"
    assert said.seconds == pytest.approx(want, rel=0.01), (
        f"the second and the third batch took {want:.2f} s, and by their cost they take {said.seconds:.2f}"
    )
