"""A coordinator of groups of KIP-848 without a broker, and members that do as consumers do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig
from kafka_lite.coordinator.group.modern.consumer_group_coordinator import ConsumerGroupCoordinator
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.consumer_group_records import GroupRecord
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.topic_partitions import pairs
from kafka_lite.coordinator.group.modern.topics_image import TopicMetadata
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.support.groups import GROUP, Groups, error_of

SESSION_TIMEOUT_MS = 45_000
REBALANCE_TIMEOUT_MS = 60_000
CLIENT = HeartbeatClient("client", "/127.0.0.1")
Pair = tuple[UUID, int]

T = UUID(int=1)
WHOLE_MEMBER = ConsumerGroupMember(
    "m",
    instance_id="i",
    rack_id="r",
    rebalance_timeout_ms=7,
    client_id="c",
    client_host="/h",
    subscribed_topic_names=frozenset({"b", "a"}),
    subscribed_topic_regex="x.*",
    server_assignor="range",
    member_epoch=3,
    previous_member_epoch=2,
    state=MemberState.UNREVOKED_PARTITIONS,
    assigned={T: frozenset({0, 1})},
    pending_revocation={T: frozenset({2})},
)
EVERY_RECORD: list[GroupRecord] = [
    group_records.group_epoch("g", 3, -5),
    group_records.member_subscription("g", WHOLE_MEMBER),
    group_records.target_epoch("g", 3),
    group_records.target_assignment("g", "m", {T: frozenset({1, 0})}),
    group_records.current_assignment("g", WHOLE_MEMBER),
    group_records.regular_expression("g", "x.*", ["xy", "xa"], 9),
]
"""One record of each kind, of a group with one member."""


def topic_id(name: str) -> UUID:
    """The id of a fake topic: its name."""
    return UUID(bytes=name.encode().ljust(16, b"\0"))


class FakeTopics:
    """The topics of a cluster, by name with their numbers of partitions."""

    def __init__(self, **topics: int) -> None:
        self.topics: dict[str, TopicMetadata] = {}
        self.version: object = object()
        for name, count in topics.items():
            self.set(name, count)

    def set(self, name: str, count: int) -> None:
        """Create a topic, or change its number of partitions; 0 deletes it."""
        self.topics.pop(name, None)
        if count:
            self.topics[name] = TopicMetadata(name, topic_id(name), count)
        self.version = object()

    def topic(self, name: str) -> TopicMetadata | None:
        return self.topics.get(name)

    def topic_name(self, wanted: UUID) -> str | None:
        return next((name for name in self.topics if topic_id(name) == wanted), None)

    def topic_names(self) -> Iterable[str]:
        return self.topics


class ModernGroups:
    """A coordinator with a log in memory and a mock clock."""

    def __init__(self, groups: Groups | None = None, topics: FakeTopics | None = None, **config: Any) -> None:
        self.groups = groups or Groups()
        self.topics = topics or FakeTopics(t=6)
        self.config = replace(ConsumerGroupConfig(is_enabled=True), **config)
        self.coordinator = ConsumerGroupCoordinator(
            self.config, self.groups.coordinator, lambda: self.topics, self.groups.scheduler, self.groups.time
        )

    def restart(self) -> ModernGroups:
        """Another coordinator that reads the same log."""
        groups = self.groups.restart_unloaded()
        restarted = ModernGroups(groups, self.topics)
        groups.load()
        return restarted

    def group(self, group_id: str = GROUP) -> ConsumerGroup:
        group = self.groups.group(group_id)
        assert group.modern is not None
        return group.modern

    def send(self, version: int = 1, **fields: Any) -> ConsumerGroupHeartbeatResponse | None:
        """Send one heartbeat. Returns the response, or None if it has not come yet."""
        answers: list[ConsumerGroupHeartbeatResponse] = []
        request = ConsumerGroupHeartbeatRequest(**({"group_id": GROUP} | fields))
        self.coordinator.handle_heartbeat(request, version, CLIENT, answers.append)
        return answers[0] if answers else None

    def member(self, member_id: str, **fields: Any) -> ModernMember:
        return ModernMember(self, member_id, **fields)

    def settle(self, *members: ModernMember) -> None:
        """Let the members send heartbeats, and obey, until the group is stable."""
        for _ in range(10):
            for member in members:
                member.heartbeat()
            if self.group().state.value == "Stable" and all(member.is_settled for member in members):
                return
        raise AssertionError(f"{self.group().state} after ten rounds")


@dataclass
class ModernMember:
    """A consumer: it gives up partitions when it is told to, and says so in its next heartbeat."""

    groups: ModernGroups
    member_id: str
    topics: list[str] = field(default_factory=lambda: ["t"])
    instance_id: str | None = None
    regex: str | None = None
    assignor: str | None = None
    epoch: int = 0
    owned: frozenset[Pair] = frozenset()
    is_slow: bool = False
    """Whether it keeps the partitions that it is to give up."""
    says_all: bool = False
    """Whether the next heartbeat is a full one, since a response did not arrive."""
    responses: list[ConsumerGroupHeartbeatResponse] = field(default_factory=list)

    def heartbeat(self, *, full: bool | None = None, lost: bool = False) -> Errors | None:
        """Send a heartbeat, and obey the response; None if it has not come. ``lost``: the response does not arrive."""
        is_full = self.says_all or self.epoch == 0 if full is None else full
        fields: dict[str, Any] = {"member_id": self.member_id, "member_epoch": self.epoch}
        fields["instance_id"] = self.instance_id
        fields["topic_partitions"] = self._owned_structs()
        if is_full:
            fields |= {
                "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS,
                "subscribed_topic_names": self.topics,
                "subscribed_topic_regex": self.regex,
                "server_assignor": self.assignor,
            }
        response = self.groups.send(**fields)
        self.says_all = response is None or lost
        if response is None or lost:
            return None
        self.responses.append(response)
        error = error_of(response.error_code)
        if error is Errors.NONE:
            self._obey(response)
        elif error in (Errors.FENCED_MEMBER_EPOCH, Errors.UNKNOWN_MEMBER_ID):
            self.epoch, self.owned = 0, frozenset()
        return error

    def _owned_structs(self) -> list[TopicPartitions]:
        ids = sorted({each for each, _ in self.owned})
        return [
            TopicPartitions(topic_id=each, partitions=sorted(n for owner, n in self.owned if owner == each))
            for each in ids
        ]

    def _obey(self, response: ConsumerGroupHeartbeatResponse) -> None:
        self.epoch = max(response.member_epoch, 0)
        if response.assignment is not None:
            told = frozenset(
                (each.topic_id, n) for each in response.assignment.topic_partitions for n in each.partitions
            )
            self.owned = self.owned | told if self.is_slow else told

    def leave(self, epoch: int = -1) -> Errors:
        response = self.groups.send(member_id=self.member_id, member_epoch=epoch, instance_id=self.instance_id)
        assert response is not None
        self.epoch, self.owned = 0, frozenset()
        return error_of(response.error_code)

    @property
    def is_settled(self) -> bool:
        """Whether it has what the coordinator has noted."""
        known = self.groups.group().members[self.member_id]
        return self.epoch == known.member_epoch and self.owned == frozenset(pairs(known.assigned))

    def numbers(self, topic: str = "t") -> list[int]:
        """Its partitions of a topic."""
        return sorted(n for each, n in self.owned if each == topic_id(topic))
