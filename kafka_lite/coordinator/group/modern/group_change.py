"""One change of a group: records that are applied while it is decided, and can be taken back.

Kafka 4.1: coordinator-common/.../runtime/CoordinatorRuntime.java (append, SnapshotRegistry) · book 3.5.4
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.modern_group import AnyModernGroup
from kafka_lite.protocol.schema import Message

AnyRecord = tuple[Any, Message | None]
"""A key and its new value; None deletes it."""


GroupT = TypeVar("GroupT", bound=AnyModernGroup)


class ModernGroupChange(Generic[GroupT]):
    """The group has the new state at once, so that each step of a decision sees the steps before it.

    Nobody may be told of it before the log has it. If the log refuses it, or the decision fails, ``undo`` restores the
    group. Kafka keeps a snapshot of all its maps for that; here every record knows what it replaced.
    """

    def __init__(self, group: GroupT) -> None:
        self.group = group
        self.records: list[AnyRecord] = []
        self.others: list[tuple[bytes, bytes | None]] = []
        """Other kinds of records of this change, as key and value: those of a classic group."""
        self.on_undone: list[Callable[[], None]] = []
        """Called last if the change is taken back, the latest first."""
        self._undo: list[AnyRecord] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.records and not self.others

    def add(self, record: AnyRecord) -> None:
        """Apply one more record."""
        self._undo.append(self.group.replay(record))
        self.records.append(record)

    def extend(self, records: Iterable[AnyRecord]) -> None:
        """Apply more records."""
        for record in records:
            self.add(record)

    def absorb(self, later: ModernGroupChange[GroupT]) -> None:
        """Take over the records of the change that followed, so that both are written as one batch."""
        self.records += later.records
        self.others += later.others
        self.on_undone += later.on_undone
        self._undo += later._undo

    def undo(self) -> None:
        """Restore the state from before. Changes that followed must have been undone already."""
        while self._undo:
            self.group.replay(self._undo.pop())
        self.group.topics_version = None
        self.records.clear()
        self.others.clear()
        while self.on_undone:
            self.on_undone.pop()()


class GroupChange(ModernGroupChange[ConsumerGroup]):
    """A change of a group of consumers."""
