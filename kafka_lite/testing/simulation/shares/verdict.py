"""The promises of share groups: no record is lost, nor delivered once its acceptance is confirmed. Not in Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.shares.facts import At, Facts

LOST, DELIVERED_AGAIN = "lost to the share group", "delivered after its acceptance"
TOO_OFTEN = "delivered too often"


def judge(facts: Facts, acknowledged: Collection[At], limit: int) -> Iterator[Violation]:
    """Yield what is wrong. ``acknowledged``: the records that producers know to be written; ``limit``: deliveries.

    Two members may be told that they have accepted a record: the broker confirms it to one whose lock has expired if
    the start offset is beyond the record by then, as Kafka does.
    """
    for at in sorted(undone(facts, acknowledged, limit)):
        yield Violation(LOST, f"{at} was written, and is not delivered until somebody accepts it")
    confirmed = {at: number for number, at in reversed(list(enumerate(facts.accepted)))}
    for member, at, count, after in facts.deliveries:
        if confirmed.get(at, after) < after:
            yield Violation(DELIVERED_AGAIN, f"{at} to {member}")
        if count > limit:
            yield Violation(TOO_OFTEN, f"{at} to {member} for the {count}th time")


def undone(facts: Facts, acknowledged: Collection[At], limit: int) -> set[At]:
    """The written records that nobody has tried to accept, and that were delivered less often than they may be."""
    deliveries = Counter(each.at for each in facts.deliveries)
    return {at for at in set(acknowledged) - facts.attempted if deliveries[at] < limit}
