"""What a page shows of brokers, partitions and groups."""

from __future__ import annotations

from enum import Enum, auto
from types import SimpleNamespace
from typing import Any

from kafka_learn.live.snapshot import broker_rows, broker_state, group_row, partition_rows, topic_row, transaction_row
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.server.broker_states import BrokerState


def broker(number: int, state: object = BrokerState.RUNNING_AS_BROKER, **about: Any) -> Any:
    owner = SimpleNamespace(is_paused=about.get("is_paused", False), tasks=[1, 2])
    controller = SimpleNamespace(is_active=about.get("is_controller", False))
    process = SimpleNamespace(is_running=about.get("is_running", True), owner=owner)
    return SimpleNamespace(number=number, process=process, parts=SimpleNamespace(state=state, controller=controller))


def replica(number: int, leo: int, hw: int) -> Any:
    offsets = [SimpleNamespace(message_offset=offset) for offset in (leo, hw)]
    return SimpleNamespace(
        broker_id=number, log=object(), log_end_offset=offsets[0], high_watermark=offsets[1],
        last_stable_offset=SimpleNamespace(message_offset=hw - 1),
    )  # fmt: skip


def partition(on: int, leader: int, epoch: int, local: Any, isr: list[int], index: int = 0) -> Any:
    in_sync = [SimpleNamespace(broker_id=number) for number in isr]
    return SimpleNamespace(
        topic_partition=TopicPartition("demo", index), leader_id=leader, leader_epoch=epoch, in_sync_replicas=in_sync,
        local_broker_id=on, get_replica=lambda: local,
        assigned_replicas=[SimpleNamespace(broker_id=number) for number in (2, 0, 1)][: 3 - index],
        log=SimpleNamespace(config=SimpleNamespace(min_insync_replicas=2, unclean_leader_election_enable=False)),
    )  # fmt: skip


def server(*partitions: Any) -> Any:
    return SimpleNamespace(replica_manager=SimpleNamespace(partitions=list(partitions)))


def test_a_broker_is_down_paused_starting_or_up() -> None:
    assert broker_state(broker(0)) == "up"
    assert broker_state(broker(0, BrokerState.STARTING)) == "starting"
    assert broker_state(broker(0, is_paused=True)) == "paused"
    assert broker_state(broker(0, is_running=False)) == "down"
    assert broker_state(SimpleNamespace(process=None)) == "down"  # type: ignore[arg-type]


def test_the_row_of_a_broker_has_its_threads_and_says_whether_it_is_the_controller() -> None:
    rows = broker_rows([broker(0, is_controller=True), broker(1, is_running=False)])
    assert rows == [
        {"broker": 0, "state": "up", "is_controller": True, "threads": 2},
        {"broker": 1, "state": "down", "is_controller": False, "threads": 0},
    ]


def test_a_partition_has_what_each_replica_believes_of_itself() -> None:
    servers = [
        (0, server(partition(0, 0, 4, replica(0, leo=12, hw=10), [0, 1]))),
        (1, server(partition(1, 0, 4, replica(1, leo=10, hw=9), []))),
    ]
    assert partition_rows(servers, {"demo"}) == [
        {
            "topic": "demo", "partition": 0, "leader": 0, "epoch": 4, "isr": [0, 1], "assigned": [0, 1, 2], "lso": 9,
            "replicas": {"0": {"leo": 12, "hw": 10}, "1": {"leo": 10, "hw": 9}},
        }
    ]  # fmt: skip


def test_of_two_leaders_the_one_with_the_newer_epoch_counts() -> None:
    old, new = partition(0, 0, 4, replica(0, 5, 5), [0, 1]), partition(1, 1, 5, replica(1, 5, 5), [1])
    for servers in ([(0, server(old)), (1, server(new))], [(1, server(new)), (0, server(old))]):
        (row,) = partition_rows(servers, {"demo"})
        assert (row["leader"], row["epoch"], row["isr"]) == (1, 5, [1])


def test_other_topics_and_brokers_that_have_just_begun_are_left_out() -> None:
    assert partition_rows([(0, SimpleNamespace())], {"demo"}) == []
    assert partition_rows([(0, server(partition(0, 0, 1, replica(0, 1, 1), [0])))], {"other"}) == []


def test_a_topic_has_what_its_leaders_say() -> None:
    leaders = [
        (number, server(partition(number, number, 4, replica(number, 1, 1), [number], number))) for number in (0, 1)
    ]
    settings = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
    assert topic_row(leaders, "demo") == {"partitions": 2, "replicas": 2, **settings}
    assert topic_row([(0, SimpleNamespace())], "demo") is None
    assert topic_row([(0, server(partition(0, 1, 4, replica(0, 1, 1), [])))], "demo") is None


def coordinator(generation: int | None, *members: str) -> Any:
    group = SimpleNamespace(
        state=GroupState.STABLE, generation_id=generation,
        members={member: SimpleNamespace(client_id=member) for member in members},
    )  # fmt: skip
    manager = SimpleNamespace(get_group=lambda _: None if generation is None else group)
    return SimpleNamespace(groups=SimpleNamespace(group_manager=manager))


def test_a_group_is_what_its_newest_coordinator_knows() -> None:
    servers = [(0, coordinator(2, "b", "a")), (1, coordinator(3, "a")), (2, coordinator(None))]
    assert group_row(servers, "readers") == {
        "group": "readers", "coordinator": 1, "state": "STABLE", "generation": 3, "members": ["a"],
    }  # fmt: skip
    assert group_row([(2, coordinator(None)), (3, SimpleNamespace())], "readers") is None


class Unused(Enum):
    NOT_A_STATE = auto()


def test_a_state_that_is_not_running_counts_as_starting() -> None:
    assert broker_state(broker(0, Unused.NOT_A_STATE)) == "starting"


def test_a_transaction_is_what_its_coordinator_has() -> None:
    partitions = frozenset({TopicPartition("demo", 2), TopicPartition("demo", 0)})
    current = SimpleNamespace(
        state=SimpleNamespace(name="ONGOING"), producer_id=1000, producer_epoch=3, topic_partitions=partitions
    )
    known = {"reader": SimpleNamespace(current=current)}
    coordinators = [
        (0, SimpleNamespace()),
        (2, SimpleNamespace(transactions=SimpleNamespace(manager=SimpleNamespace(peek=known.get)))),
    ]
    assert transaction_row(coordinators, "reader") == {
        "coordinator": 2, "state": "ONGOING", "producer_id": 1000, "epoch": 3, "partitions": ["demo-0", "demo-2"],
    }  # fmt: skip
    assert transaction_row(coordinators, "nobody") is None
