"""Rebalances after the delay, by the leader only."""

from __future__ import annotations

import pytest

from tests.support.eventually import eventually
from tests.support.ureplicator import DELAY_S, FakeMirror, owners


def three_workers(mirror: FakeMirror) -> None:
    manager = mirror.start_controller().manager
    for name in ("w1", "w2", "w3"):
        mirror.start_worker(name)
    manager.add_topic_to_mirror_maker("t", 6)
    mirror.pass_s(DELAY_S)
    assert owners(manager) == {"t": "123123"}


def test_a_dead_workers_partitions_move_after_the_delay(mirror: FakeMirror) -> None:
    three_workers(mirror)
    manager = mirror.controllers[0].manager
    mirror.kill_worker("w2")
    mirror.pass_s(DELAY_S - 1)
    assert owners(manager) == {"t": "123123"}
    mirror.pass_s(1)
    assert owners(manager) == {"t": "113133"}


def test_a_worker_that_is_back_in_time_keeps_its_partitions(mirror: FakeMirror) -> None:
    three_workers(mirror)
    mirror.kill_worker("w2")
    mirror.pass_s(DELAY_S / 2)
    mirror.start_worker("w2")
    writes = len(mirror.tree.writes)
    mirror.pass_s(DELAY_S)
    assert not [each for each in mirror.tree.writes[writes:] if "IDEALSTATES" in each]


def test_a_newcomer_gets_its_share(mirror: FakeMirror) -> None:
    three_workers(mirror)
    mirror.start_worker("w4")
    mirror.pass_s(DELAY_S)
    assert sorted(owners(mirror.controllers[0].manager)["t"]) == list("112234")


def test_a_topic_that_was_added_before_the_workers_came_is_dealt(mirror: FakeMirror) -> None:
    manager = mirror.start_controller().manager
    manager.add_topic_to_mirror_maker("t", 3)
    assert owners(manager) == {"t": "---"}
    mirror.start_worker("w1")
    mirror.pass_s(DELAY_S)
    assert owners(manager) == {"t": "111"}


def test_nothing_moves_while_auto_balancing_is_disabled(mirror: FakeMirror) -> None:
    three_workers(mirror)
    manager = mirror.controllers[0].manager
    manager.disable_auto_balancing()
    mirror.kill_worker("w2")
    mirror.pass_s(DELAY_S)
    assert owners(manager) == {"t": "123123"}
    manager.enable_auto_balancing()
    mirror.controllers[0].listener.rebalance_current_cluster()
    assert owners(manager) == {"t": "113133"}


def test_a_follower_rebalances_nothing(mirror: FakeMirror) -> None:
    three_workers(mirror)
    follower = mirror.start_controller("c2")
    mirror.kill_worker("w2")
    follower.listener.rebalance_current_cluster()
    assert owners(follower.manager) == {"t": "123123"}


def test_a_worker_that_dies_with_the_leader_is_seen_by_its_successor(mirror: FakeMirror) -> None:
    """The successor leads only after the dead leader's session, which may outlast the delay."""
    three_workers(mirror)
    follower = mirror.start_controller("c2")
    mirror.kill_worker("w2")
    mirror.controllers[0].manager.stop()
    mirror.controllers[0].manager.disable_auto_balancing()  # it has died, and its scheduler with it
    mirror.pass_s(DELAY_S)
    follower.manager.enable_auto_balancing()
    mirror.controllers[0].helix_session.end_session()
    eventually(lambda: follower.manager.is_leader)
    mirror.pass_s(DELAY_S)
    assert owners(follower.manager) == {"t": "113133"}


@pytest.mark.parametrize("hours", [-24, 24])
def test_a_wall_clock_that_jumps_changes_no_delay(
    mirror: FakeMirror, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_workers(mirror)
    manager = mirror.controllers[0].manager
    true_ms = mirror.time.milliseconds
    mirror.kill_worker("w2")
    monkeypatch.setattr(mirror.time, "milliseconds", lambda: true_ms() + hours * 3_600_000)
    mirror.pass_s(DELAY_S - 1)
    assert owners(manager) == {"t": "123123"}, "not earlier"
    mirror.pass_s(1)
    assert owners(manager) == {"t": "113133"}, "nor later"
