"""A heartbeat after each interval, in Java's bytes; none after the stop."""

from __future__ import annotations

from kafka_lite.common.time import MockTime
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_task import MirrorHeartbeatTask
from kafka_lite.mirror.connectors.mirror_records import Heartbeat

PROPS = {
    "source.cluster.alias": "west", "target.cluster.alias": "east", "target.cluster.bootstrap.servers": "a:1",
    "emit.heartbeats.interval.seconds": "0",
}  # fmt: skip


def test_each_poll_is_a_heartbeat() -> None:
    time = MockTime()
    task = MirrorHeartbeatTask(time)
    task.start(PROPS)
    (record,) = task.poll() or ()
    assert (record.topic, record.kafka_partition, record.timestamp) == ("heartbeats", 0, time.milliseconds())
    assert Heartbeat.decode(record.key, record.value) == Heartbeat("west", "east", time.milliseconds())
    assert record.source_partition == {"sourceClusterAlias": "west", "targetClusterAlias": "east"}
    assert record.source_offset == {"offset": 0}
    time.sleep(5_000)
    (later,) = task.poll() or ()
    assert later.timestamp == time.milliseconds()
    assert later.key == record.key, "compaction keeps the last one"


def test_a_stop_ends_the_wait() -> None:
    task = MirrorHeartbeatTask()
    task.start(PROPS | {"emit.heartbeats.interval.seconds": "3600"})
    task.stop()
    assert task.poll() is None
