"""Leaders on a full disk: another replica leads until there is room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.server.leaders_without_room import ROOM_CHECK_MS
from tests.support.full_disk import FullDisk
from tests.support.replica_managers import TP, TP1, Broker

LOST = Errors.KAFKA_STORAGE_ERROR.code
KNOWN = Errors.STALE_CONTROLLER_EPOCH.code


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Leads TP with broker 2 in the ISR, and TP1 alone."""
    broker = Broker(tmp_path / "logs")
    broker.lead(TP, isr=(1, 2))
    broker.lead(TP1)
    yield broker
    broker.close()


def run_out_of_room(broker: Broker) -> None:
    error = OSError(28, "No space left on device")
    channel = broker.logs.log_dir_failure_channel
    assert not channel.maybe_add_offline_log_dir(broker.directory, "appending", error)


def leads(broker: Broker) -> bool:
    partition = broker.replicas.get_partition(TP)
    return partition is not None and partition.leader_replica_if_local is not None


def test_a_leader_with_room_is_not_offered(broker: Broker) -> None:
    assert not broker.state_changes.without_room.check(0)
    assert broker.lead(TP, isr=(1, 2)) == [0, KNOWN]


def test_only_a_partition_that_somebody_else_can_lead_is_reported_as_lost(broker: Broker) -> None:
    run_out_of_room(broker)
    assert broker.state_changes.without_room.check(0)
    assert not broker.state_changes.without_room.check(1), "the controller is notified once"
    assert broker.lead(TP, isr=(1, 2)) == [0, LOST]
    assert broker.lead(TP1) == [0, KNOWN]
    assert leads(broker), "reads go on until there is another leader"


def test_a_partition_whose_followers_have_left_the_isr_meanwhile_stays(broker: Broker) -> None:
    run_out_of_room(broker)
    broker.state_changes.without_room.check(0)
    assert broker.lead(TP, isr=(1,)) == [0, KNOWN]


def test_a_replica_that_is_stopped_leads_no_more_and_follows_once_there_is_room(broker: Broker) -> None:
    run_out_of_room(broker)
    broker.state_changes.without_room.check(0)
    broker.stop(TP, delete=False)
    assert not leads(broker)
    with pytest.raises(ApiError) as refused:
        broker.replicas.get_leader_partition(TP)
    assert refused.value.error is Errors.NOT_LEADER_OR_FOLLOWER
    assert broker.state_changes.without_room.check(ROOM_CHECK_MS), "there is room: the controller must know"
    assert broker.lead(TP, leader=2, epoch=1, isr=(2,), live=(2,)) == [0, 0]
    assert broker.followed == 1


def test_a_leader_that_has_room_is_not_stopped(broker: Broker) -> None:
    broker.stop(TP, delete=False)
    assert leads(broker)


def test_a_directory_stays_full_until_the_probe_fits(broker: Broker, full_disk: FullDisk) -> None:
    run_out_of_room(broker)
    without_room = broker.state_changes.without_room
    without_room.check(0)
    full_disk.fill()
    assert not without_room.check(ROOM_CHECK_MS)
    full_disk.make_room()
    assert not without_room.check(2 * ROOM_CHECK_MS - 1)
    assert without_room.check(2 * ROOM_CHECK_MS)
    assert broker.logs.log_dir_failure_channel.full_log_dirs == frozenset()


def test_a_deleted_partition_is_forgotten(broker: Broker) -> None:
    run_out_of_room(broker)
    broker.state_changes.without_room.check(0)
    broker.stop(TP, delete=True)
    assert not broker.state_changes.without_room.is_offered(TP)
