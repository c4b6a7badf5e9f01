"""State of a reader's transaction, by its producer's account.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_learn.live.clients.transaction_program import NO_PRODUCER, OPEN


class TransactionFigures:
    """Keeps the state and counts records; ``note`` gets what a reader should see at once."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._state, self._records = NO_PRODUCER, 0

    def transaction(self, state: str, why: str = "") -> None:
        """The producer has got so far. ``why`` it has failed."""
        if state == OPEN and self._state != OPEN:
            self._records = 0
        self._state = state
        self._note(f"transaction: {state}{f', {why}' if why else ''}")

    def sent_in_transaction(self, value: str, partition: int, offset: int) -> None:
        """A record of the transaction is in the log."""
        self._records += 1
        self._note(f"transaction: {value} is in the log, partition {partition}, offset {offset}")

    def ended(self) -> None:
        """The producer runs no more."""
        if self._state != NO_PRODUCER:
            self.transaction(NO_PRODUCER)

    def as_json(self) -> dict[str, Any]:
        """State, and records of the last transaction that are in the log."""
        return {"state": self._state, "records": self._records}
