"""The recorded runs of chapter 3 show what its pages say about them, whenever they are recorded."""

from __future__ import annotations

from chapters.ch03_old_consumer.figures.old_consumer_figures import assign, ownership, znodes_of_two
from chapters.ch03_old_consumer.figures.old_consumer_runs import (
    commit_to_both,
    commit_to_zookeeper,
    low_level,
    one_to_three,
    queue_and_iterator,
    rebalance,
)
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun


def calls(run: RecordedRun, what: str) -> list[Event]:
    return [event for event in run if event.kind is Kind.CALL and event.what == what]


def index(run: RecordedRun, what: str, who: str = "", kind: Kind = Kind.CALL) -> int:
    """The index of an event's first occurrence."""
    return next(
        number
        for number, event in enumerate(run)
        if event.kind is kind and event.what == what and (not who or event.who == who)
    )


def test_a_member_that_claims_too_early_retries_and_an_owner_commits_before_it_releases() -> None:
    run = rebalance()
    outcomes = [event.what for event in run if event.kind is Kind.NOTE and event.who == "b"]
    assert outcomes[0] == "in vain: once more"
    assert outcomes[-1] == "done"
    assert [event.detail["partition"] for event in calls(run, "release_owner")] == [0, 1, 2, 3]
    assert len(calls(run, "set_offset")) == 4
    assert index(run, "set_offset") < index(run, "release_owner") < index(run, "_update_fetcher")


def test_every_partition_has_an_owner_after_each_rebalance() -> None:
    figure = ownership(one_to_three())
    owners = [[span.label for span in lane.spans] for lane in figure.lanes[:4]]
    assert [each[-1] for each in owners] == ["b", "b", "c", "c"]
    assert all(each[0] == "a" for each in owners)


def test_a_fetcher_that_waits_for_a_full_queue_keeps_its_offset() -> None:
    run = queue_and_iterator()
    changes = [event.detail["after"] for event in run if event.what == "fetched_offset"]
    assert changes == [0, 1, 2]
    second = [number for number, event in enumerate(run) if event.what == "fetched_offset"][-1]
    assert index(run, "__next__") < second
    assert [event.detail["after"] for event in run if event.what == "consumed_offset"] == [0, 1, 2]


def test_an_offset_is_not_written_to_zookeeper_twice() -> None:
    run = commit_to_zookeeper()
    assert [event.detail["offset"] for event in calls(run, "set_offset")] == [1, 2]
    assert [event.detail["demo-0"] for event in calls(run, "commit_offsets") if "demo-0" in event.detail] == [1, 1, 2]


def test_a_dual_commit_goes_to_kafka_first() -> None:
    run = commit_to_both()
    order = ["prepare_commit", "append_as_leader", "on_commit_append", "set_offset"]
    assert [event.what for event in run if event.kind is Kind.CALL and event.what in order] == order
    requests = [str(event.detail["thing"]) for event in run if event.kind is Kind.PUT and event.what == "request"]
    assert requests == ["FIND_COORDINATOR v0", "OFFSET_COMMIT v2"]


def test_the_example_looks_up_the_leader_again_and_continues() -> None:
    run = low_level()
    assert [event.detail["offset"] for event in calls(run, "fetch")] == [0, 0]
    assert len(calls(run, "find_leader")) == 3
    assert [event.what for event in run if event.kind is Kind.NOTE] == ["consumes offset 0", "consumes offset 1"]


def test_znodes_of_members_disappear_but_offsets_stay() -> None:
    alone, both, after = znodes_of_two()
    assert "offsets/demo/0" not in alone
    assert [both[f"owners/demo/{number}"] for number in range(4)] == ["readers_a-0"] * 2 + ["readers_b-0"] * 2
    assert set(both) - set(after) == {"ids/readers_a"}
    assert {after[f"owners/demo/{number}"] for number in range(4)} == {"readers_b-0"}


def test_the_strategies_differ_in_the_remaining_partitions() -> None:
    both = {"C1": {"t": 1, "u": 1}, "C2": {"t": 1, "u": 1}}
    assert {len(each) for each in assign("range", both, {"t": 3, "u": 3}).values()} == {2, 4}
    assert {len(each) for each in assign("roundrobin", both, {"t": 3, "u": 3}).values()} == {3}
