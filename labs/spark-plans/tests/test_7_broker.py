"""Task 7: a real topic, from which nothing can be left out."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.clients import create_topic, publish
from pipeline.tuning.plans import file_reads, joins, plan_text, stages, stages_of_job, with_airlines

COUNT, PARTITIONS = 300, 3


@pytest.fixture(scope="session")
def published(broker):
    """The topic ``flights`` with 300 records in three partitions: the key is the airline."""
    create_topic(broker, "flights", PARTITIONS)

    def fields(number):
        return {"key": ["UA", "B6", "OO"][number % 3], "value": str(number).encode(), "partition": number % 3}

    publish(broker, 0, COUNT, fields, topic="flights")
    return "flights"


@pytest.fixture
def topic(spark, broker, published):
    """``topic(minPartitions="6")``: the topic with these options, its key as ``airline``."""

    def read(**options):
        options |= {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": published}
        frame = spark.read.format("kafka_lite").options(**options).load()
        return frame.select(F.col("key").cast("string").alias("airline"), "partition", "offset")

    return read


@pytest.mark.points(3, task=7)
def test_a_topic_is_read_whole(topic):
    """A filter on records"""
    plan = plan_text(topic().where("airline = 'UA'"))
    assert file_reads(plan) == [], "a topic has no files that Spark could see"
    assert "Filter" in plan, "the source gets no filter: Spark filters what it has read"


@pytest.mark.points(4, task=7)
def test_a_task_for_each_partition(topic, as_run):
    """Three partitions, and minPartitions = 6"""
    for options, tasks in (({}, PARTITIONS), ({"minPartitions": "6"}, 6)):
        frame = topic(**options).groupBy("airline").count()
        got = stages_of_job(*as_run(frame))
        planned = stages(plan_text(frame))
        assert len(got) == planned == 2, f"the plan has {planned} stages and the UI {len(got)}: both are 2"
        assert got[0].tasks == tasks, f"with {options} {tasks} tasks read the topic, you say {got[0].tasks}"


@pytest.mark.points(3, task=7)
def test_names_beside_records(topic, airlines, as_run):
    """Airlines beside 300 records"""
    frame = with_airlines(topic(), airlines)
    assert joins(plan_text(frame))[0].kind == "broadcast", "records of a topic need not move either"
    got = stages_of_job(*as_run(frame))
    assert len(got) == 1, f"a broadcast join is one stage in the job of the query, you say {len(got)}"
    rows = frame.groupBy("name").count().collect()
    assert {row["name"]: row["count"] for row in rows} == {"United": 100, "JetBlue": 100, None: 100}
