"""The state of one record in flight, or of a batch of records that have had the same fate so far.

Kafka 4.1: core/.../server/share/SharePartition.java (InFlightState, AcquisitionLockTimerTask) · book 5.4.1
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kafka_lite.server.share.record_state import VALID_PREVIOUS_STATES, RecordState


class AcquisitionLock(Protocol):
    """The time that a member may take for the records that it acquired at once.

    In Kafka each batch, or each record of a batch that was divided, has a timer task of its own.
    """

    is_expired: bool
    """Whether the time is over."""

    def held_by(self, states: int) -> None:
        """So many more states have this lock (fewer, if negative). Without any its timer is cancelled."""
        ...


class Before(NamedTuple):
    """A state before the change that is being written."""

    state: RecordState
    delivery_count: int
    member_id: str | None


class InFlightState:
    """State, delivery count, and owner; and, while a change is being written to the persister, what they were before::

        ACQUIRED ──begin(to)──▶ new state, changing ──commit──▶ new state, without a lock
                                          └──────────roll_back──▶ ACQUIRED, with the lock that it had

    A record whose change is being written cannot be acquired: if the write fails, it is still the member's.
    """

    __slots__ = ("_before", "delivery_count", "lock", "member_id", "state")

    def __init__(
        self,
        state: RecordState,
        delivery_count: int,
        member_id: str | None = None,
        lock: AcquisitionLock | None = None,
    ) -> None:
        """``lock`` does not count this state yet."""
        self.state = state
        self.delivery_count = delivery_count
        self.member_id = member_id
        """The member that has acquired the record; None in all other states."""
        self.lock = lock
        self._before: Before | None = None
        if lock is not None:
            lock.held_by(1)

    @property
    def is_changing(self) -> bool:
        """Whether a change is being written."""
        return self._before is not None

    @property
    def is_available(self) -> bool:
        """Whether a member may acquire the record."""
        return self.state is RecordState.AVAILABLE and self._before is None

    def copy(self) -> InFlightState:
        """The same state for one record of a batch. Not for one that is changing."""
        assert self._before is None, "a batch is not divided while it is being written"
        return InFlightState(self.state, self.delivery_count, self.member_id, self.lock)

    def acquire(self, member_id: str, lock: AcquisitionLock) -> None:
        """Deliver the record once more. That is not written."""
        self._enter(RecordState.ACQUIRED)
        self.delivery_count += 1
        self.member_id, self.lock = member_id, lock
        lock.held_by(1)

    def begin(self, to: RecordState, limit: int, *, undelivered: bool = False) -> None:
        """Change the state, so that it can be written.

        A record that would be available for the ``limit``-th time is archived. ``undelivered``: its delivery does not
        count, because the member closes its session.
        """
        before = Before(self.state, self.delivery_count, self.member_id)
        self._leave(to, limit, undelivered)
        self._before = before

    def commit(self) -> None:
        """The change is written."""
        self._before = None
        self.drop_lock()

    def roll_back(self) -> None:
        """The change was not written: the record is what it was before."""
        assert self._before is not None, "nothing has begun"
        self.state, self.delivery_count, self.member_id = self._before
        self._before = None

    def time_out(self, limit: int, is_archived: bool) -> None:
        """The lock has expired: deliver the record again, or ``is_archived``."""
        self._leave(RecordState.ARCHIVED if is_archived else RecordState.AVAILABLE, limit)
        self.drop_lock()

    def archive(self) -> None:
        """Give the record up: the log no longer has it, or its transaction was aborted."""
        self._enter(RecordState.ARCHIVED)
        self.member_id = None
        if not self.is_changing:
            self.drop_lock()

    def drop_lock(self) -> None:
        """Nobody need wait for the end of the lock any more."""
        if self.lock is not None:
            self.lock.held_by(-1)
            self.lock = None

    def _leave(self, to: RecordState, limit: int, undelivered: bool = False) -> None:
        """Change the state of an acquired record: no member has it any more.

        One that would be available, but was delivered ``limit`` times, is archived, unless it is ``undelivered``: then
        its last delivery does not count. The deliveries of a record that is archived stay as they are.
        """
        if to is RecordState.AVAILABLE and not undelivered and self.delivery_count >= limit:
            to = RecordState.ARCHIVED
        self._enter(to)
        self.member_id = None
        if undelivered and to is not RecordState.ARCHIVED:
            self.delivery_count -= 1

    def _enter(self, state: RecordState) -> None:
        assert self.state in VALID_PREVIOUS_STATES[state], f"{self.state.name} cannot become {state.name}"
        self.state = state
