"""Rebalances and changes of the config topic, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.connect.runtime.distributed.connect_protocol import CONFIG_MISMATCH, Assignment
from kafka_lite.connect.runtime.distributed.membership import Membership
from kafka_lite.connect.runtime.status import State
from tests.support.connect_herders import HerderOnTopics, Topics, started_connectors
from tests.support.connect_plugins import SOURCE
from tests.support.eventually import eventually

CONFIG = {"name": "a", "connector.class": SOURCE, "count": "1", "tasks.max": "1"}


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> Iterator[Topics]:
    topics = Topics(monkeypatch)
    yield topics
    topics.stop()


@pytest.fixture
def worker(topics: Topics) -> HerderOnTopics:
    """The only one of its group, with a connector."""
    worker = topics.worker()
    topics.settle()
    worker.ask(lambda herder: herder.put_connector_config("a", CONFIG, allow_replace=False))
    topics.settle()
    return worker


def _states(worker: HerderOnTopics) -> list[State]:
    worker.read()
    info = worker.herder.connector_status("a")
    return [info.connector.state, *(task.state for task in info.tasks)]


def _turns(topics: Topics) -> None:
    """Some turns of all workers, which read nothing of their own accord."""
    for _ in range(8):
        for each in topics.workers:
            each.herder.loop.tick()


def test_every_rebalance_stops_and_starts_everything(topics: Topics, worker: HerderOnTopics) -> None:
    eventually(lambda: _states(worker) == [State.RUNNING] * 2)
    before, generation = started_connectors(), topics.group.generation
    topics.group.rebalance()
    topics.settle()
    assert started_connectors() == before + 1
    texts = [value or "" for key, value in topics.statuses.texts() if key == "status-task-a-0"]
    assert f'"UNASSIGNED","trace":null,"worker_id":"w0:8083","generation":{generation}' in texts[-2]
    eventually(lambda: _states(worker) == [State.RUNNING] * 2)
    assert worker.herder.connector_status("a").connector.generation == generation + 1


def test_a_changed_connector_is_restarted_alone(topics: Topics, worker: HerderOnTopics) -> None:
    generation, before = topics.group.generation, started_connectors()
    worker.ask(lambda herder: herder.put_connector_config("a", CONFIG | {"more": "1"}, allow_replace=True))
    topics.settle()
    assert topics.group.generation == generation
    assert started_connectors() == before + 1
    # If it wants other tasks, a commit follows, and with it a rebalance.
    more = CONFIG | {"count": "2", "tasks.max": "2"}
    worker.ask(lambda herder: herder.put_connector_config("a", more, allow_replace=True))
    topics.settle()
    assert topics.group.generation == generation + 1
    assert len(worker.worker.task_ids) == 2


def test_pause_and_resume_cost_no_rebalance(topics: Topics, worker: HerderOnTopics) -> None:
    generation = topics.group.generation
    worker.herder.pause_connector("a")
    topics.settle()
    assert _states(worker)[0] is State.PAUSED
    # While it is paused it is not asked for its tasks: it is when it is resumed.
    more = CONFIG | {"count": "2", "tasks.max": "2"}
    worker.ask(lambda herder: herder.put_connector_config("a", more, allow_replace=True))
    topics.settle()
    assert topics.group.generation == generation
    worker.herder.resume_connector("a")
    topics.settle()
    assert topics.group.generation == generation + 1
    eventually(lambda: _states(worker) == [State.RUNNING] * 3)


def test_a_worker_that_is_behind_catches_up_before_it_starts(topics: Topics, worker: HerderOnTopics) -> None:
    behind = topics.worker()
    assert behind.configs.snapshot() == worker.configs.snapshot()  # it has read everything when it starts
    topics.settle()
    topics.configs.records.append((b"connector-b", b'{"properties":{"name":"b"}}'))
    worker.read()  # the leader knows it, the other worker does not
    _turns(topics)
    assert behind.herder.loop.config_state.offset == 4
    assert behind.herder.loop.membership is Membership.ACTIVE
    behind.read()
    assert behind.herder.connector_status("b").connector.state is State.FAILED  # it has no class


def test_a_leader_that_is_behind_reads_first(topics: Topics, worker: HerderOnTopics) -> None:
    ahead = topics.worker()
    topics.settle()
    topics.configs.records.append((b"connector-b", None))
    ahead.read()
    topics.group.rebalance()
    _turns(topics)
    assert worker.herder.loop.config_state.offset == 4
    topics.settle()
    assert worker.herder.loop.is_leader


def test_a_worker_that_has_read_beyond_the_assignment_joins_again(topics: Topics, worker: HerderOnTopics) -> None:
    loop, generation = worker.herder.loop, topics.group.generation
    old = Assignment(0, "m0", worker.member.url, loop.config_state.offset - 1, ("a",))
    loop.on_revoked(old)
    loop.on_assigned(old, generation + 1)
    assert not loop._resolve_assignment()
    assert loop.membership is Membership.JOINING
    assert not worker.worker.connector_names
    topics.settle()
    assert worker.worker.connector_names == ["a"]


def test_a_worker_that_cannot_read_stays_out_of_the_group(topics: Topics, worker: HerderOnTopics) -> None:
    other = topics.worker(**{"worker.sync.timeout.ms": "1", "worker.unsync.backoff.ms": "7000"})
    topics.settle()
    topics.configs.answers = False
    loop, now = other.herder.loop, other.time.hi_res_ms()
    failed = Assignment(CONFIG_MISMATCH, "m0", worker.member.url, 99)
    loop.on_revoked(failed)
    loop.on_assigned(failed, 9)
    loop.tick()
    assert loop.membership is Membership.UNSYNCED
    assert other.member.left == ["it cannot read the config topic"]
    assert other.time.hi_res_ms() - now == 7000
    assert other.member not in topics.group.members
    loop.tick()  # still not
    assert loop.membership is Membership.UNSYNCED
    topics.configs.answers = True
    topics.settle()
    assert other.member in topics.group.members


def test_requests_wait_until_the_worker_is_in_its_group(topics: Topics) -> None:
    worker = topics.worker()
    listed = worker.herder.connectors()
    worker.herder.loop.tick()  # woken up by the request
    assert not listed.done()
    worker.herder.loop.tick()
    assert listed.result(0) == []


def test_the_poll_ends_when_the_next_request_is_due(topics: Topics, worker: HerderOnTopics) -> None:
    topics.settle()
    worker.member.woken = False
    worker.herder.loop.submit(lambda: None, delay_ms=250)
    worker.herder.loop.tick()
    worker.herder.loop.tick()
    assert worker.member.timeouts[-1] == 250


def test_a_stop_does_not_wait_for_a_backoff(topics: Topics) -> None:
    worker = topics.worker()
    worker.herder.loop.wake_up()
    before = worker.time.hi_res_ms()
    worker.herder.loop._back_off(1e9)
    assert worker.time.hi_res_ms() == before
