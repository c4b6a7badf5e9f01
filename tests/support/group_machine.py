"""A group under any sequence of requests, failures and restarts: invariants after each step, and at the end."""

from __future__ import annotations

from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from tests.support.groups import MINUTE_MS, FakeMember, Groups, MemoryOffsetsLog, leftovers, subscription

CLIENTS = 4
LONGEST_STEP_MS = 30_000
"""So that no sequence gets near the retention time of offsets."""
APPEND_ERRORS = [Errors.NOT_ENOUGH_REPLICAS, Errors.NOT_LEADER_OR_FOLLOWER, Errors.REQUEST_TIMED_OUT]
clients = st.integers(0, CLIENTS - 1)


class GroupMachine(RuleBasedStateMachine):
    """Four clients, two of them static, and a log that fails, completes late, and outlives its broker.

    - OffsetFetch returns an acknowledged commit until a later one is in the log, and after each restart.
    - Generations only increase, and no request with an old one is accepted.
    - State, members, leader and parked requests are consistent.
    - In the end, every JoinGroup and SyncGroup has had exactly one response, and only offsets are left.
    """

    @initialize(
        delay_ms=st.sampled_from([0, 3000]),
        max_size=st.sampled_from([100, 2, 100]),
        joined=st.sampled_from([3, 2, 4, 0]),
        synced=st.booleans(),
    )
    def begin(self, delay_ms: int, max_size: int, joined: int, synced: bool) -> None:
        """Begin with some members, or many histories would end before a rebalance completes."""
        self.settings = {"initial_rebalance_delay_ms": delay_ms, "max_size": max_size}
        self.groups = Groups(**self.settings)  # type: ignore[arg-type]
        self.members = [self._new_client(number) for number in range(CLIENTS)]
        self.sent: Counter[str] = Counter()
        self.offset = 0
        self.possible = {-1}
        """What may be committed: the last one that was acknowledged, and those that were sent after it."""
        self.generation = 0
        for client in [*range(joined), *range(joined)]:
            self.join(client, changed=False, as_new=False)
        self.groups.sleep(delay_ms * 3)
        self.all_members_join()
        if synced:
            self.all_members_sync(leader_too=True)

    def _new_client(self, number: int) -> FakeMember:
        return self.groups.member(
            client_id=f"client-{number}",
            instance_id=f"static-{number}" if number % 2 else None,
            version=(1, 5, 4, 9)[number],
            protocols=[("range", subscription("topic")), ("sticky", b"")],
            session_timeout_ms=(6000, 10_000, 30_000, 60_000)[number],
            rebalance_timeout_ms=(10_000, 20_000, 60_000, 5_000)[number],
        )

    def _answers(self) -> int:
        return sum(len(member.joins) + len(member.syncs) for member in self.members)

    # ── rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(client=clients, changed=st.booleans(), as_new=st.booleans())
    def join(self, client: int, changed: bool, as_new: bool) -> None:
        member = self.members[client]
        member.protocols = [("range", subscription("other" if changed else "topic")), ("sticky", b"")]
        if as_new:
            member.member_id = ""
        self.sent["requests"] += 1
        member.send_join()

    @rule(client=clients, generation_off_by=st.sampled_from([0, 0, 0, 1]))
    def sync(self, client: int, generation_off_by: int) -> None:
        member = self.members[client]
        self.sent["requests"] += 1
        assignment = {other.member_id: other.member_id.encode() for other in self.members}
        member.sync(assignment, generation_id=member.generation + generation_off_by)

    @rule()
    def all_members_join(self) -> None:
        """Without this rule, rebalances would hardly ever complete."""
        for member in self._known():
            self.sent["requests"] += 1
            member.send_join()

    @rule(leader_too=st.booleans())
    def all_members_sync(self, leader_too: bool) -> None:
        group = self.groups.manager.get_group("group")
        assignment = {member.member_id: member.member_id.encode() for member in self.members}
        for member in self._known():
            if leader_too or group is None or not group.is_leader(member.member_id):
                self.sent["requests"] += 1
                member.sync(assignment)

    def _known(self) -> list[FakeMember]:
        group = self.groups.manager.get_group("group")
        return [member for member in self.members if group is not None and group.has(member.member_id)]

    @rule(client=clients)
    def heartbeat(self, client: int) -> None:
        member = self.members[client]
        if member.heartbeat() in (Errors.NONE, Errors.REBALANCE_IN_PROGRESS):
            assert member.generation == self.groups.group().generation_id

    @rule(client=clients)
    def leave(self, client: int) -> None:
        self.members[client].leave()

    @rule(client=clients, as_member=st.booleans())
    def commit(self, client: int, as_member: bool) -> None:
        self.offset += 1
        before = self.groups.state()
        self.possible.add(self.offset)
        outcome = self.members[client].commit(self.offset) if as_member else self.groups.commit(self.offset)
        if outcome is Errors.NONE:
            self.possible = {self.offset}
            assert before is not GroupState.AWAITING_SYNC
            if not as_member:
                assert before in (None, GroupState.EMPTY), "the group has members, which must not be overruled"
        elif outcome is not None:
            self.possible.discard(self.offset)

    @rule(ms=st.integers(1, LONGEST_STEP_MS))
    def time_passes(self, ms: int) -> None:
        self.groups.sleep(ms)

    @rule(error=st.sampled_from([Errors.NONE, Errors.NONE, *APPEND_ERRORS]))
    def the_log_fails_or_works(self, error: Errors) -> None:
        self.groups.offsets_log.error = error

    @rule()
    def responses_of_the_log_are_late(self) -> None:
        if self.groups.offsets_log.held is None:
            self.groups.offsets_log.held = []

    @rule()
    def responses_of_the_log_come(self) -> None:
        self.groups.offsets_log.release()

    @rule()
    def the_broker_is_killed_and_restarted(self) -> None:
        """Parked requests get no response; their clients know, for their connections are closed."""
        self.sent["requests"] = self._answers()
        offsets_log = MemoryOffsetsLog()
        offsets_log.logs = self.groups.offsets_log.logs
        before = self.groups.manager.get_group("group")
        self.groups = Groups(**self.settings, offsets_log=offsets_log, time=self.groups.time)  # type: ignore[arg-type]
        for number, member in enumerate(self.members):
            # Responses of the killed broker are lost.
            self.members[number] = self._new_client(number)
            self.members[number].member_id, self.members[number].generation = member.member_id, member.generation
            self.members[number].joins, self.members[number].syncs = list(member.joins), list(member.syncs)
        after = self.groups.manager.get_group("group")
        self.generation = after.generation_id if after is not None else 0
        if after is not None:
            assert before is not None
            assert after.is_in(GroupState.STABLE, GroupState.EMPTY) or len(after.members) > self.settings["max_size"]
        committed = self.groups.committed()
        assert committed in self.possible
        self.possible = {committed}

    # ── invariants ────────────────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def what_was_acknowledged_is_committed(self) -> None:
        assert self.groups.committed() in self.possible

    @invariant()
    def generations_only_go_up(self) -> None:
        group = self.groups.manager.get_group("group")
        if group is not None:
            assert group.generation_id >= self.generation
            self.generation = group.generation_id

    @invariant()
    def state_and_members_fit(self) -> None:
        group = self.groups.manager.get_group("group")
        if group is None:
            return
        members = list(group.members.values())
        awaiting_join = [member for member in members if member.is_awaiting_join]
        awaiting_sync = [member for member in members if member.is_awaiting_sync]
        assert len(awaiting_join) == group.num_awaiting_join
        assert group.leader_id in group.members if members else group.leader_id is None
        assert group.pending_sync_members <= group.members.keys()
        assert not group.pending_members & group.members.keys()
        assert all(group.members[member.member_id] is member for member in members)
        statics = {member.group_instance_id: member.member_id for member in members if member.is_static_member}
        assert all(group.static_member_id(name or "") == member_id for name, member_id in statics.items())
        match group.state:
            case GroupState.EMPTY:
                assert not members
            case GroupState.PREPARING_REBALANCE:
                assert not awaiting_sync
            case GroupState.AWAITING_SYNC:
                assert not awaiting_join
                assert group.protocol_name is not None
            case GroupState.STABLE:
                assert not awaiting_sync
                assert group.protocol_name is not None
                assert all(_has_own_part(member) for member in members)

    def teardown(self) -> None:
        """In the end, no request is parked, and nothing is left of former members."""
        if not hasattr(self, "groups"):
            return
        self.groups.offsets_log.release()
        for _ in range(3):
            self.groups.sleep(10 * MINUTE_MS)
        assert self._answers() == self.sent["requests"]
        assert leftovers(self.groups.coordinator) == []


def _has_own_part(member: MemberMetadata) -> bool:
    """A returned static member has the assignment of its former id."""
    return member.assignment in (b"", member.member_id.encode()) or member.is_static_member
