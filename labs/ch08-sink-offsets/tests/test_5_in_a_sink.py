"""Task 5: a worker writes a topic with your code."""

import pytest

from kafka_learn.labs.clients import consumer_of, create_topic, publish
from kafka_learn.labs.connectors import LabWorker, settle
from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.connect.api import ConnectError, SinkConnector, SinkTask

KEPT = []
"""The values that the task has put, and ``-`` for each flush that failed."""


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


class Keeps(SinkConnector):
    """Its one task keeps the values."""

    def start(self, props):
        self.props = dict(props)

    def task_class(self):
        return KeepsTask if self.props["fails"] == "no" else FailsTask

    def task_configs(self, max_tasks):  # noqa: ARG002
        return [self.props]


class KeepsTask(SinkTask):
    """Keeps what it gets, and begins at offset 7 of the first partition that it gets."""

    def start(self, props):  # noqa: ARG002
        KEPT.clear()

    def open(self, partitions):
        self.context.offset(dict.fromkeys(partitions, 7))

    def put(self, records):
        KEPT.extend(int(record.value) for record in records)

    def flush(self, current_offsets):
        pass

    def stop(self):
        pass


class FailsTask(KeepsTask):
    """Its first flush after some records fails."""

    def open(self, partitions):
        pass

    def flush(self, current_offsets):  # noqa: ARG002
        if KEPT and "-" not in KEPT:
            KEPT.append("-")
            raise ConnectError("the other system is away")


def fill(broker, topic, count):
    create_topic(broker, topic)
    publish(broker, 0, count, lambda number: {"value": str(number).encode()}, topic=topic)


def committed(broker, connector, topic):
    from confluent_kafka import TopicPartition

    consumer = consumer_of(broker, **{"group.id": f"connect-{connector}"})
    found = consumer.committed([TopicPartition(topic, 0)], 30)[0].offset
    consumer.close()
    return found


@pytest.mark.points(5, task=5)
def test_a_file_sink(broker, tmp_path):
    """Twenty records become twenty lines, and their offset is committed"""
    fill(broker, "lines", 20)
    file = tmp_path / "out.txt"
    with LabWorker(broker, tmp_path) as worker:
        worker.create("lines", "FileStreamSink", {"file": file, "topics": "lines"})
        settle(lambda: file.exists() and len(file.read_text().split()) == 20, "twenty lines")
        settle(lambda: committed(broker, "lines", "lines") == 20, "offset 20 is committed")
        worker.must_run("lines")


@pytest.mark.points(5, task=5)
def test_a_flush_that_fails(broker, tmp_path):
    """The records come again"""
    fill(broker, "again", 5)
    with LabWorker(broker, tmp_path) as worker:
        worker.create("again", f"{__name__}.Keeps", {"topics": "again", "fails": "yes"})
        settle(
            lambda: "-" in KEPT and len(KEPT) - KEPT.index("-") - 1 >= 5,
            "all records come again after the flush failed",
        )
        settle(lambda: committed(broker, "again", "again") == 5, "offset 5 is committed by a later commit")
        assert KEPT[KEPT.index("-") + 1 :] == [0, 1, 2, 3, 4], f"from 0 on, in order; the task got {KEPT}"


@pytest.mark.points(5, task=5)
def test_a_task_that_says_where_to_begin(broker, tmp_path):
    """It has stored offset 7 itself"""
    fill(broker, "own", 10)
    with LabWorker(broker, tmp_path) as worker:
        worker.create("own", f"{__name__}.Keeps", {"topics": "own", "fails": "no"})
        settle(lambda: len(KEPT) == 3, "the records 7, 8 and 9")
        assert KEPT == [7, 8, 9], f"the task continues at 7; it got {KEPT}"
        settle(lambda: committed(broker, "own", "own") == 10, "offset 10 is committed")
