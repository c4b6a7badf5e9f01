"""At most once, at least once, exactly once: with consumers that crash, and with processes that are killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from chapters.ch04_new_consumer.figures import delivery_semantics
from chapters.ch04_new_consumer.figures.delivery_semantics import (
    AFTER_THE_SESSION_S,
    Store,
    at_least_once,
    at_most_once,
    dying_after,
    exactly_once,
    fill,
    mortal_consumer,
    play,
)
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing import Cluster
from tests.support.patience import patient_s

pytestmark = pytest.mark.timeout(120)

LOST = ["1"], ["4", "5", "6"]
"""Committed 3, died after record 1: nobody works on 2 and 3."""
REPEATED = ["1", "2", "3", "4", "5", "6"], ["4", "5", "6"]
"""Committed 3, died after record 6: 4, 5 and 6 are worked on twice."""

READER = """
import os, signal, sys
from kafka_lite.consumer import KafkaConsumer
from chapters.ch04_new_consumer.figures import delivery_semantics

loop, servers, topic, polls, dies_after, output = sys.argv[1:]
consumer = KafkaConsumer({
    "bootstrap.servers": servers, "group.id": "killed", "auto.offset.reset": "earliest", "enable.auto.commit": False,
    "max.poll.records": 3, "session.timeout.ms": 10000,
})
consumer.subscribe([topic])

def work(record):
    with open(output, "a") as file:
        print(record.value.decode(), file=file)
    if record.value.decode() == dies_after:
        os.kill(os.getpid(), signal.SIGKILL)

getattr(delivery_semantics, loop)(consumer, work, int(polls))
consumer.close()
"""


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        yield running


def test_at_most_once_loses_records_2_and_3(cluster: Cluster):
    assert play(cluster, at_most_once, "1") == list(LOST)


def test_at_least_once_repeats_records_4_5_and_6(cluster: Cluster):
    assert play(cluster, at_least_once, "6") == list(REPEATED)


def test_without_a_crash_nothing_is_lost_or_repeated(cluster: Cluster):
    topic = "alive"
    fill(cluster, topic)
    worked: list[str] = []
    for loop in (at_most_once, at_least_once):
        with mortal_consumer(cluster, "alive", internal_leave_group_on_close=True, group_id="alive") as consumer:
            consumer.subscribe([topic])
            loop(consumer, lambda record: worked.append(record.value.decode()), 1)
    assert worked == ["1", "2", "3", "4", "5", "6"]


def test_exactly_once_stores_results_and_position_together(cluster: Cluster):
    topic, partition, store = "exactly", TopicPartition("exactly", 0), Store()
    fill(cluster, topic)
    worked: list[list[str]] = [[], []]
    for number, dies_after in enumerate(("5", "")):
        with mortal_consumer(cluster, "exact") as consumer:
            work = dying_after(lambda record, number=number: worked[number].append(record.value.decode()), dies_after)
            exactly_once(consumer, partition, store, work, 2 if dies_after else 1)
    assert worked == [["1", "2", "3", "4", "5"], ["4", "5", "6"]], "records 4 and 5 were processed twice"
    assert store.results == ["1", "2", "3", "4", "5", "6"], "but their results are stored once"
    assert store.position(partition) == 6


@pytest.mark.parametrize(
    ("loop", "dies_after", "expected"), [("at_most_once", "1", LOST), ("at_least_once", "6", REPEATED)]
)
def test_the_same_with_processes_and_kill_nine(
    tmp_path: Path, loop: str, dies_after: str, expected: tuple[list[str], list[str]]
):
    assert hasattr(delivery_semantics, loop)
    with Cluster() as cluster:
        fill(cluster, loop)
        for number, (polls, end) in enumerate(((2, dies_after), (1, "-"))):
            output = tmp_path / f"consumer-{number}"
            arguments = [loop, cluster.bootstrap_servers, loop, str(polls), end, str(output)]
            ended = subprocess.run([sys.executable, "-c", READER, *arguments], timeout=patient_s(60), check=False)
            assert ended.returncode == (-9 if number == 0 else 0)
            assert output.read_text().split() == expected[number]
            cluster.time.advance(seconds=AFTER_THE_SESSION_S)
