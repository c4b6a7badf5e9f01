"""Share partitions of a broker: made, let go, and what wakes fetches that wait."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.group.modern.share_group_config import LATEST
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupAutoOffsetResetStrategy as Strategy
from kafka_lite.coordinator.share.persister import SharePartitionKey
from kafka_lite.server.share.record_state import ACCEPT, RELEASE
from kafka_lite.server.share.share_partition_manager import PendingOutcomes, _rotated
from tests.support.share_leaders import AT, AT1, ORDERS, TP, ShareLeader, acquired, errors

KEY = SharePartitionKey("g", ORDERS, 0)


def test_a_new_group_begins_where_its_configuration_says(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path, auto_offset_reset=LATEST)
    leader.broker.produce(TP, 3)
    assert leader.client("a").fetch(AT) is None
    share_partition = leader.manager.partitions.get(KEY)
    assert share_partition is not None
    assert share_partition.offsets == (3, 3)


@pytest.mark.parametrize(("ago", "first"), [("PT1H", None), ("P40000D", 0)])
def test_a_new_group_may_begin_at_a_time(tmp_path: Path, ago: str, first: int | None) -> None:
    """The records are of 1970."""
    leader = ShareLeader(tmp_path, auto_offset_reset=Strategy.parse(f"by_duration:{ago}"))
    leader.broker.produce(TP, 3)
    response = leader.client("a").fetch(AT)
    assert response is None if first is None else acquired(response) == {0: [(first, 2, 1)]}


def test_a_partition_that_others_lead_is_no_share_partition(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.lead(TP, leader=2, epoch=1, isr=(1, 2), topic_id=ORDERS)
    response = leader.client("a").fetch(AT)
    assert errors(response)[0][0] is Errors.NOT_LEADER_OR_FOLLOWER
    (data,) = response.responses[0].partitions
    assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (2, 9)


def test_a_leader_that_resigns_lets_its_share_partitions_go(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    client = leader.client("a")
    client.fetch(AT)
    share_partition = leader.manager.partitions.get(KEY)
    leader.broker.lead(TP, leader=2, epoch=1, isr=(1, 2), topic_id=ORDERS)
    assert len(leader.manager.partitions) == 0
    assert share_partition is not None
    assert not share_partition.is_active
    assert errors(client.acknowledge((0, 2, ACCEPT)))[0][0] is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_an_error_of_the_persister_is_told_and_the_next_fetch_tries_again(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    leader.persister.errors.append(Errors.COORDINATOR_NOT_AVAILABLE)
    client = leader.client("a")
    assert errors(client.fetch(AT))[0][0] is Errors.COORDINATOR_NOT_AVAILABLE
    assert acquired(client.fetch()) == {0: [(0, 2, 1)]}


def test_fetches_wait_for_the_first_state(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    leader.persister.hold()
    one, two = leader.client("a"), leader.client("b")
    assert one.fetch(AT) is None
    assert two.fetch(AT) is None
    leader.persister.release()
    assert acquired(one.responses[0]) == {0: [(0, 2, 1)]}
    assert two.responses == []
    leader.sleep(501)
    assert acquired(two.responses[0]) == {0: []}


def test_what_one_member_releases_wakes_another(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    one, two = leader.client("a"), leader.client("b")
    one.fetch(AT)
    assert two.fetch(AT) is None
    one.acknowledge((0, 2, RELEASE))
    assert acquired(two.responses[0]) == {0: [(0, 2, 2)]}


def test_a_member_that_is_gone_wakes_others(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    one, two = leader.client("a"), leader.client("b")
    one.fetch(AT)
    assert two.fetch(AT) is None
    one.leave()
    assert acquired(two.responses[0]) == {0: [(0, 2, 1)]}


def test_an_idle_group_is_forgotten_with_its_last_member(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    one = leader.client("a")
    one.fetch(AT)
    one.acknowledge((0, 2, ACCEPT))
    one.leave()
    assert len(leader.manager.partitions) == 0
    assert leader.client("b").fetch(AT) is None, "the persister knows that they are done with"


def test_a_lock_that_expires_wakes_others(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path, record_lock_duration_ms=300)
    leader.broker.produce(TP, 3)
    leader.client("a").fetch(AT)
    two = leader.client("b")
    assert two.fetch(AT) is None
    leader.sleep(301)
    assert acquired(two.responses[0]) == {0: [(0, 2, 2)]}


def test_a_fenced_state_is_let_go(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    one = leader.client("a")
    one.fetch(AT)
    leader.persister.errors.append(Errors.FENCED_STATE_EPOCH)
    assert errors(one.acknowledge((0, 2, ACCEPT)))[0][0] is Errors.NOT_LEADER_OR_FOLLOWER
    assert len(leader.manager.partitions) == 0


def test_a_topic_that_was_made_again_is_another_one(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.broker.produce(TP, 3)
    leader.client("a").fetch(AT)
    leader.broker.stop(TP, delete=True)
    assert len(leader.manager.partitions) == 0
    leader.broker.lead(TP, epoch=1, topic_id=UUID(int=8))
    leader.manager.shutdown()


def test_each_partition_is_first_at_times() -> None:
    partitions = [AT, AT1, TopicIdPartition(ORDERS, 2)]
    assert [_rotated(partitions, epoch)[0].partition for epoch in (0, 1, 2, 3)] == [0, 1, 2, 0]
    assert _rotated([], 5) == []


@pytest.mark.parametrize("count", [0, 2])
def test_a_request_gets_all_outcomes_at_once(count: int) -> None:
    told: list[object] = []
    partitions = [AT, AT1][:count]
    outcomes = PendingOutcomes(partitions, told.append)
    for each in partitions:
        assert told == []
        outcomes.add(each, None)
    assert told == [dict.fromkeys(partitions)]
