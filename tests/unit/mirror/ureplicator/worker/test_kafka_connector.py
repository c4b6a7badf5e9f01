"""Partitions of the source come and go; their offsets are those of what the target has acknowledged."""

from __future__ import annotations

from itertools import islice

import pytest

from kafka_lite.mirror.ureplicator.worker.kafka_connector import KafkaConnector
from kafka_lite.producer.producer_record import ProducerRecord
from tests.support.eventually import eventually
from tests.support.worker_source import T0, T1, WorkerSource


def take(connector: KafkaConnector, count: int) -> list[tuple[int, int]]:
    """Partition and offset of the next records, sorted."""
    return sorted((each.partition, each.offset) for each in islice(connector.get_stream(), count))


def test_a_partition_starts_at_its_committed_offset(source: WorkerSource) -> None:
    connector = source.connector()
    source.groups.set_offset("g", T0, 1)
    connector.add_topic_partition(T0)
    assert take(connector, 2) == [(0, 1), (0, 2)]
    connector.add_topic_partition(T1)
    assert take(connector, 3) == [(1, 0), (1, 1), (1, 2)]


def test_adding_twice_and_deleting_what_is_not_there_do_nothing(source: WorkerSource) -> None:
    connector = source.connector()
    connector.add_topic_partition(T0)
    take(connector, 3)
    connector.add_topic_partition(T0)
    connector.delete_topic_partition(T1)
    assert (connector.progress(), source.committed(), source.calls) == ({T0: (3, 3)}, [None, None], [])


def test_a_commit_writes_the_offsets_that_have_changed(source: WorkerSource) -> None:
    connector = source.connector()
    connector.add_topic_partition(T0)
    take(connector, 2)
    connector.commit_offsets()
    assert source.committed() == [2, None]
    version = source.tree.nodes["/consumers/g/offsets/t/0"].version
    connector.commit_offsets()
    assert source.tree.nodes["/consumers/g/offsets/t/0"].version == version


def test_a_partition_that_never_had_a_record_gets_no_offset(source: WorkerSource) -> None:
    source.cluster.leaders[T0] = -1
    connector = source.connector()
    connector.add_topic_partition(T0)
    connector.commit_offsets()
    connector.delete_topic_partition(T0)
    assert source.committed() == [None, None]


@pytest.mark.parametrize(("reset", "offset"), [("smallest", 0), ("largest", 3)])
def test_the_first_offset_is_kept_even_if_nothing_was_copied(source: WorkerSource, reset: str, offset: int) -> None:
    """Otherwise the next worker would start at the end as it is then, and skip records."""
    connector = source.connector(auto_offset_reset=reset)
    connector.add_topic_partition(T0)
    eventually(lambda: connector.progress())
    connector.delete_topic_partition(T0)
    assert source.committed() == [offset, None]


def test_a_deleted_partition_is_flushed_and_then_committed_alone(source: WorkerSource) -> None:
    connector = source.connector()
    for partition in (T0, T1):
        connector.add_topic_partition(partition)
    take(connector, 6)
    source.producer.send(ProducerRecord("t", b"2"))
    connector.delete_topic_partition(T0)
    assert source.committed() == [3, None]
    assert (source.calls, len(source.target.stored)) == (["send 2", "flush"], 1)
    assert connector.progress().keys() == {T1}
    source.cluster.ends = {T0: (0, 9), T1: (0, 4)}
    assert take(connector, 1) == [(1, 3)]


def test_a_lost_record_keeps_the_offset_of_a_deleted_partition_back(source: WorkerSource) -> None:
    connector = source.connector()
    connector.add_topic_partition(T0)
    take(connector, 3)
    source.target.failures[b"2"] = OSError("too large")
    source.producer.send(ProducerRecord("t", b"2"))
    connector.delete_topic_partition(T0)
    assert source.committed() == [None, None]
    assert source.state.exiting_on_send_failure


def test_a_partition_that_returns_continues_where_another_worker_left_it(source: WorkerSource) -> None:
    connector = source.connector()
    connector.add_topic_partition(T0)
    take(connector, 2)
    connector.delete_topic_partition(T0)
    source.groups.set_offset("g", T0, 1)  # an administrator went back
    connector.add_topic_partition(T0)
    assert take(connector, 1) == [(0, 1)]
    connector.commit_offsets()
    assert source.committed() == [2, None], "although this worker has written a 2 before"


def test_a_shutdown_leaves_nothing_open(source: WorkerSource) -> None:
    connector = source.connector()
    connector.add_topic_partition(T0)
    take(connector, 1)
    connector.shutdown()
    connector.shutdown()
    assert (source.cluster.brokers.open, [each.is_closed for each in source.sessions]) == (0, [True])
    assert source.committed() == [None, None]


def test_the_group_has_offsets_only(source: WorkerSource) -> None:
    connector = source.connector()
    connector.add_topic_partition(T0)
    take(connector, 1)
    connector.commit_offsets()
    assert source.cluster.zk.zookeeper.children("/consumers/g") == ["offsets"]
