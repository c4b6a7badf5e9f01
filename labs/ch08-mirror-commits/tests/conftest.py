"""Helpers that the tests of this lab share: a mirror's parts, which write down what is called."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_new_consumer import MirrorMakerNewConsumer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.record.record import TimestampType

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)


def record(offset, partition=ZERO):
    """A record whose value is its offset."""
    return ConsumerRecord(*partition, offset, 1000, TimestampType.CREATE_TIME, None, b"%d" % offset)


class FakeKafkaConsumer:
    """Returns one batch for each poll, and remembers what is committed."""

    def __init__(self, *batches):
        self.batches, self.committed, self.refuses = list(batches), [], None

    def poll(self, _timeout_ms):
        by_partition = {}
        for each in self.batches.pop(0) if self.batches else ():
            by_partition.setdefault(each.topic_partition, []).append(each)
        return ConsumerRecords(by_partition)

    def current_lag(self, _partition):
        return 0

    def commit_sync(self, offsets=None):
        assert offsets is not None, "commit_sync() without offsets commits the position, which is after the whole batch"
        if self.refuses is not None:
            raise self.refuses
        self.committed.append({str(partition): each.offset for partition, each in offsets.items()})


class Steps:
    """Everything around a thread: each call is a step, in order."""

    def __init__(self):
        self.done, self.time, self.state = [], MockTime(), MirrorMakerState()
        self.script, self.commit_errors = [], []
        self.loses_a_record = self.commit_requested = False

    # the producer

    def send(self, sent):
        self.done.append(f"send {sent.value.decode()}")

    def flush(self):
        self.done.append("flush")
        if self.loses_a_record:
            self.state.exiting_on_send_failure = True

    # the consumer

    @property
    def has_data(self):
        if self.script and self.script[0] == "block":
            pytest.fail("has_data would block for ever: the thread must stop before it asks for more")
        return True

    def receive(self):
        while self.script:
            step = self.script.pop(0)
            if not callable(step) or isinstance(step, ConsumerRecord):
                return step
            step()
        raise ConsumerTimeoutError("no record")

    def commit(self):
        self.done.append("commit")
        if self.commit_errors:
            raise self.commit_errors.pop(0)

    def forget(self, partitions):
        self.done.append(f"forget {len(partitions)}")

    def forget_missing_topics(self):
        self.done.append("forget missing topics")

    def notify_commit(self):
        self.done.append("notify")
        self.commit_requested = False

    def stop(self):
        """Nothing waits."""

    # the user's listener

    def on_partitions_revoked(self, partitions):
        self.done.append(f"tell of {len(partitions)} revoked")

    def on_partitions_lost(self, partitions):
        self.done.append(f"tell of {len(partitions)} lost")


@pytest.fixture
def steps():
    """Producer, consumer, clock and state of a mirror."""
    return Steps()


@pytest.fixture
def commits(steps):
    """Commits that flush that producer."""
    return MirrorMakerCommits(steps, steps.state, steps.time)


@pytest.fixture
def mirror(commits):
    """A function that makes the mirror's consumer of a FakeKafkaConsumer."""
    return lambda kafka: MirrorMakerNewConsumer(kafka, commits, "t")


@pytest.fixture
def kafka():
    """A function that makes a consumer of batches: offsets of t-0, or pairs (offset, partition number)."""

    def make(*batches):
        def of(each):
            return record(each) if isinstance(each, int) else record(each[0], TopicPartition("t", each[1]))

        return FakeKafkaConsumer(*([of(each) for each in batch] for batch in batches))

    return make


@pytest.fixture
def a_record():
    """A function that makes a record of t-0."""
    return record


@pytest.fixture
def zero():
    """t-0."""
    return ZERO


@pytest.fixture
def one():
    """t-1."""
    return ONE


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER
