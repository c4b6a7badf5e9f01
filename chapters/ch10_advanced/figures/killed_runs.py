"""A program that consumes, transforms and produces, killed at each of its steps and started again. Book 10.3, 4.4.4.

The program reads three records of ``in``, and writes each in capitals to ``out``. ``Crash``, raised between two steps,
stands for kill -9: nothing more is sent, neither an abort nor LeaveGroup. During the commit the program is killed from
outside, because its own thread waits for the coordinator.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from chapters.ch10_advanced.figures.transaction_runs import ONE_REPLICA, WAIT_MS, arrow, record_states, values_of
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import Crash, wait_until
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.transaction.transaction_coordinator import TransactionCoordinator
from kafka_lite.log.log import Log
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService

IN, OUT = TopicPartition("in", 0), TopicPartition("out", 0)
VALUES = ("a", "b", "c")
GROUP, TRANSACTIONAL_ID = "transform", "transform"
CONSUMED, SENT, OFFSETS, LOST, DECIDED, COMMITTED = (
    "consumed", "sent", "offsets sent", "EndTxn lost", "decided", "committed"
)  # fmt: skip
STEPS = (CONSUMED, SENT, OFFSETS, LOST, DECIDED, COMMITTED)
"""After which step the program dies. LOST: EndTxn does not arrive. DECIDED: PrepareCommit is written, no marker is."""


# ── the program ───────────────────────────────────────────────────────────────────────────────────────────────────────


def transform(consumer: KafkaConsumer, producer: KafkaProducer, done: Callable[[str], None]) -> None:
    """Process what is left in the input, each poll in one transaction. ``done`` is called after each step."""
    consumer.assign([IN])
    end = consumer.end_offsets([IN])[IN]
    while consumer.position(IN) < end:
        records = consumer.poll(1000)
        done(CONSUMED)
        producer.begin_transaction()
        for record in records:
            producer.send(ProducerRecord(OUT.topic, record.value.upper(), partition=0))
        producer.flush()
        done(SENT)
        offsets = {IN: OffsetAndMetadata(consumer.position(IN))}
        producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        done(OFFSETS)
        producer.commit_transaction()
        done(COMMITTED)


@contextmanager
def started(cluster: Cluster) -> Iterator[tuple[KafkaConsumer, KafkaProducer]]:
    """The program's clients. Starting it aborts what the program before has left open."""
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "retry.backoff.ms": 20}
    reading = {"group.id": GROUP, "isolation.level": "read_committed", "auto.offset.reset": "earliest"}
    producer = KafkaProducer({**servers, "transactional.id": TRANSACTIONAL_ID, "linger.ms": 1000})
    consumer = KafkaConsumer({**servers, **reading, "enable.auto.commit": False})
    try:
        producer.init_transactions()
        yield consumer, producer
    finally:
        producer.close(0)
        consumer.close(0)


def run_to_the_end(cluster: Cluster) -> None:
    """Start the program, and let it live."""
    with started(cluster) as (consumer, producer):
        transform(consumer, producer, lambda _step: None)


def run_and_die(cluster: Cluster, step: str, held: HeldMarkers, on_death: Callable[[Cluster], Seen]) -> Seen:
    """Start the program, and kill it after a step. Returns what ``on_death`` sees, before anything else can happen."""

    def done(now: str) -> None:
        if now == step:
            raise Crash

    def work(consumer: KafkaConsumer, producer: KafkaProducer) -> None:
        try:
            transform(consumer, producer, done)
        except Exception:  # noqa: BLE001  (the Crash, or the commit's error because its producer is gone)
            return

    with started(cluster) as (consumer, producer):
        lost = cluster.inject("EndTxn").drop_request().always() if step == LOST else None
        held.hold(step == DECIDED)
        thread = threading.Thread(target=work, args=(consumer, producer), name="program")
        thread.start()
        if lost is not None:
            lost.wait(1, WAIT_MS / 1000)
        elif step == DECIDED:
            held.wait()
        else:
            thread.join()
        producer.close(0)  # nothing more is sent; a commit that waits raises an error
        thread.join()
        if lost is not None:
            lost.remove()
    try:
        return on_death(cluster)
    finally:
        held.release()


class HeldMarkers:
    """Stops the coordinator between its decision and the first marker."""

    def __init__(self) -> None:
        self._may_go_on, self._reached = threading.Event(), threading.Event()
        self._may_go_on.set()

    def watch(self) -> Watch:
        """To be recorded with: the coordinator's thread waits in it."""
        return Watch.of(TransactionCoordinator.complete, self._stop)

    def _stop(self, _call: Call) -> None:
        self._reached.set()
        self._may_go_on.wait(WAIT_MS / 1000)

    def hold(self, on: bool) -> None:
        """Hold the markers of the next decision."""
        if on:
            self._reached.clear()
            self._may_go_on.clear()

    def wait(self) -> None:
        """Wait for the decision."""
        if not self._reached.wait(WAIT_MS / 1000):
            raise TimeoutError("the coordinator has not decided")

    def release(self) -> None:
        """Let the markers be written."""
        self._may_go_on.set()


# ── what others see ───────────────────────────────────────────────────────────────────────────────────────────────────


class Seen(NamedTuple):
    """The output as both kinds of readers see it, and the group's committed offset; "–" if there is nothing."""

    committed: str
    uncommitted: str
    offset: str


def look(cluster: Cluster) -> Seen:
    """The records and the offset that can be seen now."""
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "earliest", "group.id": GROUP}
    found = []
    for isolation in ("read_committed", "read_uncommitted"):
        with KafkaConsumer({**servers, "isolation.level": isolation, "enable.auto.commit": False}) as consumer:
            consumer.assign([OUT])
            end, values = consumer.end_offsets([OUT])[OUT], []
            while consumer.position(OUT) < end:
                values += [record.value.decode() for record in consumer.poll(500)]
            found.append(" ".join(values) or "–")
    with AdminChannel(cluster.bootstrap_servers) as channel:  # a consumer waits for the markers of a pending offset
        offset = ConsumerGroupService(channel).committed_offsets(GROUP).get(IN)
    found.append("–" if offset is None else str(offset))
    return Seen(*found)


# ── recorded ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _cluster() -> Iterator[Cluster]:
    with Cluster({**ONE_REPLICA, "offsets.topic.num.partitions": "1"}) as cluster:
        for topic in (IN.topic, OUT.topic):
            cluster.create_topic(topic)
        cluster.produce(IN.topic, *VALUES)
        yield cluster


def killed_at_each_step() -> RecordedRun:
    """For each step: a new cluster, the program killed after the step and started again; what is seen both times."""
    held = HeldMarkers()
    with Recording(held.watch(), title="Killed at each step") as recording:
        for step in STEPS:
            with _cluster() as cluster:
                dead = run_and_die(cluster, step, held, look)
                run_to_the_end(cluster)
                recording.note(step, dead=list(dead), alive=list(look(cluster)))
    return recording.run.recorded_in(__name__, "killed_at_each_step", lanes=("main",))


PROGRAM, HEIR, COORDINATOR = "program", "started again", "coordinator"


def killed_after_the_decision() -> RecordedRun:
    """The program dies when PrepareCommit is written, before any marker."""
    held, sender = HeldMarkers(), [PROGRAM]
    watches = [*record_states(lambda: sender[0], COORDINATOR), held.watch(), _watch_appends(lambda: sender[0])]
    with Recording(watches, title="Killed after the decision", paused=True) as recording, _cluster() as cluster:
        run_to_the_end_of_nothing(cluster)

        def died(cluster: Cluster) -> Seen:
            recording.emit(Kind.NOTE, PROGRAM, "† killed before any marker is written")
            sender[0] = HEIR
            return look(cluster)

        with recording.running():
            run_and_die(cluster, DECIDED, held, died)
            wait_until(lambda: any(event.detail.get("after") == "CompleteCommit" for event in recording.run), WAIT_MS)
            run_to_the_end(cluster)
    lanes = (PROGRAM, HEIR, COORDINATOR, str(OUT), GROUP_METADATA_TOPIC_NAME)
    return recording.run.recorded_in(__name__, "killed_after_the_decision", lanes=lanes)


def run_to_the_end_of_nothing(cluster: Cluster) -> None:
    """Let the clients meet the cluster: topics of the coordinators are created."""
    with started(cluster) as (consumer, _producer):
        consumer.committed([IN])


def _watch_appends(sender: Callable[[], str]) -> Watch:
    """The appends to the logs of the output and of the group's offsets."""

    def appended(call: Call) -> None:
        partition = call.subject.topic_partition
        lane = {OUT.topic: str(OUT), GROUP_METADATA_TOPIC_NAME: GROUP_METADATA_TOPIC_NAME}.get(partition.topic)
        if lane is None:
            return
        for batch in batches(call.argument("records")):
            if not isinstance(batch, DefaultRecordBatch) or not batch.is_transactional:
                continue
            if batch.is_control:
                kinds = [ControlRecordType.parse(record.key).name.lower() for record in batch.records()]
                arrow(call, COORDINATOR, lane, "WriteTxnMarkers", " ".join(kinds))
            elif partition.topic == OUT.topic:
                arrow(call, sender(), lane, "Produce", values_of(batch))
            else:
                arrow(call, sender(), lane, "TxnOffsetCommit", "")

    return Watch.of(Log.append_as_leader, appended)


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "killed-at-each-step": killed_at_each_step,
    "killed-after-the-decision": killed_after_the_decision,
}
