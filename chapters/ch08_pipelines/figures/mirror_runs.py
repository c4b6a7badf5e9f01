"""Recorded runs of MirrorMaker: two clusters, and one of its threads, whose clock is moved by hand.

Book 8.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from kafka_learn.recording.recorded_run import Detail, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import TOPIC, in_thread, wait_until
from kafka_learn.recording.summaries import Short, summary
from kafka_learn.recording.watches import watch
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_message_handler import DefaultMirrorMakerMessageHandler
from kafka_lite.mirror.maker.mirror_maker_new_consumer import MirrorMakerNewConsumer
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer, MirrorMakerProducerCallback
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.testing.cluster import Cluster

GROUP_ID = "mirror"
RECORDS = 2
INTERVAL_MS = 60_000
THREAD = "mirrormaker-thread-0"
WAIT_MS = 60_000
NEVER_MS = 600_000
"""A linger that ends with the flush, so that no acknowledgement comes before it."""
LANES = (
    "MirrorMakerNewConsumer",
    "MirrorMakerThread",
    "MirrorMakerCommits",
    "MirrorMakerProducer",
    "MirrorMakerProducerCallback",
)


class Mirror(NamedTuple):
    """A thread of a mirror that has its partition, and whose loop a run calls turn by turn."""

    thread: MirrorMakerThread
    time: MockTime


@contextmanager
def running_mirror() -> Iterator[Mirror]:
    """Two clusters with one broker each, a thread between them, and two records to copy."""
    with ExitStack() as stack:
        source = stack.enter_context(Cluster({"group.initial.rebalance.delay.ms": "0"}))
        target = stack.enter_context(Cluster())
        for cluster in (source, target):
            cluster.create_topic(TOPIC)
        to_target = stack.enter_context(
            KafkaProducer({"bootstrap.servers": target.bootstrap_servers, "linger.ms": NEVER_MS,
                           "delivery.timeout.ms": 2 * NEVER_MS})
        )  # fmt: skip
        kafka_consumer = KafkaConsumer(
            {"bootstrap.servers": source.bootstrap_servers, "group.id": GROUP_ID, "enable.auto.commit": False,
             "auto.offset.reset": "earliest"}
        )  # fmt: skip
        state, time = MirrorMakerState(), MockTime()
        producer = MirrorMakerProducer(to_target, state, sync=False, abort_on_send_failure=True)
        commits = MirrorMakerCommits(producer, state, time)
        consumer = MirrorMakerNewConsumer(kafka_consumer, commits, TOPIC)
        stack.callback(consumer.cleanup)
        in_thread(THREAD, lambda: _join(consumer, kafka_consumer))
        source.produce(TOPIC, *(f"m{number}" for number in range(RECORDS)))
        handler = DefaultMirrorMakerMessageHandler()
        yield Mirror(MirrorMakerThread(0, consumer, producer, handler, commits, state, INTERVAL_MS, time=time), time)


def _join(consumer: MirrorMakerNewConsumer, kafka_consumer: KafkaConsumer) -> None:
    consumer.init()

    def has_partition() -> bool:
        try:
            consumer.receive()
        except ConsumerTimeoutError:
            return bool(kafka_consumer.assignment)
        raise AssertionError("there is nothing to receive yet")

    wait_until(has_partition, WAIT_MS)


@summary.register(ConsumerRecord)
def _(value: ConsumerRecord) -> Short:
    return f"the record of offset {value.offset}"


def mirror_watches() -> list[Watch]:
    """The thread's work, in order: receive, send, flush, commit; and the acknowledgements."""
    return [
        *watch(MirrorMakerNewConsumer.receive, show=()),
        *watch(MirrorMakerProducer.send, show=_sent),
        *watch(MirrorMakerCommits.flush_and_commit, show=()),
        *watch(MirrorMakerProducer.flush, show=()),
        *watch(MirrorMakerProducerCallback.__call__, show=()),
        *watch(MirrorMakerNewConsumer.commit, show=_to_commit),
        *watch(MirrorMakerThread.do_work, show=()),
    ]


def _sent(call: Call) -> Detail:
    return {"value": bytes(call.argument("record").value).decode()}


def _to_commit(call: Call) -> Detail:
    offsets: dict[TopicPartition, int] = call.subject._offsets
    return {str(partition): offset for partition, offset in offsets.items()}


def flush_and_commit() -> RecordedRun:
    """Two records are copied; a minute later the thread flushes, and commits what it has received."""
    with (
        Recording(mirror_watches(), title="Receive, send, flush, commit", paused=True) as recording,
        running_mirror() as mirror,
        recording.running(),
    ):

        def two_turns() -> None:
            mirror.thread.do_work()
            mirror.time.sleep(INTERVAL_MS + 1)
            mirror.thread.do_work()

        in_thread(THREAD, two_turns)
        recording.pause()
    return recording.run.recorded_in(__name__, "flush_and_commit", LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {"mirror-commit": flush_and_commit}
