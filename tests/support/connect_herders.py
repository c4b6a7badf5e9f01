"""Distributed herders without threads and without a broker: the test makes their turns."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment, WorkerState
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.distributed_herder import DistributedHerder
from kafka_lite.connect.runtime.distributed.membership import Membership
from kafka_lite.connect.runtime.distributed.task_reconfiguration import ForwardingThread
from kafka_lite.connect.runtime.distributed.worker_assignment import GroupAssignment, assign
from kafka_lite.connect.runtime.rest.request_forwarder import ForwardedAnswer
from kafka_lite.connect.runtime.storage.kafka_config_backing_store import KafkaConfigBackingStore
from kafka_lite.connect.runtime.storage.kafka_status_backing_store import KafkaStatusBackingStore
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.consumer.consumer_errors import WakeupError
from tests.support.connect_group import PROPS
from tests.support.connect_plugins import FakeClients, IdleSourceConnector
from tests.support.connect_stores import FakeLog, FakeTopic, PlainJson

QUIET_TURNS = 4
"""A wake-up may end a turn before it has done anything."""


class FakeGroup:
    """The workers' group. A rebalance ends when every member has joined; the member with the least id leads."""

    def __init__(self) -> None:
        self.members: list[FakeMember] = []
        self.generation = 0
        self.joined: dict[str, WorkerState] = {}
        self.assignment: GroupAssignment | None = None

    def rebalance(self) -> None:
        """All have to join again."""
        self.joined, self.assignment = {}, None
        for member in self.members:
            member.needs_join = True

    def join(self, member: FakeMember) -> None:
        if member not in self.members:
            self.members.append(member)
            self.rebalance()
        self.joined[member.member_id] = WorkerState(member.url, member.configs.snapshot().offset)
        if self.assignment is None and len(self.joined) == len(self.members):
            self.generation += 1
            leader = min(self.members, key=lambda each: each.member_id)
            self.assignment = assign(leader.member_id, self.joined, leader.configs.snapshot())
            for each in self.members:
                each.needs_join = each.prepared = False
                each.inbox = (self.assignment.by_member[each.member_id], self.generation)


class FakeMember:
    """A worker's membership. Each call returns at once: a join that is not complete ends with a WakeupError."""

    def __init__(self, group: FakeGroup, number: int, configs: KafkaConfigBackingStore) -> None:
        self.group = group
        self.member_id = f"m{number}"
        self.url = f"http://w{number}:8083/"
        self.configs = configs
        self.listener: Any = None
        self.needs_join = True
        self.prepared = False
        self.woken = False
        self.timeouts: list[float] = []
        self.left: list[str] = []
        self.assignment: Assignment | None = None
        self.inbox: tuple[Assignment, int] | None = None
        """The result of a rebalance. The member gets it even if the next one has begun."""

    def __call__(self, listener: Any) -> Any:
        self.listener = listener
        return self

    def ensure_active(self) -> None:
        if self.woken:
            self.woken = False
            raise WakeupError
        if self.needs_join and self.inbox is None:
            if not self.prepared and self.assignment is not None and not self.assignment.failed:
                self.listener.on_revoked(self.assignment)
            self.prepared = True
            self.group.join(self)
            if self.inbox is None:
                raise WakeupError
        if self.inbox is not None:
            (self.assignment, generation), self.inbox = self.inbox, None
            self.listener.on_assigned(self.assignment, generation)

    def poll(self, timeout_ms: float) -> None:
        self.timeouts.append(timeout_ms)
        self.ensure_active()

    def wakeup(self) -> None:
        self.woken = True

    def request_rejoin(self, reason: str) -> None:
        self.group.rebalance()

    def maybe_leave_group(self, reason: str) -> None:
        self.left.append(reason)
        if self in self.group.members:
            self.group.members.remove(self)
            self.group.rebalance()
        self.needs_join, self.assignment = True, None

    def owner_url(self, owned: str | ConnectorTaskId) -> str | None:
        assignment = self.group.assignment
        return None if assignment is None or self.needs_join else assignment.owner_url(owned)

    def stop(self) -> None:
        self.maybe_leave_group("it stops")


class Topics:
    """The internal topics of a group of workers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ForwardingThread, "run_soon", lambda _self, call: call())
        self.group = FakeGroup()
        self.configs = FakeTopic()
        self.statuses = FakeTopic()
        self.workers: list[HerderOnTopics] = []
        self.sent: list[tuple[str, str, object]] = []
        """The requests between workers: URL, verb, body."""

    def worker(self, **props: str) -> HerderOnTopics:
        """One more worker."""
        worker = HerderOnTopics(self, len(self.workers), props)
        self.workers.append(worker)
        return worker

    def settle(self, turns: int = 50) -> None:
        """Let all workers read what was written, and make turns, until nothing has changed for some of them."""
        quiet = 0
        for _ in range(turns):
            before = (len(self.configs.records), self.group.generation)
            for worker in self.workers:
                worker.read()
                worker.herder.loop.tick()
            unchanged = before == (len(self.configs.records), self.group.generation)
            is_active = all(worker.herder.loop.membership is Membership.ACTIVE for worker in self.workers)
            quiet = quiet + 1 if unchanged and is_active else 0
            if quiet == QUIET_TURNS:
                return
        raise AssertionError("the group does not come to rest")

    def in_turns(self, call: Callable[[], Future[Any]]) -> Any:
        """Make a call that waits for a herder in another thread, and turns until it returns. Returns the result."""
        with ThreadPoolExecutor(1) as pool:
            called = pool.submit(call)
            while not called.done():
                for worker in self.workers:
                    worker.read()
                    worker.herder.loop.tick()
            return called.result(0).result(0)

    def stop(self) -> None:
        """Stop all workers."""
        for worker in self.workers:
            worker.herder.run_down()


class HerderOnTopics:
    """A herder with its worker and stores."""

    def __init__(self, topics: Topics, number: int, props: dict[str, str]) -> None:
        self.time = MockTime()
        config = DistributedConfig(PROPS | props)
        clients: Any = FakeClients()
        self.worker = Worker(f"w{number}:8083", config, MemoryOffsetBackingStore(), clients=clients)
        self.logs: list[FakeLog] = []
        self.configs = KafkaConfigBackingStore("configs", PlainJson(), self._log_of(topics.configs))
        self.statuses = KafkaStatusBackingStore("statuses", PlainJson(), self._log_of(topics.statuses))
        self.member = FakeMember(topics.group, number, self.configs)
        self.topics = topics
        self.herder = DistributedHerder(
            config, self.worker, self.statuses, self.configs, self.member, send=self._send, time=self.time
        )
        self.herder.run_up()

    def _log_of(self, topic: FakeTopic) -> Callable[[Any], Any]:
        def new_log(consumed: Any) -> FakeLog:
            self.logs.append(topic.new_log(consumed))
            return self.logs[-1]

        return new_log

    def read(self) -> None:
        """Read the topics to their ends, as the logs' threads do."""
        for log in self.logs:
            log.read()

    def _send(self, url: str, method: str, body: object) -> ForwardedAnswer:
        """Another worker's REST interface: only the internal request is known."""
        self.topics.sent.append((url, method, body))
        leader = next(worker for worker in self.topics.workers if url.startswith(worker.member.url))
        name = url.split("/")[-2]
        configs: Any = body
        leader.herder.put_task_configs(name, configs)
        return ForwardedAnswer(204, None)  # type: ignore[arg-type]

    def ask(self, call: Callable[[DistributedHerder], Any]) -> Any:
        """Make a request, and a turn to serve it. Returns the result; raises the error."""
        future = call(self.herder)
        for _ in range(3):
            self.herder.loop.tick()
        return future.result(0)


def started_connectors() -> int:
    """How many idle connectors were started so far. (Others were created to check a configuration.)"""
    sources = [each for each in IdleSourceConnector.created if isinstance(each, IdleSourceConnector)]
    return sum(bool(each.props) for each in sources)
