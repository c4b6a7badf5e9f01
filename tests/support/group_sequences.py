"""Random sequences of group requests, played to our coordinator in memory and to brokers over the wire.

The coordinator in memory predicts, for each step, which requests complete, with which responses, and the group's state
afterwards. A broker must behave the same. So no test waits for a response that does not come; it waits only for those
that must come, however slow the broker is.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, cast

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from kafka_lite.protocol.messages.api_15_describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from kafka_lite.protocol.schema import Request
from tests.support.eventually import eventually
from tests.support.groups import FakeMember, Groups, error_of, subscription
from tests.support.patience import Patience

TOPIC = "sequences"
SESSION_TIMEOUT_MS = 250_000
REBALANCE_TIMEOUT_MS = 250_000
ANSWER_TIMEOUT_MS = 30_000
STATE_TIMEOUT_S = 60
WRONG = 7
"""What is added to a generation to make it a wrong one."""
PROTOCOLS = (("range", subscription(TOPIC)), ("range", subscription(TOPIC, "another")))
"""What a client says, and what it says when it has changed its mind."""


@dataclass(frozen=True)
class Versions:
    """The request versions of one generation of clients."""

    join: int
    sync: int
    heartbeat: int
    leave: int
    commit: int
    fetch: int
    describe: int


OLD_CLIENTS = Versions(join=1, sync=0, heartbeat=0, leave=0, commit=2, fetch=2, describe=0)
NEW_CLIENTS = Versions(join=9, sync=5, heartbeat=4, leave=5, commit=8, fetch=7, describe=5)


class Step(NamedTuple):
    """One request of one client."""

    kind: str
    client: int


class Event(NamedTuple):
    """A response: its API, its client, and the part of it that does not depend on chance."""

    api: str
    client: int
    error: Errors
    detail: object = None

    def __str__(self) -> str:
        return f"{self.api} {self.client}: {self.error.name} {self.detail}"


class Played(NamedTuple):
    """A step, its results, and the group afterwards (and before, for the differences of 0.10)."""

    step: Step
    events: tuple[Event, ...]
    before: GroupState | None
    after: GroupState | None
    members: int
    knows_client: bool


KINDS = {
    "join": 8,
    "join changed": 2,
    "join bogus": 1,
    "rejoin as the same static member": 2,
    "sync": 8,
    "sync wrong generation": 1,
    "heartbeat": 3,
    "heartbeat wrong generation": 1,
    "heartbeat bogus": 1,
    "leave": 2,
    "leave bogus": 1,
    "commit": 3,
    "commit wrong generation": 1,
    "commit bogus": 1,
    "commit without a group": 1,
    "fetch": 1,
}
"""What a client may do, and how often."""


class Model:
    """Our coordinator in memory, with two clients: with more, chance would decide which one leads after the leader."""

    def __init__(self, versions: Versions, seed: int) -> None:
        self._random = random.Random(seed)
        self.groups = Groups()
        self.clients = [
            self.groups.member(
                client_id=f"client-{number}",
                version=versions.join,
                session_timeout_ms=SESSION_TIMEOUT_MS,
                rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
                # Static members in a third of the sequences, if the clients support them.
                instance_id=f"static-{number}" if versions.join >= 5 and seed % 3 == 0 else None,
                protocols=[PROTOCOLS[0]],
            )
            for number in range(2)
        ]
        self._seen = [(0, 0), (0, 0)]
        self._sent = [0, 0]
        """Joins and syncs, of each client: who has one without an answer waits."""
        self._offset = 0

    def play(self, count: int) -> list[Played]:
        """A sequence of this many steps."""
        played: list[Played] = []
        while len(played) < count:
            step = Step(self._random.choices(list(KINDS), list(KINDS.values()))[0], self._random.randrange(2))
            if self._is_possible(step):
                played.append(self._play(step))
        return played

    def _is_possible(self, step: Step) -> bool:
        """A client with a parked request sends nothing but heartbeats and commits."""
        client = self.clients[step.client]
        member = self._member(client)
        waits = self._sent[step.client] > len(client.joins) + len(client.syncs)
        if step.kind.startswith("rejoin"):
            return client.instance_id is not None and member is not None and not waits
        if waits:
            return step.kind.startswith(("heartbeat", "commit", "fetch"))
        return step.kind != "leave" or bool(client.member_id)

    def _member(self, client: FakeMember) -> Any:
        group = self.groups.manager.get_group(client.group_id)
        return group.members.get(client.member_id) if group is not None else None

    def _play(self, step: Step) -> Played:
        before = self.groups.state()
        knows = self._member(self.clients[step.client]) is not None and "bogus" not in step.kind
        own = self._send(step)
        events = [event for number in range(2) for event in self._answers(number)]
        group = self.groups.manager.get_group("group")
        members = len(group.members) if group is not None else 0
        return Played(step, (*own, *events), before, self.groups.state(), members, knows)

    def _send(self, step: Step) -> list[Event]:
        client, (api, *how) = self.clients[step.client], step.kind.split(" ", 1)
        way = how[0] if how else ""
        self._sent[step.client] += api in ("join", "rejoin", "sync")
        match api:
            case "join" | "rejoin":
                self._join(client, way)
            case "sync":
                with wrong_generation(client, way == "wrong generation"):
                    client.sync(assignment_by(client, self.clients))
            case "heartbeat":
                with wrong_generation(client, way == "wrong generation"), bogus_id(client, way == "bogus"):
                    return [Event(api, step.client, client.heartbeat())]
            case "leave":
                with bogus_id(client, way == "bogus"):
                    error = client.leave()
                if way != "bogus":
                    client.member_id, client.generation = "", -1
                return [Event(api, step.client, error)]
            case "commit":
                return [Event(api, step.client, self._commit(client, way))]
            case _:
                return [Event(api, step.client, Errors.NONE, self.groups.committed(TOPIC))]
        return []

    @staticmethod
    def _join(client: FakeMember, way: str) -> None:
        client.protocols = [PROTOCOLS[way == "changed"]]
        if way.startswith("as the same"):
            client.member_id = ""
        with bogus_id(client, way == "bogus"):
            client.send_join()

    def _commit(self, client: FakeMember, way: str) -> Errors:
        self._offset += 1
        committer = Committer(client.member_id, client.generation, client.instance_id)
        if way == "without a group":
            committer = Committer()
        elif way == "wrong generation":
            committer = Committer(client.member_id, client.generation + WRONG, client.instance_id)
        elif way == "bogus":
            committer = Committer("bogus", max(client.generation, 0), client.instance_id)
        error = self.groups.commit(self._offset, TOPIC, committer=committer)
        assert error is not None
        return error

    def _answers(self, number: int) -> list[Event]:
        """Joins and syncs that have completed since the last call."""
        client = self.clients[number]
        joins, syncs = self._seen[number]
        self._seen[number] = len(client.joins), len(client.syncs)
        events = [join_event(number, answer) for answer in client.joins[joins:]]
        return events + [sync_event(number, answer) for answer in client.syncs[syncs:]]


class wrong_generation:  # noqa: N801 (reads like the context manager that it is)
    """The client uses another generation for a while."""

    def __init__(self, client: Any, applies: bool) -> None:
        self._client, self._by = client, WRONG if applies else 0

    def __enter__(self) -> None:
        self._client.generation += self._by

    def __exit__(self, *_: object) -> None:
        self._client.generation -= self._by


class bogus_id:  # noqa: N801
    """The client uses a member id that was never assigned."""

    def __init__(self, client: Any, applies: bool) -> None:
        self._client, self._applies, self._id = client, applies, client.member_id

    def __enter__(self) -> None:
        if self._applies:
            self._client.member_id = "bogus"

    def __exit__(self, *_: object) -> None:
        if self._applies:
            self._client.member_id = self._id


def assignment_by(client: Any, clients: Sequence[Any]) -> dict[str, bytes]:
    """The assignment that a client sends: a number for each member. Only the leader's counts."""
    del client
    return {other.member_id: b"part of %d" % number for number, other in enumerate(clients) if other.member_id}


def join_event(number: int, answer: JoinGroupResponse) -> Event:
    error = error_of(answer.error_code)
    detail = None
    if error is Errors.NONE:
        leads = answer.leader == answer.member_id
        detail = (answer.generation_id, answer.protocol_name, leads, len(answer.members), answer.skip_assignment)
    return Event("join", number, error, detail)


def sync_event(number: int, answer: SyncGroupResponse) -> Event:
    return Event("sync", number, error_of(answer.error_code), bytes(answer.assignment))


# ── over the wire ─────────────────────────────────────────────────────────────────────────────────────────────────────


class WireClient:
    """A client of a broker: one connection for requests that may be parked, and its member id and generation."""

    def __init__(self, stack: ExitStack, host: str, port: int, number: int) -> None:
        self.channel = stack.enter_context(
            BlockingChannel(host, port, client_id=f"client-{number}", read_timeout_ms=ANSWER_TIMEOUT_MS)
        )
        self.instance_id: str | None = None
        self.member_id = ""
        self.generation = -1


class WireGroup:
    """A group of two clients on a broker, with which a recorded sequence is replayed."""

    def __init__(self, bootstrap_servers: str, group_id: str, versions: Versions, *, static: bool) -> None:
        host, _, port = bootstrap_servers.rpartition(":")
        self._stack = ExitStack()
        self._control = self._stack.enter_context(BlockingChannel(host, int(port), read_timeout_ms=ANSWER_TIMEOUT_MS))
        self.clients = [WireClient(self._stack, host, int(port), number) for number in range(2)]
        for number, client in enumerate(self.clients):
            client.instance_id = f"static-{number}" if static else None
        self._group_id, self._versions = group_id, versions
        self._offset = 0
        try:
            self._await_coordinator()
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _await_coordinator(self) -> None:
        eventually(self._is_coordinator_there, "the coordinator is available")

    def _is_coordinator_there(self) -> bool:
        found = self._exchange(FindCoordinatorRequest(key=self._group_id), 0, FindCoordinatorResponse)
        described = self._exchange(DescribeGroupsRequest(groups=[self._group_id]), 0, DescribeGroupsResponse)
        return found.error_code == 0 and described.groups[0].error_code == 0

    def _exchange(self, request: Request, version: int, expected: type[Any]) -> Any:
        answer = self._control.exchange(request, version)
        assert isinstance(answer, expected)
        return answer

    def play(self, step: Step, expected: Sequence[Event]) -> list[Event]:
        """Send the step's request; then read the expected number of responses of each client."""
        own = self._send(step)
        events = [self._receive(event.client) for event in expected if event.api in ("join", "sync")]
        return own + events

    def describe(self) -> tuple[str, int]:
        """State and number of members."""
        request = DescribeGroupsRequest(groups=[self._group_id])
        (group,) = self._exchange(request, self._versions.describe, DescribeGroupsResponse).groups
        return group.group_state, len(group.members)

    def await_description(self, expected: tuple[str, int]) -> tuple[str, int]:
        """The group's description after the step: a parked request has no response that shows that it has arrived."""
        patience = Patience(STATE_TIMEOUT_S)
        while (described := self.describe()) != expected and not patience.is_over():
            time.sleep(0.01)
        return described

    def _receive(self, number: int) -> Event:
        client = self.clients[number]
        answer = client.channel.receive()
        if isinstance(answer, SyncGroupResponse):
            return sync_event(number, answer)
        join = cast(JoinGroupResponse, answer)
        if join.error_code in (Errors.NONE.code, Errors.MEMBER_ID_REQUIRED.code):
            client.member_id = join.member_id
        if join.error_code == Errors.NONE.code:
            client.generation = join.generation_id
        return join_event(number, join)

    def _send(self, step: Step) -> list[Event]:
        client, (api, *how) = self.clients[step.client], step.kind.split(" ", 1)
        way = how[0] if how else ""
        with wrong_generation(client, way == "wrong generation"), bogus_id(client, way == "bogus"):
            match api:
                case "join" | "rejoin":
                    self._join(client, way)
                case "sync":
                    self._sync(client)
                case "heartbeat":
                    return [Event(api, step.client, self._heartbeat(client))]
                case "leave":
                    error = self._leave(client)
                    if way != "bogus":
                        client.member_id, client.generation = "", -1
                    return [Event(api, step.client, error)]
                case "commit":
                    return [Event(api, step.client, self._commit(client, way))]
                case _:
                    return [Event(api, step.client, Errors.NONE, self._committed())]
        return []

    def _join(self, client: WireClient, way: str) -> None:
        if way.startswith("as the same"):
            client.member_id = ""
        name, metadata = PROTOCOLS[way == "changed"]
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=client.member_id,
            group_instance_id=client.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata)],
        )
        client.channel.send(request, self._versions.join)

    def _sync(self, client: WireClient) -> None:
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=client.generation,
            member_id=client.member_id,
            group_instance_id=client.instance_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=part)
                for member_id, part in assignment_by(client, self.clients).items()
            ],
        )
        client.channel.send(request, self._versions.sync)

    def _heartbeat(self, client: WireClient) -> Errors:
        request = HeartbeatRequest(
            group_id=self._group_id,
            generation_id=client.generation,
            member_id=client.member_id,
            group_instance_id=client.instance_id,
        )
        return error_of(self._exchange(request, self._versions.heartbeat, HeartbeatResponse).error_code)

    def _leave(self, client: WireClient) -> Errors:
        request = LeaveGroupRequest(group_id=self._group_id, member_id=client.member_id)
        if self._versions.leave >= 3:
            identity = MemberIdentity(member_id=client.member_id, group_instance_id=client.instance_id)
            request = LeaveGroupRequest(group_id=self._group_id, members=[identity])
        answer = self._exchange(request, self._versions.leave, LeaveGroupResponse)
        return error_of(answer.members[0].error_code if answer.members else answer.error_code)

    def _commit(self, client: WireClient, way: str) -> Errors:
        self._offset += 1
        generation, member_id, instance_id = client.generation, client.member_id, client.instance_id
        if way == "without a group":
            generation, member_id, instance_id = -1, "", None
        elif way == "bogus":
            generation = max(generation, 0)
        offset = OffsetCommitRequestPartition(partition_index=0, committed_offset=self._offset, committed_metadata="")
        request = OffsetCommitRequest(
            group_id=self._group_id,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            group_instance_id=instance_id,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[offset])],
        )
        answer = self._exchange(request, self._versions.commit, OffsetCommitResponse)
        return error_of(answer.topics[0].partitions[0].error_code)

    def _committed(self) -> int:
        topic = OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
        request = OffsetFetchRequest(group_id=self._group_id, topics=[topic])
        answer = self._exchange(request, self._versions.fetch, OffsetFetchResponse)
        offset: int = answer.topics[0].partitions[0].committed_offset
        return offset


def as_in_0_10(played: Played) -> tuple[Event, ...]:
    """Where 0.10 responds differently from current Kafka, and so from us.

    While a group awaits its assignment, 0.10 responds to every heartbeat of a member, and to every commit, with
    REBALANCE_IN_PROGRESS, before any other check. Today a heartbeat counts, since a member may send them as soon as it
    has joined; and a client that is no member gets an error that says so.
    """
    if played.before is not GroupState.AWAITING_SYNC:
        return played.events
    changed = []
    for event in played.events:
        if event.api == "commit" or (event.api == "heartbeat" and played.knows_client):
            event = event._replace(error=Errors.REBALANCE_IN_PROGRESS)
        changed.append(event)
    return tuple(changed)


def replay(bootstrap_servers: str, versions: Versions, seed: int, count: int, *, old_broker: bool = False) -> None:
    """Play the sequence of ``seed`` in memory, then to a broker; AssertionError if the broker responds differently."""
    model = Model(versions, seed)
    sequence = model.play(count)
    static = model.clients[0].instance_id is not None
    with WireGroup(bootstrap_servers, f"sequence-{versions.join}-{seed}", versions, static=static) as group:
        for number, played in enumerate(sequence):
            expected = as_in_0_10(played) if old_broker else played.events
            so_far = " → ".join(f"{done.step.kind} {done.step.client}" for done in sequence[: number + 1])
            found = sorted(map(str, group.play(played.step, expected)))
            assert found == sorted(map(str, expected)), f"{found} instead of {list(map(str, expected))} after {so_far}"
            state = played.after.value if played.after is not None else GroupState.DEAD.value
            if old_broker and played.after is GroupState.AWAITING_SYNC:
                state = "AwaitingSync"
            described = group.await_description((state, played.members))
            assert described == (state, played.members), f"{described} instead of {state} after {so_far}"
