"""Offsets of groups become checkpoints, in Java's bytes, under the names of the target."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_task import MirrorCheckpointTask
from kafka_lite.mirror.connectors.mirror_records import Checkpoint, OffsetSync
from tests.support.eventually import eventually
from tests.support.mirror_clusters import BOTH, FakeClusters
from tests.unit.mirror.connectors.test_mirror_topic_reader import LogConsumer

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
SYNCS = [
    OffsetSync(T0, 100, 10),
    OffsetSync(T1, 500, 5),
    OffsetSync(U0, 0, 0),
    OffsetSync(TopicPartition("east.a", 0), 7, 9),
]
PROPS = {**BOTH, "task.assigned.groups": "g,h", "emit.checkpoints.interval.seconds": "0", "topics": "t,east.a"}


class Task:
    """A started task that has read its topics."""

    def __init__(self, *known: Checkpoint) -> None:
        self.clusters = FakeClusters()
        self.consumers: dict[str, LogConsumer] = {}
        self.known = known
        self.time = MockTime()
        self.beans = MBeanServer()
        self.task = MirrorCheckpointTask(self._consumer, self.clusters.admin, self.time)
        self.task.initialize(self)  # type: ignore[arg-type]  # the part that it calls
        self.task.start(PROPS)
        stores = self.task._stores
        assert stores is not None
        eventually(lambda: stores.is_loaded)

    def _consumer(self, configs: Mapping[str, object]) -> LogConsumer:
        assert configs["allow.auto.create.topics"] == "false"
        role = str(configs["client.id"]).rpartition("|")[2]
        records: tuple[Checkpoint | OffsetSync, ...] = tuple(SYNCS) if "syncs" in role else self.known
        self.consumers[role] = LogConsumer(*((each.key(), each.value()) for each in records))
        return self.consumers[role]

    def commit(self, group: str, **offsets: int) -> None:
        """``t0=5``: partition 0 of t."""
        self.clusters.source.offsets[group] = {
            TopicPartition(name[:-1].replace("_", "."), int(name[-1])): OffsetAndMetadata(offset, "note")
            for name, offset in offsets.items()
        }

    def poll(self) -> list[Checkpoint]:
        return [Checkpoint.decode(each.key, each.value) for each in self.task.poll() or ()]

    def __enter__(self) -> Task:
        return self

    def __exit__(self, *_: object) -> None:
        self.task.stop()


def test_offsets_are_translated_as_far_as_they_can_be() -> None:
    with Task() as task:
        task.commit("g", t0=130, t1=499, u0=3)
        task.commit("h", t1=500)
        assert task.poll() == [
            Checkpoint("g", TopicPartition("west.t", 0), 130, 11, "note"),
            Checkpoint("h", TopicPartition("west.t", 1), 500, 5, "note"),
        ]
        assert task.task.poll() is None, "nothing is new"
        task.commit("g", t0=100)
        assert [each.downstream_offset for each in task.poll()] == [10], "the group went back"


def test_a_copy_of_the_targets_own_topic_is_the_original_there() -> None:
    with Task() as task:
        task.commit("g", east_a0=7)
        assert task.poll() == [Checkpoint("g", TopicPartition("a", 0), 7, 9, "note")]


def test_a_record_of_the_checkpoints_topic() -> None:
    with Task() as task:
        task.commit("g", t0=100)
        (record,) = task.task.poll() or ()
    assert (record.topic, record.kafka_partition) == ("west.checkpoints.internal", 0)
    assert record.timestamp == task.time.milliseconds()
    assert record.source_partition == {"group": "g", "topic": "west.t", "partition": 0}
    assert record.source_offset == {"offset": 0}


def test_no_checkpoint_is_before_that_of_an_earlier_task() -> None:
    with Task(Checkpoint("g", TopicPartition("west.t", 0), 110, 40, "")) as task:
        task.commit("g", t0=130)
        assert task.poll() == []


def test_a_source_that_does_not_respond_is_asked_again() -> None:
    with Task() as task:
        task.commit("g", t0=100)
        task.clusters.source.is_down = True
        assert task.poll() == []
        task.clusters.source.is_down = False
        assert len(task.poll()) == 1


def test_after_the_stop_nothing_is_emitted() -> None:
    with Task() as task:
        task.commit("g", t0=100)
    assert task.poll() == []
    assert task.consumers["offset-syncs-source-consumer"].is_closed


def test_one_that_could_not_start_can_be_stopped() -> None:
    MirrorCheckpointTask().stop()


def test_the_worker_shows_how_late_checkpoints_are_until_the_task_stops() -> None:
    with Task() as task:
        task.commit("g", t0=100)
        (record,) = task.task.poll() or ()
        task.time.sleep(40)
        task.task.commit_record(record, None)
        ((name, numbers),) = ((name, numbers) for name, numbers in task.beans.query().items() if name.tags)
    assert dict(name.tags) == {"source": "west", "target": "east", "group": "g", "topic": "west.t", "partition": "0"}
    assert numbers["checkpoint-latency-ms"] == 40
    assert task.beans.query() == {}
