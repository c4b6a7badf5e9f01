from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.protocol.api_key import ApiKey
from tests.support.connect_group import URL, Member, Snapshots

CONFIGS = ClusterConfigState(7, {"sink": 2}, {"sink": {}})


def test_a_wakeup_ends_a_poll_that_would_last_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.ensure_active()
    group.member.wakeup()
    with pytest.raises(WakeupError):
        group.member.poll(float("inf"))


def test_a_wakeup_does_not_lose_a_join(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.wakeup()
    with pytest.raises(WakeupError):
        group.member.ensure_active()
    group.member.ensure_active()
    assert [event for event, _, _ in group.listener.told] == ["assigned"]


def test_a_member_that_stops_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.ensure_active()
    group.member.stop()
    assert len(group.broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert [event for event, _, _ in group.listener.told] == ["assigned"]  # the herder stops its work by itself


def test_a_member_that_cannot_keep_up_leaves_and_joins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.ensure_active()
    group.member.maybe_leave_group("it is behind")
    assert group.member.member_id == ""
    group.member.ensure_active()
    assert len(group.broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert group.listener.told[-1][1:] == (Assignment(0, "me", URL, 7, ("sink",), CONFIGS_TASKS), 2)


CONFIGS_TASKS = tuple(CONFIGS.tasks("sink"))


def test_the_metrics_say_what_is_assigned(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS), **{"client.id": "w"})

    def values() -> dict[str, float]:
        metrics = group.member.metrics().items()
        return {name.name: metric.value for name, metric in metrics if name.group == "connect-coordinator-metrics"}

    assert values()["assigned-tasks"] == 0
    group.member.ensure_active()
    assert (values()["assigned-connectors"], values()["assigned-tasks"]) == (1, 2)
    assert values()["join-rate"] > 0
    assert "assigned-partitions" not in values()
    assert all(("client-id", "w") in name.tags for name in group.member.metrics())


def test_a_group_that_refuses_the_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.broker.errors[ApiKey.JOIN_GROUP] = [Errors.GROUP_AUTHORIZATION_FAILED]
    with pytest.raises(ApiError) as raised:
        group.member.ensure_active()
    assert raised.value.error is Errors.GROUP_AUTHORIZATION_FAILED


def test_a_heartbeat_has_to_come_before_the_session_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((ConfigError, ValueError), match="Heartbeat must be set lower than the session timeout"):
        Member(monkeypatch, Snapshots(CONFIGS), **{"heartbeat.interval.ms": "10000"})
