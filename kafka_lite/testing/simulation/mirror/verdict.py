"""The promises of MirrorMaker that a run breaks.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.testing.history.checker import MOST, Violation
from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.mirror.facts import ORIGINALS, Facts

COPY_LOST, NO_ORIGINAL, OUT_OF_ORDER, KEY_SPREAD = (
    "copy lost", "copy without an original", "copies of a key out of order", "key in two partitions",
)  # fmt: skip


def judge(history: History, facts: Facts) -> Iterator[Violation]:
    """The violations at the end of a run. Copies may come twice: of each value the first one counts."""
    originals = {each.value: each.place for each in history.stored if each.place.topic == ORIGINALS}
    copied = {copy.value for copy in facts.copies}
    lost = [each.value for each, _ in history.acknowledged if each.topic == ORIGINALS and each.value not in copied]
    if lost:
        yield Violation(COPY_LOST, f"{len(lost)} records were acknowledged, and are not in the target: {lost[:MOST]}")
    for value in sorted(copied - originals.keys()):
        yield Violation(NO_ORIGINAL, f"{value} is in the target, and not in the source")
    yield from _of_keys(facts, {value: place.offset for value, place in originals.items() if value is not None})


def _of_keys(facts: Facts, original_offsets: dict[str, int]) -> Iterator[Violation]:
    """Each key has one partition on both sides, so that the offsets of its originals ascend with its first copies."""
    last: dict[str | None, int] = {}
    partitions: dict[str | None, int] = {}
    first: set[str] = set()
    for copy in facts.copies:
        if copy.value in first or copy.value not in original_offsets:
            continue
        first.add(copy.value)
        if partitions.setdefault(copy.key, copy.partition) != copy.partition:
            yield Violation(KEY_SPREAD, f"{copy.value} of {copy.key} is in partition {copy.partition}")
        offset = original_offsets[copy.value]
        if offset < last.get(copy.key, -1):
            yield Violation(OUT_OF_ORDER, f"{copy.value} of {copy.key} came after a later record of its key")
        last[copy.key] = max(offset, last.get(copy.key, -1))
