"""The session id and the epoch of a fetch request.

Kafka 1.1: clients/.../common/requests/FetchMetadata.java; 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

from typing import NamedTuple, Self

INVALID_SESSION_ID = 0
"""Stands for no session."""
INITIAL_EPOCH = 0
"""The epoch of a request that names all its partitions and asks for a new session."""
FINAL_EPOCH = -1
"""The epoch of a request that names all its partitions, ends its session if it has one, and asks for no other."""
MAX_EPOCH = 0x7FFF_FFFF


def next_epoch(epoch: int) -> int:
    """The epoch of the next request: it wraps to 1, since 0 starts a session. The final epoch stays final."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == MAX_EPOCH else epoch + 1


class FetchMetadata(NamedTuple):
    """The place of a fetch request in a session.

    ::

        session id   epoch   meaning of the request
        ──────────   ─────   ─────────────────────────────────────────────────────────────────────
        0            0       all partitions are named; a session is asked for
        0            -1      all partitions are named; no session
        s            0       session s ends; all partitions are named; a new session is asked for
        s            -1      session s ends; all partitions are named; no new session
        s            n ≥ 1   the n-th request of session s names the changes only
    """

    session_id: int
    epoch: int

    @property
    def is_full(self) -> bool:
        """Whether the request names all its partitions."""
        return self.epoch in (INITIAL_EPOCH, FINAL_EPOCH)

    @classmethod
    def new_incremental(cls, session_id: int) -> Self:
        """The first incremental request of a session."""
        return cls(session_id, next_epoch(INITIAL_EPOCH))

    def next_incremental(self) -> FetchMetadata:
        """The next incremental request of this session."""
        return FetchMetadata(self.session_id, next_epoch(self.epoch))

    def next_close_existing(self) -> FetchMetadata:
        """Ends this session."""
        return FetchMetadata(self.session_id, FINAL_EPOCH)

    def next_close_existing_attempt_new(self) -> FetchMetadata:
        """Ends this session and asks for another."""
        return FetchMetadata(self.session_id, INITIAL_EPOCH)


INITIAL = FetchMetadata(INVALID_SESSION_ID, INITIAL_EPOCH)
"""The first request of a client to a broker."""
