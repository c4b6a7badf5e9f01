"""The calls of transactional producers, and their results.

Not in Kafka. A producer that initialized its transactional id is one ``Initialization``: the one after it has a higher
epoch. The order of initializations stands for their epochs, which librdkafka does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Outcome(Enum):
    """The outcome of a transaction, as far as its producer knows."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


@dataclass
class Initialization:
    """A call of ``init_transactions``; ``began`` and ``ended`` are places in the history's order."""

    transactional_id: str
    producer: str
    """The producer's name. Each initialization has another one."""
    began: int
    ended: int | None = None
    """None if the call has not succeeded."""

    def fences(self, other: Initialization) -> bool:
        """Whether this producer surely has a higher epoch than the other one, of the same transactional id."""
        return self.ended is not None and other.ended is not None and other.ended < self.began


@dataclass
class Transaction:
    """A transaction, and what its producer was told."""

    name: str
    """Differs from that of every other transaction."""
    initialization: Initialization
    values: list[str] = field(default_factory=list)
    """The values of its records, in the order in which they were sent."""
    commit_began: int | None = None
    """When the producer asked for the commit; None if it never did."""
    outcome: Outcome = Outcome.UNKNOWN

    @property
    def may_be_committed(self) -> bool:
        """Whether its records may be visible."""
        return self.commit_began is not None and self.outcome is not Outcome.ABORTED

    def __str__(self) -> str:
        return f"transaction {self.name} of {self.initialization.transactional_id} ({self.outcome.value})"
