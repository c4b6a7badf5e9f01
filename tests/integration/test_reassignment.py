"""Partitions move to other brokers, on request of a znode or the API, whatever happens to the controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kafka import TopicPartition as PyTopicPartition
from kafka.admin import KafkaAdminClient

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.dies_at_write import DiesAtWrite
from tests.support.eventually import eventually

PY_TP = PyTopicPartition(*TP)
WRITES = 7
"""How often the controller writes during a reassignment with two replicas that are removed."""
QUICK = [(2, False), (5, True), (7, False)]
OTHERS = [(n, after) for n in range(1, WRITES + 1) for after in (False, True) if (n, after) not in QUICK]


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    with three_brokers(tmp_path) as brokers:
        yield brokers


@pytest.fixture
def zk(brokers: Brokers) -> Iterator[KafkaZkClient]:
    client = KafkaZkClient(brokers.zookeeper.connect_string)
    client.start()
    yield client
    client.close()


@pytest.fixture
def admin(brokers: Brokers) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=brokers.bootstrap_servers)
    yield client
    client.close()


def create(brokers: Brokers, zk: KafkaZkClient, *partitions: list[int], topic: str = "orders") -> None:
    """Create a topic whose partitions have these replicas, and wait for the leaders and full ISRs."""
    zk.set_entity_config(f"topics/{topic}", {})
    zk.create_topic_assignment(topic, TopicAssignment(dict(enumerate(partitions))))
    for number, replicas in enumerate(partitions):
        partition = TopicPartition(topic, number)
        eventually(lambda p=partition: brokers.has_leader(p))
        eventually(lambda p=partition, r=replicas: isr(zk, p) == set(r))


def isr(zk: KafkaZkClient, partition: TopicPartition = TP) -> set[int]:
    state = zk.get_partition_state(partition)
    return set(state.leader_and_isr.isr) if state is not None else set()


def leader(zk: KafkaZkClient, partition: TopicPartition = TP) -> int | None:
    state = zk.get_partition_state(partition)
    return state.leader_and_isr.leader if state is not None else None


def hosts(brokers: Brokers, partition: TopicPartition = TP) -> set[int]:
    """The brokers that have a replica: in memory, or a log on disk."""
    found = set()
    for broker_id, server in brokers.servers.items():
        has_log = server.log_manager.get_log(partition) is not None
        if has_log or server.replica_manager.get_partition(partition) is not None:
            found.add(broker_id)
    return found


def is_moved(brokers: Brokers, zk: KafkaZkClient, target: list[int], partition: TopicPartition = TP) -> bool:
    """Whether nothing is left to do: znodes, ISR, leader, logs."""
    assignment = zk.get_topic_assignment(partition.topic)
    assert assignment is not None
    return (
        assignment.partitions[partition.partition] == target
        and not assignment.adding_replicas
        and not assignment.removing_replicas
        and not AdminRequests(zk.zookeeper).get_reassignment()
        and isr(zk, partition) == set(target)
        and leader(zk, partition) in target
        and hosts(brokers, partition) == set(target) & brokers.servers.keys()
    )


def by_znode(zk: KafkaZkClient, _admin: KafkaAdminClient, target: list[int]) -> None:
    AdminRequests(zk.zookeeper).create_reassignment({TP: target})


def by_api(_zk: KafkaZkClient, admin: KafkaAdminClient, target: list[int]) -> None:
    assert admin.alter_partition_reassignments({PY_TP: target}) == {PY_TP: None}


@pytest.mark.parametrize("reassign", [by_znode, pytest.param(by_api, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("old", "new"), [([0, 1], [2, 0]), ([0], [1]), ([0, 1], [1, 0]), ([0, 1, 2], [2]), ([1], [0, 1, 2])]
)
def test_a_partition_moves_with_all_its_records(
    brokers: Brokers,
    zk: KafkaZkClient,
    admin: KafkaAdminClient,
    reassign: Callable[..., None],
    old: list[int],
    new: list[int],
) -> None:
    create(brokers, zk, old)
    brokers.produce(*map(str, range(300)))
    reassign(zk, admin, new)
    eventually(lambda: is_moved(brokers, zk, new))
    assert brokers.produce(*map(str, range(300, 400))) == list(range(300, 400))
    for broker_id in new:
        eventually(lambda broker_id=broker_id: brokers.log(broker_id).log_end_offset == 400)
    assert brokers.read(400) == list(map(str, range(400)))
    eventually(lambda: admin.list_partition_reassignments() == {})


def stop_fetching(brokers: Brokers, broker_id: int) -> None:
    """Let a broker accept to follow, but never fetch."""
    brokers.servers[broker_id].replica_manager.fetchers.follow = lambda *_: None  # type: ignore[method-assign]


def test_a_reassignment_in_progress_is_listed_and_can_be_cancelled(
    brokers: Brokers, zk: KafkaZkClient, admin: KafkaAdminClient
) -> None:
    create(brokers, zk, [0, 1])
    stop_fetching(brokers, 2)
    by_api(zk, admin, [2, 0])
    listed = {PY_TP: {"replicas": [2, 0, 1], "adding_replicas": [2], "removing_replicas": [1]}}
    assert admin.list_partition_reassignments() == listed
    assert admin.list_partition_reassignments([PY_TP]) == listed
    assert admin.list_partition_reassignments([PyTopicPartition("orders", 1)]) == {}
    eventually(lambda: hosts(brokers) == {0, 1, 2})
    assert admin.alter_partition_reassignments({PY_TP: None}) == {PY_TP: None}
    eventually(lambda: is_moved(brokers, zk, [0, 1]))
    assert admin.list_partition_reassignments() == {}
    (error,) = admin.alter_partition_reassignments({PY_TP: None}).values()
    assert error.errno == Errors.NO_REASSIGNMENT_IN_PROGRESS.code


def test_a_second_reassignment_replaces_the_first(brokers: Brokers, zk: KafkaZkClient, admin: KafkaAdminClient) -> None:
    create(brokers, zk, [0])
    stop_fetching(brokers, 2)
    by_znode(zk, admin, [2])
    eventually(lambda: hosts(brokers) == {0, 2})
    by_api(zk, admin, [1])
    eventually(lambda: is_moved(brokers, zk, [1]))


def test_topics_do_not_grow_while_they_are_reassigned(
    brokers: Brokers, zk: KafkaZkClient, admin: KafkaAdminClient
) -> None:
    create(brokers, zk, [0])
    stop_fetching(brokers, 2)
    by_api(zk, admin, [2])
    with pytest.raises(Exception, match="in progress"):
        brokers.create_partitions("orders", 2)
    admin.alter_partition_reassignments({PY_TP: None})
    brokers.create_partitions("orders", 2)


def test_a_topic_is_deleted_after_its_reassignment(
    brokers: Brokers, zk: KafkaZkClient, admin: KafkaAdminClient
) -> None:
    create(brokers, zk, [0])
    stop_fetching(brokers, 2)
    by_api(zk, admin, [2])
    zk.create_delete_topic("orders")
    other = brokers.servers[brokers.controller].controller.topic_deletion_manager
    eventually(lambda: other.is_topic_queued_up_for_deletion("orders"))
    assert zk.topic_exists("orders")
    brokers.stop(2)
    brokers.start(2)
    eventually(lambda: not zk.topic_exists("orders"))
    eventually(lambda: hosts(brokers) == set())


def test_impossible_targets_are_refused(brokers: Brokers, zk: KafkaZkClient, admin: KafkaAdminClient) -> None:
    create(brokers, zk, [0, 1])
    for target in ([9], [0, 0], [-1]):
        (refused,) = admin.alter_partition_reassignments({PY_TP: target}).values()
        assert refused.errno == Errors.INVALID_REPLICA_ASSIGNMENT.code
    (unknown,) = admin.alter_partition_reassignments({PyTopicPartition("orders", 7): [0]}).values()
    assert unknown.errno == Errors.UNKNOWN_TOPIC_OR_PARTITION.code
    eventually(lambda: is_moved(brokers, zk, [0, 1]))


def test_entries_that_are_impossible_or_done_leave_the_znode(brokers: Brokers, zk: KafkaZkClient) -> None:
    create(brokers, zk, [0, 1])
    requests = AdminRequests(zk.zookeeper)
    requests.create_reassignment({TP: [0, 1], TopicPartition("nowhere", 0): [1], TopicPartition("orders", 8): [0]})
    eventually(lambda: zk.zookeeper.exists("/admin/reassign_partitions") is None)
    zk.zookeeper.create("/admin/reassign_partitions", b"nonsense")
    eventually(lambda: zk.zookeeper.exists("/admin/reassign_partitions") is None)
    eventually(lambda: is_moved(brokers, zk, [0, 1]))


def test_a_reassignment_to_a_dead_broker_waits_for_it(brokers: Brokers, zk: KafkaZkClient) -> None:
    create(brokers, zk, [0])
    brokers.produce("one", "two")
    brokers.stop(2)
    requests = AdminRequests(zk.zookeeper)
    requests.create_reassignment({TP: [2]})
    eventually(lambda: (zk.get_topic_assignment("orders") or TopicAssignment({})).adding_replicas)
    assert requests.get_reassignment() == {TP: [2]}
    brokers.start(2)
    eventually(lambda: is_moved(brokers, zk, [2]))
    assert brokers.log(2).log_end_offset == 2


@pytest.mark.parametrize(
    ("number", "after"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.soak) for case in OTHERS)]
)
def test_another_controller_completes_the_reassignment_of_one_that_dies_at_any_write(
    brokers: Brokers, zk: KafkaZkClient, number: int, after: bool
) -> None:
    dying = brokers.controller
    first, second = (each for each in range(3) if each != dying)
    create(brokers, zk, [first, dying])
    brokers.produce(*map(str, range(50)))
    # The controller is neither the new replica nor the only old one.
    death = DiesAtWrite(brokers.servers[dying], number, after=after)
    AdminRequests(zk.zookeeper).create_reassignment({TP: [second]})
    # Not "or until it is moved": ZooKeeper has the last write before the controller dies at it.
    eventually(lambda: death.died_at, "a reassignment has fewer writes than WRITES says")
    brokers.kill(dying)
    assert brokers.controller != dying
    eventually(
        lambda: is_moved(brokers, zk, [second]),
        lambda: (zk.get_topic_assignment("orders"), zk.get_partition_state(TP), hosts(brokers), death.died_at),
    )
    assert brokers.read(50) == list(map(str, range(50)))
    # A replica that was removed while its broker was dead leaves its files there, as in Kafka.
    returned = brokers.start(dying)
    eventually(lambda: returned.metadata_cache.get_partition_info(TP) is not None)
    assert returned.replica_manager.get_partition(TP) is None
    assert isr(zk) == {second}
