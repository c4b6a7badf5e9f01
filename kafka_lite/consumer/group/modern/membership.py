"""A member's state, epoch and assignment, and what responses and the user do to them.

Kafka 4.1: clients/.../consumer/internals/AbstractMembershipManager.java, ConsumerMembershipManager.java · book 5.1.1
"""

from __future__ import annotations

import logging
from uuid import uuid4

from kafka_lite.consumer.group.modern.local_assignment import (
    NO_ASSIGNMENT,
    LocalAssignment,
    PartitionsByTopic,
    partitions_of,
)
from kafka_lite.consumer.group.modern.member_state import URGENT, VALID_PREVIOUS_STATES, MemberState
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

logger = logging.getLogger(__name__)

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
"""A static member that leaves: its partitions wait for it until its session times out."""


class Membership:
    """Decides, and sends nothing: ``HeartbeatRequestManager`` asks what to send, and reports the responses.

    ::

        UNSUBSCRIBED ─ join ─▶ JOINING ─ response ─▶ RECONCILING ─ reconciled ─▶ ACKNOWLEDGING ─ sent ─▶ STABLE
             ▲                    ▲                       ▲                                                │
             │                    │                       └───────────────── another assignment ───────────┤
             │                    └── release ── FENCED ◀── FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID ────────┤
             │                    └── release ── STALE ◀─ sent ─┐                                          │
             └───────────────── sent ─────────────────────── LEAVING ◀── PREPARE_LEAVING ◀── leave ────────┘

    Both the user's thread and the heartbeat thread use it, under the coordinator's lock.
    """

    def __init__(self, group_id: str, group_instance_id: str | None = None) -> None:
        self.group_id = group_id
        self.group_instance_id = group_instance_id
        self.member_id = str(uuid4())
        """Chosen by the member itself, and kept as long as the consumer lives (KIP-1082)."""
        self.epoch = JOIN_EPOCH
        self.last_epoch = JOIN_EPOCH
        """The last epoch that the coordinator has given. It stays when the member has lost it."""
        self.state = MemberState.UNSUBSCRIBED
        self.current = NO_ASSIGNMENT
        """The assignment that the member has taken over."""
        self.target = NO_ASSIGNMENT
        """The assignment that the coordinator has sent last."""
        self.joins = 0
        """How often the member has begun to join. A response to a request of an earlier time is out of date."""
        self._is_late = False

    def transition_to(self, new: MemberState) -> None:
        """Change the state. Raises RuntimeError for a transition that the table lacks."""
        if self.state is not new and self.state not in VALID_PREVIOUS_STATES[new]:
            raise RuntimeError(f"member {self.member_id} of {self.group_id}: from {self.state.name} to {new.name}")
        logger.debug("Group %s: %s at epoch %d: %s", self.group_id, self.member_id, self.epoch, new.name)
        self.state = new

    # ── questions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def is_in_group(self) -> bool:
        """Whether heartbeats are to be sent."""
        return self.state.is_in_group

    @property
    def is_urgent(self) -> bool:
        """Whether the next heartbeat does not wait for the interval."""
        return self.state in URGENT

    @property
    def may_commit(self) -> bool:
        """Whether the member has an epoch, which a commit needs."""
        return self.epoch > 0 and self.state.is_in_group

    @property
    def must_release(self) -> bool:
        """Whether the member has lost its partitions, and the listener does not know yet."""
        return self.state in (MemberState.FENCED, MemberState.STALE)

    @property
    def is_reconciled(self) -> bool:
        """Whether the member has all that the coordinator has sent."""
        return self.current == self.target

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    def join(self) -> None:
        """Join, or join again with nothing."""
        self.epoch = JOIN_EPOCH
        self.joins += 1
        self._is_late = False
        self.current = self.target = NO_ASSIGNMENT
        self.transition_to(MemberState.JOINING)

    def heartbeat_succeeded(self, response: ConsumerGroupHeartbeatResponse) -> None:
        """Take over the epoch, and the assignment if there is one. Ignored by a member that is not in the group, or
        leaves."""
        if not self.state.is_in_group or self.state in (MemberState.PREPARE_LEAVING, MemberState.LEAVING):
            return
        self.member_id = response.member_id or self.member_id
        self.epoch = self.last_epoch = response.member_epoch
        if response.assignment is not None and self.state.takes_assignments:
            self._assigned(partitions_of(response.assignment))
        elif self.state is MemberState.JOINING:
            self.transition_to(MemberState.STABLE)  # a coordinator that assigns nothing need not say so

    def _assigned(self, partitions: PartitionsByTopic) -> None:
        self.target = self.target.then(partitions)
        if not self.is_reconciled:
            self.transition_to(MemberState.RECONCILING)
        elif self.state is MemberState.RECONCILING:
            self.transition_to(MemberState.STABLE)  # the coordinator has taken back what had not been taken over

    # ── reconciling ───────────────────────────────────────────────────────────────────────────────────────────────

    def reconciled(self, resolved: LocalAssignment) -> None:
        """The listener has been called, and the consumer reads these partitions. The coordinator must know."""
        self.current = resolved
        self.transition_to(MemberState.ACKNOWLEDGING)

    def heartbeat_sent(self) -> None:
        """The states that only wait for a heartbeat to be sent are over."""
        if self.state is MemberState.ACKNOWLEDGING:
            self.transition_to(MemberState.STABLE if self.is_reconciled else MemberState.RECONCILING)
        elif self.state is MemberState.LEAVING:
            self.transition_to(MemberState.STALE if self._is_late else MemberState.UNSUBSCRIBED)

    # ── the end of a membership ───────────────────────────────────────────────────────────────────────────────────

    def fence(self) -> None:
        """The coordinator has removed the member, or given it another epoch: its partitions are lost."""
        if self.state in (MemberState.PREPARE_LEAVING, MemberState.LEAVING):
            self.transition_to(MemberState.UNSUBSCRIBED)  # it need not leave any more
        elif self.state.is_in_group:
            self.epoch = JOIN_EPOCH
            self.transition_to(MemberState.FENCED)

    def fail(self) -> None:
        """The coordinator refuses the member for a reason that no repetition mends."""
        if self.state not in (MemberState.FENCED, MemberState.STALE, MemberState.FATAL):
            self.transition_to(MemberState.FATAL)
            self.epoch = JOIN_EPOCH

    def leave(self, *, is_late: bool = False) -> None:
        """Leave with the next heartbeat. ``is_late``: the user has not polled, and will learn of it by its next
        poll."""
        if self.must_release:
            self.transition_to(MemberState.UNSUBSCRIBED)
        if not self.state.is_in_group or self.state is MemberState.LEAVING:
            return
        self._is_late = is_late
        self.transition_to(MemberState.PREPARE_LEAVING)
        self.epoch = LEAVE_EPOCH if self.group_instance_id is None else STATIC_LEAVE_EPOCH
        self.current = self.target = NO_ASSIGNMENT
        self.transition_to(MemberState.LEAVING)
