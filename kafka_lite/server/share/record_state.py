"""The states of records in a share group, and those of a share partition as a whole.

Kafka 4.1: core/.../server/share/SharePartition.java (RecordState, SharePartitionState) · book 5.4.1
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class RecordState(Enum):
    """The state of a record that is in flight: delivered, or to be delivered again. The values are persisted."""

    AVAILABLE = 0
    """*Action*: wait for a fetch. *Transition*: a member acquires it → ACQUIRED; the log has lost it → ARCHIVED."""

    ACQUIRED = 1
    """*Action*: a member processes it, under a lock that times out. *Transition*: accepted → ACKNOWLEDGED; rejected, a
    gap, of an aborted transaction, or delivered often enough → ARCHIVED; released, or timed out → AVAILABLE."""

    ACKNOWLEDGED = 2
    """*Action*: none, the record is done with. *Transition*: none. It is forgotten once all records before it are done
    with, too."""

    ARCHIVED = 4
    """*Action*: none, the record was given up. *Transition*: none, as for ACKNOWLEDGED."""


VALID_PREVIOUS_STATES: dict[RecordState, frozenset[RecordState]] = {
    RecordState.AVAILABLE: frozenset({RecordState.ACQUIRED}),
    RecordState.ACQUIRED: frozenset({RecordState.AVAILABLE}),
    RecordState.ACKNOWLEDGED: frozenset({RecordState.ACQUIRED}),
    RecordState.ARCHIVED: frozenset({RecordState.ACQUIRED, RecordState.AVAILABLE}),
}
"""State → the states from which it may be entered. A record that is not in flight is ACQUIRED at first."""

TERMINAL: Final = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})
"""States that no record leaves."""

GAP, ACCEPT, RELEASE, REJECT = range(4)
"""A member's word on a record. A gap is an offset without a record for it: compacted, or of a control batch."""

STATE_OF_ACKNOWLEDGE_TYPE: Final = {
    GAP: RecordState.ARCHIVED,
    ACCEPT: RecordState.ACKNOWLEDGED,
    RELEASE: RecordState.AVAILABLE,
    REJECT: RecordState.ARCHIVED,
}
"""A member's word on a record → the state of the record then."""


class SharePartitionState(Enum):
    """The state of a share partition on its leader."""

    EMPTY = "empty"
    """*Action*: none. *Transition*: the first fetch → INITIALIZING."""

    INITIALIZING = "initializing"
    """*Action*: read the state from the persister; fetches wait. *Transition*: it has come → ACTIVE; an error →
    FAILED; the leader changes → FENCED."""

    ACTIVE = "active"
    """*Action*: deliver. *Transition*: another leader, or another state of the group → FENCED."""

    FAILED = "failed"
    """*Action*: none; the next fetch makes a new object. *Transition*: it is let go → FENCED."""

    FENCED = "fenced"
    """*Action*: none, this broker has nothing more to say about the records. *Transition*: none."""


VALID_PREVIOUS_PARTITION_STATES: dict[SharePartitionState, frozenset[SharePartitionState]] = {
    SharePartitionState.EMPTY: frozenset(),
    SharePartitionState.INITIALIZING: frozenset({SharePartitionState.EMPTY}),
    SharePartitionState.ACTIVE: frozenset({SharePartitionState.INITIALIZING}),
    SharePartitionState.FAILED: frozenset({SharePartitionState.INITIALIZING}),
    SharePartitionState.FENCED: frozenset(SharePartitionState) - {SharePartitionState.FENCED},
}
"""State → the states from which it may be entered."""
