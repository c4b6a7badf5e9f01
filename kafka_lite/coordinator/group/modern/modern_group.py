"""The part that all groups with an assignment by the coordinator have: epochs, members, target, and the log.

Kafka 4.1: group-coordinator/.../group/modern/ModernGroup.java · book 5.2.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions
from kafka_lite.protocol.schema import Message


class ModernMember(Protocol):
    """A member of such a group."""

    @property
    def member_id(self) -> str:
        """Its id."""
        ...

    @property
    def member_epoch(self) -> int:
        """The group epoch that it has come to."""
        ...


MemberT = TypeVar("MemberT", bound=ModernMember)
KeyT = TypeVar("KeyT", bound=Message)
StateT = TypeVar("StateT", bound=Enum)


@dataclass
class ModernGroup(ABC, Generic[MemberT, KeyT, StateT]):
    """The state of a group, which changes by records only.

    ::

        group epoch        ▲ grows when members, subscriptions or topics change
        assignment epoch   │ follows it when the target has been computed
        member epochs      │ follow that

    The log's records are the state: ``replay`` applies one, whether it was just decided or read from the log, and
    returns the record that undoes it, for the case that the log refuses it. Callers hold the lock of the group.
    """

    VALID_PREVIOUS_STATES: ClassVar[Mapping[Any, frozenset[Any]]] = {}

    group_id: str
    state: StateT
    group_epoch: int = 0
    metadata_hash: int = 0
    assignment_epoch: int = 0
    members: dict[str, MemberT] = field(default_factory=dict)
    target: dict[str, TopicIdPartitions] = field(default_factory=dict)
    """The target assignment by member id."""
    topics_version: object = None
    """The version of the topics that ``metadata_hash`` was computed from. It is not in the log."""
    _values: dict[tuple[object, ...], Message] = field(default_factory=dict)

    def member(self, member_id: str) -> MemberT:
        """The member. Raises UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            raise Errors.UNKNOWN_MEMBER_ID.exception(f"Member {member_id} is not a member of group {self.group_id}.")
        return member

    @abstractmethod
    def topics_of(self, member: MemberT) -> frozenset[str]:
        """The topics that a member subscribes to."""

    def subscribed_topics(self) -> frozenset[str]:
        """The topics that members subscribe to."""
        # Most members subscribe alike, and a set of them is made faster than their union.
        return frozenset().union(*set(map(self.topics_of, self.members.values())))

    def is_subscribed_to_topic(self, topic: str) -> bool:
        """Whether a member subscribes to the topic."""
        return any(topic in self.topics_of(member) for member in self.members.values())

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def has_records(self) -> bool:
        """Whether anything of the group is in the log."""
        return bool(self._values)

    def replay(self, record: tuple[KeyT, Message | None]) -> tuple[KeyT, Message | None]:
        """Apply a record; returns the one that undoes it."""
        key, value = record
        place = (type(key), *(getattr(key, each.name) for each in key.FIELDS))
        before = self._values.pop(place, None)
        if value is not None:
            self._values[place] = value
        self._apply(key, value)
        self._update_state()
        return key, before

    @abstractmethod
    def _apply(self, key: KeyT, value: Message | None) -> None:
        """Change the fields."""

    # ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def is_in(self, *states: StateT) -> bool:
        """Whether the group is in one of these states."""
        return self.state in states

    def transition_to(self, target: StateT) -> None:
        """Change the state. Raises RuntimeError for a transition that is not in VALID_PREVIOUS_STATES."""
        if self.state not in self.VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"Group {self.group_id} cannot go from {self.state.name} to {target.name}")
        self.state = target

    @abstractmethod
    def _update_state(self) -> None:
        """Enter the state that follows from epochs and members."""


AnyModernGroup = ModernGroup[Any, Any, Any]
