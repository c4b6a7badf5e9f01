"""A coordinator of share groups without a broker, and members that do as share consumers do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig, GroupConfigManager
from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
from kafka_lite.coordinator.group.modern.share.share_group_coordinator import ShareGroupCoordinator
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.share.share_group_records import ShareGroupRecord
from kafka_lite.coordinator.group.modern.share.state_partitions import StatePartitions
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from tests.support.groups import GROUP, Groups, error_of
from tests.support.in_memory_persister import InMemoryPersister
from tests.support.modern_groups import CLIENT, FakeTopics, Pair, T, topic_id

WHOLE_SHARE_MEMBER = ShareGroupMember(
    "m",
    rack_id="r",
    client_id="c",
    client_host="/h",
    subscribed_topic_names=frozenset({"b", "a"}),
    member_epoch=3,
    previous_member_epoch=2,
    assigned={T: frozenset({0, 1})},
)
EVERY_SHARE_RECORD: list[ShareGroupRecord] = [
    group_records.group_epoch("g", 3, -5),
    group_records.member_subscription("g", WHOLE_SHARE_MEMBER),
    group_records.target_epoch("g", 3),
    group_records.target_assignment("g", "m", {T: frozenset({1, 0})}),
    group_records.current_assignment("g", WHOLE_SHARE_MEMBER),
    group_records.state_partitions("g", StatePartitions(initialized={T: frozenset({0, 1})}, names={T: "a"})),
]
"""One record of each kind, of a group with one member."""


class ShareGroups:
    """A coordinator with a log in memory, a mock clock, and a persister in memory."""

    def __init__(
        self,
        groups: Groups | None = None,
        topics: FakeTopics | None = None,
        persister: InMemoryPersister | None = None,
        **config: Any,
    ) -> None:
        self.groups = groups or Groups()
        self.topics = topics or FakeTopics(t=4)
        self.persister = persister or InMemoryPersister()
        self.configs = GroupConfigManager(ConsumerGroupConfig(), replace(ShareGroupConfig(is_enabled=True), **config))
        self.coordinator = ShareGroupCoordinator(
            self.configs,
            self.groups.coordinator,
            lambda: self.topics,
            self.persister,
            self.groups.scheduler,
            self.groups.time,
        )
        self.groups.coordinator.rebalancer.loaded_listeners.append(self.coordinator.on_group_loaded)

    def restart(self) -> ShareGroups:
        """Another coordinator that reads the same log."""
        groups = self.groups.restart_unloaded()
        restarted = ShareGroups(groups, self.topics, self.persister)
        groups.load()
        return restarted

    def group(self, group_id: str = GROUP) -> ShareGroup:
        group = self.groups.group(group_id)
        assert group.share is not None
        return group.share

    def send(self, **fields: Any) -> ShareGroupHeartbeatResponse | None:
        """Send one heartbeat. Returns the response, or None if it has not come yet."""
        answers: list[ShareGroupHeartbeatResponse] = []
        request = ShareGroupHeartbeatRequest(**({"group_id": GROUP} | fields))
        self.coordinator.handle_heartbeat(request, CLIENT, answers.append)
        return answers[0] if answers else None

    def delete(self, *group_ids: str) -> dict[str, Errors] | None:
        """Delete groups as DeleteGroups does; None if the share coordinator has not responded."""
        outcomes: dict[str, Errors] = {}

        def on_deleted(refused: Mapping[str, Errors]) -> None:
            outcomes.update(self.groups.admin.handle_delete_groups([g for g in group_ids if g not in refused]))
            outcomes.update(refused)

        self.coordinator.state_keeper.delete_states_of(group_ids, on_deleted)
        return outcomes or None


@dataclass
class ShareMember:
    """A share consumer, as far as its group is concerned."""

    groups: ShareGroups
    member_id: str
    topics: list[str] = field(default_factory=lambda: ["t"])
    epoch: int = 0
    owned: frozenset[Pair] = frozenset()
    response: ShareGroupHeartbeatResponse = field(default_factory=ShareGroupHeartbeatResponse)

    def heartbeat(self, **fields: Any) -> Errors:
        """Send a heartbeat, and obey the response."""
        subscription = {"subscribed_topic_names": self.topics} if self.epoch == 0 else {}
        response = self.groups.send(member_id=self.member_id, member_epoch=self.epoch, **(subscription | fields))
        assert response is not None
        self.response = response
        if response.error_code == 0:
            self.epoch = max(response.member_epoch, 0)
            if response.assignment is not None:
                told = response.assignment.topic_partitions
                self.owned = frozenset((each.topic_id, n) for each in told for n in each.partitions)
        return error_of(response.error_code)

    def leave(self) -> Errors:
        response = self.groups.send(member_id=self.member_id, member_epoch=-1)
        assert response is not None
        self.epoch, self.owned = 0, frozenset()
        return error_of(response.error_code)

    def numbers(self, topic: str = "t") -> list[int]:
        """Its partitions of a topic."""
        return sorted(n for each, n in self.owned if each == topic_id(topic))


def joined(groups: ShareGroups, *member_ids: str) -> list[ShareMember]:
    """Members that have joined and have their partitions."""
    members = [ShareMember(groups, member_id) for member_id in member_ids]
    for _ in range(3):
        for member in members:
            assert member.heartbeat() is Errors.NONE
    return members
