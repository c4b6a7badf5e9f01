"""Several herders on the same topics. Nothing happens but in the turns that the test makes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.distributed_herder import DistributedHerder
from kafka_lite.connect.runtime.herder_errors import (
    BadRequestError,
    NotAssignedError,
    NotLeaderError,
    RebalanceNeededError,
)
from kafka_lite.connect.runtime.status import State
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from tests.support.connect_herders import Topics, started_connectors
from tests.support.connect_plugins import SINK, SOURCE, IdleSourceConnector
from tests.support.connect_samples import two_workers
from tests.support.eventually import eventually

CONFIG = {"name": "a", "connector.class": SOURCE, "count": "2", "tasks.max": "5"}
T0, T1 = ConnectorTaskId("a", 0), ConnectorTaskId("a", 1)


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> Iterator[Topics]:
    topics = Topics(monkeypatch)
    yield topics
    topics.stop()


def _group(topics: Topics, size: int) -> Topics:
    """Workers in a group. The first one leads."""
    for _ in range(size):
        topics.worker()
    topics.settle()
    return topics


def _put(name: str, config: dict[str, str]) -> Callable[[DistributedHerder], Any]:
    return lambda herder: herder.put_connector_config(name, config, allow_replace=True)


def _create(topics: Topics, **changes: str) -> Any:
    created = topics.workers[0].ask(
        lambda herder: herder.put_connector_config("a", CONFIG | changes, allow_replace=False)
    )
    topics.settle()
    return created


def _owners(topics: Topics) -> dict[str, int]:
    """Which worker runs what."""
    return {
        str(each): number
        for number, worker in enumerate(topics.workers)
        for each in (*worker.worker.connector_names, *worker.worker.task_ids)
    }


def _states(topics: Topics, worker: int = 0) -> list[State]:
    topics.workers[worker].read()
    info = topics.workers[worker].herder.connector_status("a")
    return [info.connector.state, *(task.state for task in info.tasks)]


def test_creating_a_connector_takes_two_rebalances(topics: Topics) -> None:
    before = _group(topics, 2).group.generation
    created = _create(topics)
    assert (created.created, created.result.tasks) == (True, [])
    assert topics.group.generation == before + 2  # one for the connector, one for its tasks
    assert _owners(topics) == {"a": 0, "a-0": 1, "a-1": 0}
    assert [key for key, _ in topics.configs.texts()] == ["connector-a", "task-a-0", "task-a-1", "commit-a"]
    eventually(lambda: _states(topics, 1) == [State.RUNNING] * 3)
    info = topics.workers[1].ask(lambda herder: herder.connector_info("a"))
    assert (info.config, info.tasks) == (CONFIG, [T0, T1])
    assert topics.workers[1].ask(DistributedHerder.connectors) == ["a"]
    assert topics.workers[1].ask(lambda herder: herder.connector_config("a")) == CONFIG
    tasks = topics.workers[1].ask(lambda herder: herder.task_configs("a"))
    assert [(task.id, task.config["number"]) for task in tasks] == [(T0, "0"), (T1, "1")]


def test_an_owner_that_does_not_lead_asks_the_leader_for_its_tasks(topics: Topics) -> None:
    _group(topics, 2)
    for name in ("a", "b"):
        topics.workers[0].ask(_put(name, CONFIG | {"name": name}))
        topics.settle()
    assert _owners(topics)["b"] == 1
    assert [(url, method) for url, method, _ in topics.sent] == [("http://w0:8083/connectors/b/tasks", "POST")]
    assert {"a-0", "a-1", "b-0", "b-1"} <= _owners(topics).keys()


@pytest.mark.parametrize(
    "call",
    [
        lambda herder: herder.put_connector_config("a", CONFIG, allow_replace=False),
        lambda herder: herder.delete_connector_config("a"),
        lambda herder: herder.put_task_configs("a", []),
        lambda herder: herder.stop_connector("a"),
        lambda herder: herder.restart_connector("a"),
        lambda herder: herder.restart_task(T1),
        lambda herder: herder.restart_connector_and_tasks(RestartRequest("a", only_failed=True)),
    ],
)
def test_a_worker_that_is_not_the_leader_names_it(topics: Topics, call: Callable[[DistributedHerder], Any]) -> None:
    _group(topics, 2)
    _create(topics)
    with pytest.raises(NotLeaderError) as raised:
        topics.workers[1].ask(call)
    assert raised.value.forward_url == "http://w0:8083/"


def test_restarts_are_done_by_the_owner(topics: Topics) -> None:
    _group(topics, 2)
    _create(topics)
    before, generation = started_connectors(), topics.group.generation
    topics.workers[0].ask(lambda herder: herder.restart_connector("a"))
    assert started_connectors() == before + 1
    topics.workers[1].ask(lambda herder: herder.restart_task(T0))
    with pytest.raises(NotAssignedError) as raised:
        topics.workers[0].ask(lambda herder: herder.restart_task(T0))
    assert raised.value.forward_url == "http://w1:8083/"
    assert topics.group.generation == generation  # a restart moves nothing
    eventually(lambda: _states(topics) == [State.RUNNING] * 3)


def test_every_worker_restarts_what_it_runs_of_a_connector(topics: Topics) -> None:
    _group(topics, 2)
    _create(topics)
    eventually(lambda: _states(topics) == [State.RUNNING] * 3)
    before, generation, written = started_connectors(), topics.group.generation, len(topics.statuses.texts())
    request = RestartRequest("a", include_tasks=True)
    info = topics.workers[0].ask(lambda herder: herder.restart_connector_and_tasks(request))
    assert [info.connector.state, *(task.state for task in info.tasks)] == [State.RESTARTING] * 3
    assert info.kind == "source"
    assert topics.configs.texts()[-1] == ("restart-connector-a", '{"include-tasks":true,"only-failed":false}')
    topics.settle()
    eventually(lambda: _states(topics) == [State.RUNNING] * 3)
    assert started_connectors() == before + 1
    assert topics.group.generation == generation  # a restart moves nothing
    states: dict[str, list[str]] = {}
    for key, value in topics.statuses.texts()[written:]:
        states.setdefault(key.removeprefix("status-"), []).append(json.loads(value or "")["state"])
    assert states.keys() == {"connector-a", "task-a-0", "task-a-1"}
    assert all(each == ["UNASSIGNED", "RESTARTING", "RUNNING"] for each in states.values())
    assert _owners(topics) == {"a": 0, "a-0": 1, "a-1": 0}


def test_a_request_for_what_has_failed_leaves_the_rest_alone(topics: Topics) -> None:
    _group(topics, 1)
    _create(topics, fails="task")
    eventually(lambda: _states(topics) == [State.RUNNING, State.FAILED, State.FAILED])
    before = started_connectors()
    request = RestartRequest("a", only_failed=True, include_tasks=True)
    info = topics.workers[0].ask(lambda herder: herder.restart_connector_and_tasks(request))
    assert info.connector.state is State.RUNNING
    assert [task.state for task in info.tasks] == [State.RESTARTING] * 2
    topics.settle()
    assert started_connectors() == before
    restarted = {key for key, value in topics.statuses.texts() if value is not None and '"RESTARTING"' in value}
    assert restarted == {"status-task-a-0", "status-task-a-1"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda herder: herder.connector_info("none"), "Connector none not found"),
        (lambda herder: herder.connector_config("none"), "Connector none not found"),
        (lambda herder: herder.task_configs("none"), "Connector none not found"),
        (lambda herder: herder.delete_connector_config("none"), "Connector none not found"),
        (lambda herder: herder.put_task_configs("none", []), "Connector none not found"),
        (lambda herder: herder.stop_connector("none"), "Unknown connector none"),
        (lambda herder: herder.restart_connector("none"), "Unknown connector: none"),
        (lambda herder: herder.restart_task(ConnectorTaskId("none", 0)), "Unknown connector: none"),
        (lambda herder: herder.restart_connector_and_tasks(RestartRequest("none")), "Unknown connector: none"),
        (lambda herder: herder.restart_task(ConnectorTaskId("a", 7)), "Unknown task: a-7"),
    ],
)
def test_the_unknown_is_not_found(topics: Topics, call: Any, message: str) -> None:
    _group(topics, 1)
    _create(topics)
    with pytest.raises(NotFoundError, match=f"^{message}$"):
        topics.workers[0].ask(call)


def test_a_connector_that_exists_is_changed_by_put_only(topics: Topics) -> None:
    _group(topics, 1)
    _create(topics)
    with pytest.raises(AlreadyExistsError, match="Connector a already exists"):
        topics.workers[0].ask(lambda herder: herder.put_connector_config("a", CONFIG, allow_replace=False))
    put = lambda herder: herder.put_connector_config("a", CONFIG, allow_replace=True)  # noqa: E731
    generation = topics.group.generation
    assert not topics.workers[0].ask(put).created
    topics.settle()
    assert topics.group.generation == generation  # the same tasks: no commit, no rebalance
    assert [key for key, _ in topics.configs.texts()][4:] == ["connector-a"]


def test_two_creations_in_one_turn_do_not_overwrite_each_other(topics: Topics) -> None:
    _group(topics, 1)
    herder = topics.workers[0].herder
    futures = [herder.put_connector_config("a", CONFIG, allow_replace=False) for _ in range(2)]
    herder.loop.tick()
    herder.loop.tick()
    assert futures[0].result(0).created
    assert isinstance(futures[1].exception(0), AlreadyExistsError)


def test_requests_that_depend_on_owners_are_refused_while_a_rebalance_is_expected(topics: Topics) -> None:
    _group(topics, 1)
    herder = topics.workers[0].herder
    created = herder.put_connector_config("a", CONFIG, allow_replace=False)
    listed = herder.connectors()
    herder.loop.tick()
    herder.loop.tick()
    assert created.result(0).created
    assert isinstance(listed.exception(0), RebalanceNeededError)
    topics.settle()
    assert topics.workers[0].ask(DistributedHerder.connectors) == ["a"]


def test_a_stopped_connector_has_no_tasks_and_keeps_its_configuration(topics: Topics) -> None:
    _group(topics, 2)
    _create(topics)
    eventually(lambda: _states(topics, 1) == [State.RUNNING] * 3)
    before = len(topics.configs.texts())
    topics.workers[0].ask(lambda herder: herder.stop_connector("a"))
    topics.settle()
    # The target state is the one that Kafka 3.9.1 writes: earlier workers find the connector paused.
    assert topics.configs.texts()[before:] == [
        ("commit-a", '{"tasks":0}'), ("target-state-a", '{"state":"PAUSED","state.v2":"STOPPED"}'),
    ]  # fmt: skip
    assert _owners(topics) == {"a": 0}
    assert _states(topics, 0) == _states(topics, 1) == [State.STOPPED]
    info = topics.workers[1].ask(lambda herder: herder.connector_info("a"))
    assert (info.config, info.tasks) == (CONFIG, [])

    topics.workers[1].herder.resume_connector("a")
    topics.settle()
    assert _owners(topics) == {"a": 0, "a-0": 1, "a-1": 0}
    eventually(lambda: _states(topics) == [State.RUNNING] * 3)


def test_a_stopped_connector_gets_no_tasks_from_a_change_or_from_its_owner(topics: Topics) -> None:
    _group(topics, 1)
    _create(topics)
    topics.workers[0].ask(lambda herder: herder.stop_connector("a"))
    with pytest.raises(BadRequestError, match="Cannot submit non-empty set of task configs for stopped connector a"):
        topics.workers[0].ask(lambda herder: herder.put_task_configs("a", [{"number": "0"}]))
    topics.workers[0].ask(_put("a", CONFIG | {"count": "1"}))
    topics.settle()
    topics.workers[0].ask(lambda herder: herder.restart_connector("a"))
    topics.settle()
    assert (_owners(topics), _states(topics)) == ({"a": 0}, [State.STOPPED])


def test_the_leader_changes_offsets_once_no_task_runs(topics: Topics) -> None:
    _group(topics, 2)
    _create(topics)
    leader, other = (worker.herder for worker in topics.workers)
    with pytest.raises(BadRequestError, match="must be in the STOPPED state"):
        topics.in_turns(lambda: leader.reset_connector_offsets("a"))
    topics.workers[0].ask(lambda herder: herder.stop_connector("a"))
    assert "a-0" in _owners(topics)  # on the other worker, which has not noticed yet
    message = topics.in_turns(lambda: leader.alter_connector_offsets("a", [({"p": 1}, {"at": 2})]))
    assert "altered successfully" in message
    assert _owners(topics) == {"a": 0}
    assert [(each.partition, each.offset) for each in leader.connector_offsets("a")] == [({"p": 1}, {"at": 2})]
    with pytest.raises(NotLeaderError, match="Only the leader can process external offsets modification requests"):
        topics.in_turns(lambda: other.reset_connector_offsets("a"))
    with pytest.raises(NotFoundError, match="Connector none not found"):
        topics.in_turns(lambda: leader.reset_connector_offsets("none"))


def test_a_worker_that_joins_finds_a_connector_stopped(topics: Topics) -> None:
    _group(topics, 1)
    _create(topics)
    topics.workers[0].ask(lambda herder: herder.stop_connector("a"))
    topics.settle()
    topics.worker()
    topics.settle()
    assert (_owners(topics), _states(topics, 1)) == ({"a": 0}, [State.STOPPED])


def test_a_deleted_connector_leaves_no_status(topics: Topics) -> None:
    _group(topics, 2)
    _create(topics)
    eventually(lambda: _states(topics) == [State.RUNNING] * 3)
    topics.workers[0].ask(lambda herder: herder.delete_connector_config("a"))
    topics.settle()
    assert _owners(topics) == {}
    assert [key for key, value in topics.configs.texts() if value is None] == ["connector-a", "target-state-a"]
    assert {key for key, value in topics.statuses.texts() if value is None} == {
        "status-connector-a", "status-task-a-0", "status-task-a-1",
    }  # fmt: skip
    with pytest.raises(NotFoundError, match="No status found for connector a"):
        _states(topics, 1)


def test_a_commit_that_came_twice_leaves_no_connector_without_tasks(topics: Topics) -> None:
    """Its response was lost, so the leader's producer has sent it again. Kafka's worker waits for another change."""
    _group(topics, 2)
    _create(topics)
    (commit,) = [record for record in topics.configs.records if record[0] == b"commit-a"]
    topics.configs.records.append(commit)
    topics.settle()
    assert _owners(topics) == {"a": 0, "a-0": 1, "a-1": 0}
    eventually(lambda: _states(topics) == [State.RUNNING] * 3)


def test_a_connector_may_ask_for_other_tasks(topics: Topics) -> None:
    _group(topics, 1)
    _create(topics)
    connector = IdleSourceConnector.created[-1]
    assert isinstance(connector, IdleSourceConnector)
    connector.props = {"count": "4"}
    connector.context.request_task_reconfiguration()
    topics.settle()
    # They are committed. The rebalance then restarts the connector, with the old configuration.
    commits = [value for key, value in topics.configs.texts() if key == "commit-a"]
    assert commits == ['{"tasks":2}', '{"tasks":4}', '{"tasks":2}']


def test_invalid_configurations_are_refused_before_the_herder_is_asked(topics: Topics) -> None:
    _group(topics, 1)
    herder = topics.workers[0].herder
    refused = herder.put_connector_config("a", CONFIG | {"tasks.max": "0"}, allow_replace=True)
    assert isinstance(refused.exception(0), BadRequestError)
    assert type(herder.put_connector_config("a", {"connector.class": "No"}, allow_replace=True).exception(0)) is (
        ConnectError
    )


def test_a_sink_must_not_get_into_the_group_of_the_workers(topics: Topics) -> None:
    _group(topics, 1)
    config = {"name": "cluster", "connector.class": SINK, "topics": "t"}  # its group is connect-cluster
    error = topics.workers[0].herder.put_connector_config("cluster", config, allow_replace=True).exception(0)
    assert (
        "Consumer group for sink connector named cluster conflicts with Connect worker group connect-cluster"
        in str(error).splitlines()
    )
    source = CONFIG | {"name": "cluster"}
    assert (
        topics.workers[0].ask(lambda herder: herder.put_connector_config("cluster", source, allow_replace=True)).created
    )


def test_a_worker_that_stops_refuses_requests(topics: Topics) -> None:
    _group(topics, 2)
    _create(topics)
    leaving = topics.workers.pop()
    leaving.herder.run_down()
    with pytest.raises(ConnectError, match="Worker is shutting down"):
        leaving.herder.connectors().result(0)
    assert not leaving.worker.task_ids
    topics.settle()
    assert set(_owners(topics).values()) == {0}
    assert len(_owners(topics)) == 3


def test_the_config_topic_is_that_of_real_workers(topics: Topics) -> None:
    """The first fifteen records of the recorded run, by the same requests: text by text, but for the order of the keys
    of a task's configuration, which in Java is that of a hash map."""
    _group(topics, 2)
    recorded = two_workers()["connect-configs"][:15]
    for key, value in recorded:
        name = key.partition("-")[2]
        if key.startswith("connector-"):
            config = json.loads(value)["properties"]
            topics.workers[0].ask(_put(name, config))
        elif key.startswith("target-state-"):
            herder, state = topics.workers[1].herder, json.loads(value)["state"]
            change = herder.pause_connector if state == "PAUSED" else herder.resume_connector
            change(key.removeprefix("target-state-"))
        topics.settle()
    written = topics.configs.texts()
    assert [key for key, _ in written] == [key for key, _ in recorded]
    for (key, ours), (_, theirs) in zip(written, recorded, strict=True):
        if key.startswith("task-"):
            assert json.loads(ours or "") == json.loads(theirs)
        else:
            assert ours == theirs


def test_a_thread_runs_the_turns_and_ends_with_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    worker = topics.worker()
    monkeypatch.setattr(worker.herder, "run_up", lambda: None)  # it was called
    fails = False

    def tick() -> None:
        if fails:
            raise ConnectError("the group refuses the worker")

    monkeypatch.setattr(worker.herder.loop, "tick", tick)
    worker.herder.start()
    assert worker.herder.failure is None
    fails = True
    failure = eventually(lambda: worker.herder.failure)
    assert str(failure) == "the group refuses the worker"
    worker.herder.stop()
    with pytest.raises(ConnectError, match="Worker is shutting down"):
        worker.herder.connectors().result(0)


def test_a_thread_that_is_killed_says_goodbye_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    worker = topics.worker()
    monkeypatch.setattr(worker.herder, "run_up", lambda: None)

    def tick() -> None:
        raise ProcessKilledError

    monkeypatch.setattr(worker.herder.loop, "tick", tick)
    worker.herder.start()
    worker.herder.stop()
    assert worker.herder.failure is None
    assert not worker.member.left
    worker.herder.run_down()


def test_a_herder_that_was_never_started_stops_what_it_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    worker = topics.worker()
    worker.herder.stop()
    assert worker.member.left
    assert all(log.stopped for log in worker.logs)
