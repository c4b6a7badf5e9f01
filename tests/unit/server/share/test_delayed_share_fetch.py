"""How long a share fetch waits, and what it acquires of what it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.record.records import batches
from kafka_lite.server.share.record_state import ACCEPT
from tests.support.share_leaders import AT, AT1, ORDERS, TP, TP1, ShareLeader, acquired, errors


def offsets(response: Any, partition: int = 0) -> list[int]:
    """The offsets of the records in the response, acquired or not."""
    (data,) = [each for topic in response.responses for each in topic.partitions if each.partition_index == partition]
    records = data.records if isinstance(data.records, bytes) else data.records.to_bytes()
    return [record.offset for batch in batches(records) for record in batch.records()]


def test_a_fetch_waits_for_records(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    client = leader.client("a")
    assert client.fetch(AT, AT1) is None
    leader.broker.produce(TP1, 2)
    assert acquired(client.responses[0]) == {0: [], 1: [(0, 1, 1)]}
    assert leader.purgatory.delayed == 0


def test_a_fetch_waits_for_enough_bytes(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 1)
    client = leader.client("a")
    assert client.fetch(AT, min_bytes=10_000) is None
    leader.sleep(400)
    assert client.responses == []
    leader.sleep(101)
    assert acquired(client.responses[0]) == {0: [(0, 0, 1)]}, "the time is up: it gets what there is"


def test_records_are_sent_in_whole_batches_around_those_that_are_acquired(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    for _ in range(4):
        leader.broker.produce(TP, 2)
    one, two = leader.client("a"), leader.client("b")
    first = one.fetch(AT, max_records=3)
    assert (acquired(first), offsets(first)) == ({0: [(0, 3, 1)]}, [0, 1, 2, 3])
    second = two.fetch(AT, max_records=1)
    assert (acquired(second), offsets(second)) == ({0: [(4, 5, 1)]}, [4, 5])
    one.acknowledge((1, 2, ACCEPT))
    one.leave()
    third = two.fetch(max_records=1)
    assert (acquired(third), offsets(third)) == ({0: [(0, 0, 1), (3, 3, 1)]}, [0, 1, 2, 3])


def test_max_records_is_for_all_partitions(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    leader.broker.produce(TP1, 3)
    response = leader.client("a").fetch(AT, AT1, max_records=3)
    assert acquired(response) == {0: [(0, 2, 1)], 1: []}


def test_too_many_records_in_flight_are_waited_for(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path, partition_max_record_locks=2)
    leader.broker.produce(TP, 2)
    leader.broker.produce(TP, 2)
    one, two = leader.client("a"), leader.client("b")
    one.fetch(AT, max_records=1)
    assert two.fetch(AT) is None
    one.acknowledge((0, 1, ACCEPT))
    assert acquired(two.responses[0]) == {0: [(2, 3, 1)]}


def test_a_client_that_leaves_acquires_nothing(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    one, two = leader.client("a"), leader.client("b")
    assert one.fetch(AT) is None
    one.leave()
    assert one.responses == [None]
    leader.broker.produce(TP, 2)
    assert acquired(two.fetch(AT)) == {0: [(0, 1, 1)]}


def test_records_that_the_log_has_lost_are_passed(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 5)
    one = leader.client("a")
    one.fetch(AT)
    leader.sleep(30_001)
    leader.broker.replicas.delete_records(TP, 3)
    assert acquired(one.fetch()) == {}
    assert acquired(one.fetch()) == {0: [(3, 4, 2)]}


def test_a_partition_whose_leader_changes_ends_the_wait(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    client = leader.client("a")
    assert client.fetch(AT) is None
    leader.broker.lead(TP, leader=2, epoch=1, isr=(1, 2), topic_id=ORDERS)
    assert errors(client.responses[0]) == {0: (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NONE)}


def test_waiting_fetches_share_what_comes(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    clients = [leader.client(name) for name in "abc"]
    for client in clients:
        assert client.fetch(AT, max_records=1) is None
    leader.broker.produce(TP, 1)
    leader.broker.produce(TP, 1)
    leader.broker.produce(TP, 1)
    assert sorted(acquired(client.responses[0])[0] for client in clients) == [[(0, 0, 1)], [(1, 1, 1)], [(2, 2, 1)]]
