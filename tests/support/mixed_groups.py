"""Groups whose members use JoinGroup or ConsumerGroupHeartbeat, and may change from one to the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_coordinator import JoiningClient
from kafka_lite.coordinator.group.modern.consumer_group_config import MigrationPolicy
from kafka_lite.coordinator.group.modern.migration.classic_members import ClassicMembers
from kafka_lite.coordinator.group.modern.migration.group_requests import GroupRequests
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_13_leave_group import MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from kafka_lite.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version
from tests.support.groups import GROUP, Groups, error_of
from tests.support.modern_groups import REBALANCE_TIMEOUT_MS, FakeTopics, ModernGroups, ModernMember, Pair, topic_id

CLASSIC_SESSION_MS = 10_000


class MixedGroups(ModernGroups):
    """A coordinator of both kinds of groups, as a broker has it."""

    def __init__(self, groups: Groups | None = None, topics: FakeTopics | None = None, **config: Any) -> None:
        super().__init__(groups, topics, **config)
        self.requests = GroupRequests(self.groups.coordinator, ClassicMembers(self.coordinator))

    def restart(self) -> MixedGroups:
        groups = self.groups.restart_unloaded()
        restarted = MixedGroups(groups, self.topics)
        groups.load()
        return restarted

    def classic(self, name: str = "c", **fields: Any) -> ClassicClient:
        return ClassicClient(self, name, **fields)

    @property
    def is_modern(self) -> bool:
        return self.groups.group().modern is not None

    def run(self, *members: ClassicClient | ModernMember, rounds: int = 8) -> None:
        """Let the members do what they have to, several times."""
        for _ in range(rounds):
            for member in members:
                member.tick() if isinstance(member, ClassicClient) else member.heartbeat()


def without_downgrades() -> MixedGroups:
    return MixedGroups(migration_policy=MigrationPolicy.UPGRADE)


@dataclass
class ClassicClient:
    """A consumer with JoinGroup. It is eager, unless ``cooperative``: it gives up everything before it joins again."""

    groups: MixedGroups
    name: str
    topics: list[str] = field(default_factory=lambda: ["t"])
    instance_id: str | None = None
    cooperative: bool = False
    member_id: str = ""
    generation: int = -1
    owned: frozenset[Pair] = frozenset()
    doing: str = "join"
    """What comes next: join, wait (for a response) or heartbeat."""
    errors: list[Errors] = field(default_factory=list)
    attempt: int = 0
    """Responses to an earlier one are not heard any more: the connection is another one."""

    @property
    def assignor(self) -> str:
        return "cooperative-sticky" if self.cooperative else "range"

    def tick(self) -> None:
        """Do the next thing."""
        if self.doing == "join":
            self.join()
        elif self.doing == "heartbeat":
            self.note(self.heartbeat())

    def reconnect(self, groups: MixedGroups) -> None:
        """There is a new coordinator, which knows of no open request."""
        self.groups = groups
        self.attempt += 1
        if self.doing == "wait":
            self.doing = "join"

    def _hears(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        attempt = self.attempt
        return lambda response: action(response) if attempt == self.attempt else None

    def join(self) -> None:
        if not self.cooperative:
            self.owned = frozenset()
        self.doing = "wait"
        owned = [
            TopicPartition(topic=name, partitions=sorted(n for each, n in self.owned if each == topic_id(name)))
            for name in self.topics
        ]
        subscription = ConsumerProtocolSubscription(
            topics=self.topics, owned_partitions=owned, generation_id=self.generation
        )
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=CLASSIC_SESSION_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=self.assignor, metadata=encode_with_version(subscription, 3))],
        )
        client = JoiningClient(self.name, "/127.0.0.1", True, True)
        self.groups.requests.handle_join_group(request, client, self._hears(self._on_join))

    def _on_join(self, response: JoinGroupResponse) -> None:
        error = error_of(response.error_code)
        if error is Errors.MEMBER_ID_REQUIRED:
            self.member_id, self.doing = response.member_id, "join"
        elif error is not Errors.NONE:
            self.note(error)
        else:
            self.member_id, self.generation = response.member_id, response.generation_id
            self._sync(response)

    def _sync(self, joined: JoinGroupResponse) -> None:
        is_leader = joined.leader == self.member_id and not joined.skip_assignment
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name=joined.protocol_name,
            assignments=self._assignments(joined) if is_leader else [],
        )
        self.groups.requests.handle_sync_group(request, self._hears(self._on_sync))

    def _assignments(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        """Deal out the partitions of each topic to its subscribers."""
        wanted: dict[str, list[str]] = {}
        for member in joined.members:
            found = decode_with_version(ConsumerProtocolSubscription, member.metadata)
            for name in found.topics:
                wanted.setdefault(name, []).append(member.member_id)
        shares: dict[str, list[TopicPartition]] = {member.member_id: [] for member in joined.members}
        for name, members in wanted.items():
            topic = self.groups.topics.topic(name)
            for number, member_id in enumerate(sorted(members)):
                mine = list(range(topic.num_partitions if topic else 0))[number :: len(members)]
                shares[member_id].append(TopicPartition(topic=name, partitions=mine))
        return [
            SyncGroupRequestAssignment(
                member_id=member_id,
                assignment=encode_with_version(ConsumerProtocolAssignment(assigned_partitions=share), 3),
            )
            for member_id, share in shares.items()
        ]

    def _on_sync(self, response: SyncGroupResponse) -> None:
        error = error_of(response.error_code)
        if error is not Errors.NONE:
            self.note(error)
            return
        assigned = decode_with_version(ConsumerProtocolAssignment, response.assignment).assigned_partitions
        told = frozenset((topic_id(each.topic), number) for each in assigned for number in each.partitions)
        gives_up = bool(self.owned - told)
        self.owned, self.doing = told, "join" if gives_up else "heartbeat"

    def heartbeat(self) -> Errors:
        return self.groups.requests.handle_heartbeat(GROUP, self.member_id, self.instance_id, self.generation)

    def note(self, error: Errors) -> None:
        """Obey an error."""
        if error is Errors.NONE:
            return
        self.errors.append(error)
        self.doing = "join"
        if error in (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION, Errors.FENCED_INSTANCE_ID):
            self.generation, self.owned = -1, frozenset()
        if error is Errors.UNKNOWN_MEMBER_ID:
            self.member_id = ""

    def leave(self) -> Errors:
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        self.attempt += 1
        response = self.groups.requests.handle_leave_group(GROUP, [identity])
        self.member_id, self.generation, self.owned, self.doing = "", -1, frozenset(), "join"
        return error_of(response.members[0].error_code if response.members else response.error_code)

    def numbers(self, topic: str = "t") -> list[int]:
        """Its partitions of a topic."""
        return sorted(n for each, n in self.owned if each == topic_id(topic))
