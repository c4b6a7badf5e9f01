"""Recorded runs of groups show what the chapter says about them, and the scripted group follows the protocol."""

import itertools

import pytest

from chapters.ch05_coordinator.figures import group_figures, group_runs
from kafka_learn.recording.group_by_hand import PARKED, GroupByHand
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_lite.testing import Cluster


def labels(run: RecordedRun) -> list[str]:
    """Each event with its subject and its text."""
    return [f"{event.who}: {event.what} {event.detail.get('says', '')}".rstrip() for event in run]


def in_order(run: RecordedRun, *wanted: str) -> bool:
    """Whether these happened in this order, possibly with others in between."""
    happened = iter(labels(run))
    return all(one in happened for one in wanted)


def test_four_members_join_and_the_leader_assigns():
    run = group_runs.four_members_join()
    said = labels(run)
    assert in_order(
        run,
        "ann: JoinGroup without an id",
        "ann: JoinGroup response MEMBER_ID_REQUIRED",
        "GroupMetadata: + ann",
        "GroupMetadata: + bob",
        "GroupMetadata: + cid",
        "GroupMetadata: + dan",
        "DelayedJoin: complete",
        "ann: JoinGroup response generation 1, leader of 4",
        "ann: SyncGroup parts for 4",
        "ann: SyncGroup response demo-0",
    )
    assert {f"{name}: JoinGroup response generation 1" for name in ("bob", "cid", "dan")} <= set(said)
    assert {
        "bob: SyncGroup response demo-1",
        "cid: SyncGroup response demo-2",
        "dan: SyncGroup response demo-3",
    } <= set(said)
    states = [event.detail["after"] for event in run if event.kind is Kind.STATE]
    assert states == ["PREPARING_REBALANCE", "AWAITING_SYNC", "STABLE"]


def test_a_commit_of_the_old_generation_is_accepted_while_the_next_one_is_prepared():
    run = group_runs.commit_in_a_rebalance()
    assert in_order(
        run,
        "GroupMetadata: + bob",
        "ann: Heartbeat response REBALANCE_IN_PROGRESS",
        "ann: OffsetCommit response NONE",
        "ann: commit_sync: done",
        "ann: JoinGroup with its id",
        "bob: JoinGroup response generation 2",
    )


def test_a_member_that_returns_after_its_session_is_unknown():
    run = group_runs.late_heartbeat()
    assert in_order(
        run,
        "DelayedHeartbeat: waits",
        "GroupCoordinator: clock: + 12 s",
        "DelayedHeartbeat: the time is up",
        "GroupMetadata: − bob",
        "ann: on_join_complete, has 0 1 2 3",
        "bob: Heartbeat response UNKNOWN_MEMBER_ID",
        "bob: commit_sync: CommitFailedError",
        "bob: JoinGroup without an id",
    )


def test_a_member_that_does_not_join_within_the_rebalance_timeout_is_removed_despite_its_heartbeats():
    run = group_runs.late_join()
    assert in_order(
        run,
        "GroupMetadata: + bob",
        "ann: Heartbeat response REBALANCE_IN_PROGRESS",
        "DelayedJoin: complete",
        "GroupMetadata: − ann",
        "bob: on_join_complete, has 0 1 2 3",
        "ann: commit_sync: CommitFailedError",
    )


def test_every_partition_has_one_owner_at_a_time_and_five_consumers_share_four():
    run = group_runs.one_to_five()
    figure = group_figures.ownership(run)
    partitions = [lane for lane in figure.lanes if lane.label.startswith("partition")]
    assert [lane.label for lane in partitions] == [f"partition {number}" for number in range(4)]
    for lane in partitions:
        spans = sorted(lane.spans, key=lambda span: span.start_ns)
        assert all(one.end_ns <= other.start_ns for one, other in itertools.pairwise(spans)), lane.label
        assert spans[0].label == "ann"
        assert spans[-1].label == "eve"
    assert "on_join_complete, has nothing" in {event.what for event in run}, "the fifth consumer of four partitions"
    assert figure.svg().startswith("<svg")


def test_responses_follow_the_protocol():
    text = group_figures.responses("en").replace("<wbr>", "").replace("<code>", "`").replace("</code>", "`")
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()]
    table = {row[0]: row[1:] for row in rows}
    assert table["Request"] == [f"`{state}`" for state in group_figures.STATES]
    assert table["Heartbeat"] == ["`UNKNOWN_MEMBER_ID`", "`REBALANCE_IN_PROGRESS`", "`NONE`", "`NONE`"]
    assert table["OffsetCommit"] == ["`UNKNOWN_MEMBER_ID`", "`NONE`", "`REBALANCE_IN_PROGRESS`", "`NONE`"]
    assert table["JoinGroup of a follower, unchanged"][1:] == ["*parked*", *["generation 2, follower"] * 2]
    assert group_figures.responses("zh").count("\n") == len(rows)


@pytest.mark.timeout(120)
def test_the_scripted_group_shows_whose_request_is_parked():
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        assert group.state == "none"
        ann, bob = group.member("ann", version=4), group.member("bob")
        assert str(ann.join()) == "ann: MEMBER_ID_REQUIRED"
        assert str(ann.join()) == "ann: generation 1, leader of 1"
        assert bob.join().response == PARKED
        assert str(group) == "generation 1, PREPARING_REBALANCE, members: ann, [bob]"
        cluster.time.advance(seconds=11)
        group.wait_for("AWAITING_SYNC")
        assert str(group) == "generation 2, AWAITING_SYNC, members: bob"
        assert bob.sync({bob: b"all"}).assignment == b"all"
        assert ann.heartbeat().response == ann.commit(1).response == "UNKNOWN_MEMBER_ID"
