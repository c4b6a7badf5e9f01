"""The promises of the purgatory: a response is sent once, it is sent when its condition holds, and nothing is left.

::

    events         event(k): the count of k grows, then check_and_complete(k)
    requests       each waits for two keys, and then for its counts
    at the end     every condition holds ──▶ every request was completed, once, long before its timeout
"""

from __future__ import annotations

import random

from kafka_learn.labs.hunting.threads_together import together
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation, DelayedOperationPurgatory

KEYS = ("t-0", "t-1")
EVENTS, REQUESTS = 3, 5
TIMEOUT_MS = 60_000


class Request(DelayedOperation):
    """Completes as soon as each key has had so many events."""

    def __init__(self, counts: dict[str, int], needed: int, delay_ms: float) -> None:
        super().__init__(delay_ms)
        self._counts, self._needed = counts, needed
        self.responses = 0
        self.expired = False

    def try_complete(self) -> bool:
        """Whether the counts are reached."""
        for key in KEYS:
            if self._counts[key] < self._needed:
                return False
        return self.force_complete()

    def on_complete(self) -> None:
        """Send a response."""
        self.responses += 1

    def on_expiration(self) -> None:
        """Too late."""
        self.expired = True


def main() -> None:
    """Raises AssertionError that says which promise was broken."""
    drawn = random.Random(random.getrandbits(32))
    counts = dict.fromkeys(KEYS, 0)
    purgatory = DelayedOperationPurgatory[Request]("hunt", purge_interval=2)
    requests = [Request(counts, drawn.choice((2, EVENTS, EVENTS)), TIMEOUT_MS) for _ in range(2 * REQUESTS)]
    late = Request(counts, EVENTS + 1, drawn.choice((1, 5)))

    def events(key: str) -> None:
        for _ in range(EVENTS):
            counts[key] += 1
            purgatory.check_and_complete(key)

    def arrive(some: list[Request]) -> None:
        for request in some:
            purgatory.try_complete_else_watch(request, KEYS)

    together(
        events_of_t_0=lambda: events("t-0"),
        events_of_t_1=lambda: events("t-1"),
        handler_1=lambda: arrive(requests[:REQUESTS]),
        handler_2=lambda: arrive([*requests[REQUESTS:], late]),
    )
    unanswered = sum(request.responses == 0 for request in requests)
    twice = sum(request.responses > 1 for request in (*requests, late))
    purgatory.shutdown()
    assert not unanswered, (
        f"{unanswered} of {len(requests)} requests wait for their timeout, though their condition holds: a lost wake-up"
    )
    assert not twice, f"{twice} of {len(requests) + 1} requests were answered twice: on_complete is called exactly once"
    assert not any(request.expired for request in requests), "a request expired that was completed long before"
