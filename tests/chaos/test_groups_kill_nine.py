"""kill -9 of a group's coordinator in each state of a rebalance, and during commits: acknowledged commits survive."""

from __future__ import annotations

import os
import random
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_state import GroupState
from tests.support.cluster_process import ClusterProcess
from tests.support.group_sequences import NEW_CLIENTS, TOPIC, Event, Step, WireGroup
from tests.support.patience import patient_s
from tests.support.real_kafka import create_topics

KILLS = int(os.environ.get("KAFKA_LITE_GROUP_KILLS", "5"))
COMMITTERS = 4
BROKER = {"offsets.topic.num.partitions": "3", "zookeeper.session.timeout.ms": "40000"}


class Clients:
    """The clients of one group, which reconnect after a kill and keep their member ids."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self.wire = WireGroup(bootstrap_servers, "killed", NEW_CLIENTS, static=False)

    def reconnect(self) -> None:
        before = [(client.member_id, client.generation) for client in self.wire.clients]
        self.wire.__exit__()
        self.wire = WireGroup(self._bootstrap_servers, "killed", NEW_CLIENTS, static=False)
        for client, (member_id, generation) in zip(self.wire.clients, before, strict=True):
            client.member_id, client.generation = member_id, generation

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.__exit__()

    def do(self, kind: str, client: int, *answered: int) -> list[Errors]:
        """Send a request; ``answered`` are the clients whose joins and syncs complete because of it."""
        expected = [Event(kind, number, Errors.NONE) for number in answered]
        return [event.error for event in self.wire.play(Step(kind, client), expected)]

    def bring_to(self, state: GroupState) -> None:
        """From an empty or missing group."""
        if state is GroupState.EMPTY:
            return
        self.become_stable()
        if state is not GroupState.STABLE:
            self.do("join", 0)  # the leader joins again, and the other one does not know yet
            self.wire.await_description((GroupState.PREPARING_REBALANCE.value, 2))
            if state is GroupState.AWAITING_SYNC:
                self.do("join", 1, 0, 1)

    def become_stable(self) -> None:
        """Both join, as new members if they are unknown, until both are in one generation."""
        for number in (0, 1):
            self.wire.clients[number].member_id = ""
            assert self.do("join", number, number) == [Errors.MEMBER_ID_REQUIRED]
        assert self.do("join", 0, 0) == [Errors.NONE], "the first member does not wait"
        self.do("join", 1)
        self.wire.await_description((GroupState.PREPARING_REBALANCE.value, 2))
        assert self.do("join", 0, 0, 1) == [Errors.NONE] * 2
        self.do("sync", 1)
        assert self.do("sync", 0, 0, 1) == [Errors.NONE] * 2


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("state", [state for state in GroupState if state is not GroupState.DEAD])
@pytest.mark.soak
def test_a_coordinator_killed_in_each_state_restarts_with_its_groups(tmp_path: Path, state: GroupState) -> None:
    broker = ClusterProcess(tmp_path, BROKER)
    with ExitStack() as stack:
        with broker:
            create_topics(broker.bootstrap_servers, [TOPIC], 1, {})
            clients = stack.enter_context(Clients(broker.bootstrap_servers))
            acknowledged = act_and_commit(clients, state)
            broker.kill()
        with broker:
            clients.reconnect()
            assert clients.wire._committed() == acknowledged
            go_on(clients, state)


def act_and_commit(clients: Clients, state: GroupState) -> int:
    """Bring a group to a state and commit there; returns the last acknowledged offset."""
    assert clients.do("commit without a group", 0) == [Errors.NONE]
    clients.bring_to(state)
    if state is GroupState.EMPTY:
        return 1
    refused = Errors.REBALANCE_IN_PROGRESS if state is GroupState.AWAITING_SYNC else Errors.NONE
    assert clients.do("commit", 1) == [refused]
    return 1 if refused is Errors.REBALANCE_IN_PROGRESS else 2


def go_on(clients: Clients, state: GroupState) -> None:
    """The log has the last generation whose assignment was stored, with its members."""
    stored = (GroupState.EMPTY.value, 0) if state is GroupState.EMPTY else (GroupState.STABLE.value, 2)
    assert clients.wire.describe() == stored
    if state is GroupState.STABLE:
        assert clients.do("heartbeat", 0) == [Errors.NONE], "the members may not notice at all"
        assert clients.do("sync", 1, 1) == [Errors.NONE]
        assert clients.do("commit", 1) == [Errors.NONE]
    elif state is not GroupState.EMPTY:
        # They were joining the next generation, which was not stored: they join again under their ids.
        clients.do("join", 0)
        clients.wire.await_description((GroupState.PREPARING_REBALANCE.value, 2))
        assert clients.do("join", 1, 0, 1) == [Errors.NONE] * 2
        clients.do("sync", 1)
        assert clients.do("sync", 0, 0, 1) == [Errors.NONE] * 2


class Committing(threading.Thread):
    """Commits increasing offsets for a group, and notes the acknowledged ones."""

    def __init__(self, bootstrap_servers: str, number: int) -> None:
        super().__init__(name=f"committer-{number}", daemon=True)
        self._bootstrap_servers = bootstrap_servers
        self.group_id = f"committing-{number}"
        self.sent = self.acknowledged = 0

    def run(self) -> None:
        try:
            with WireGroup(self._bootstrap_servers, self.group_id, NEW_CLIENTS, static=False) as group:
                group._offset = self.sent
                while True:
                    self.sent += 1
                    (event,) = group.play(Step("commit without a group", 0), [])
                    assert event.error is Errors.NONE
                    self.acknowledged = self.sent
        except ConnectionError:
            return  # the broker has been killed


@pytest.mark.slow
@pytest.mark.timeout(60 + 20 * KILLS)
@pytest.mark.soak
def test_no_acknowledged_commit_is_lost(tmp_path: Path) -> None:
    broker = ClusterProcess(tmp_path, BROKER)
    killing = random.Random(7)
    acknowledged: dict[str, tuple[int, int]] = {}
    for life in range(KILLS + 1):
        with broker:
            if life == 0:
                create_topics(broker.bootstrap_servers, [TOPIC], 1, {})
            committers = [Committing(broker.bootstrap_servers, number) for number in range(COMMITTERS)]
            for committer in committers:
                low, high = acknowledged.get(committer.group_id, (-1, -1))
                with WireGroup(broker.bootstrap_servers, committer.group_id, NEW_CLIENTS, static=False) as group:
                    found = group._committed()
                assert low <= found <= high, f"{committer.group_id}: {found} is not from {low} to {high}"
                committer.sent = committer.acknowledged = max(found, 0)
                committer.start()
            threading.Event().wait(killing.uniform(0.2, 1.0))
            broker.kill()
            for committer in committers:
                committer.join(patient_s(60))
                assert not committer.is_alive()
                acknowledged[committer.group_id] = (max(committer.acknowledged, 1), committer.sent)
    assert all(low > 1 for low, _ in acknowledged.values()), "something was committed"
