"""Finds the promises of Kafka that a history breaks.

Not in Kafka. Each rule is a function from a history to the violations it found; ``check`` applies all of them. The
anomalies have the names that the well-known checkers of distributed systems use.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from kafka_lite.testing.history import transaction_rules
from kafka_lite.testing.history.history import UNKNOWN_OFFSET, Assignment, Commit, History, Place

MOST = 20
"""Violations of a rule that are reported; the rest is counted."""


class Violation(NamedTuple):
    """A broken promise."""

    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def inconsistent_offsets(history: History) -> Iterator[str]:
    """One offset with two values."""
    values: dict[Place, str | None] = {}
    seen: list[tuple[Place, str | None]] = [
        (place, record.value) for record, place in history.acknowledged if place.offset != UNKNOWN_OFFSET
    ]
    seen += [(polled.place, polled.value) for polled in history.polled]
    seen += [(stored.place, stored.value) for stored in (*history.stored, *history.visible)]
    for place, value in seen:
        if values.setdefault(place, value) != value:
            yield f"{place} has {values[place]!r} and {value!r}"


def lost_writes(history: History) -> Iterator[str]:
    """An acknowledged record that is not in the log at the end."""
    stored = {record.place for record in history.stored}
    values = _places_of_values(history)
    for record, place in history.acknowledged:
        if record.topic in history.compacted | history.deleted or place in stored:
            continue
        if place.offset != UNKNOWN_OFFSET:
            yield f"{record.value!r} was acknowledged at {place}, and is not there"
        elif not values.get((record.topic, record.partition, record.value)):
            yield f"{record.value!r} was acknowledged, and is not in {record.topic}-{record.partition}"


def lost_keys(history: History) -> Iterator[str]:
    """A key of a compacted topic without the newest acknowledged record, or one that replaced it."""
    newest: dict[tuple[str, int, str | None], int] = {}
    for stored in history.stored:
        key = (stored.place.topic, stored.place.partition, stored.key)
        newest[key] = max(newest.get(key, -1), stored.place.offset)
    for record, place in history.acknowledged:
        key = (record.topic, record.partition, record.key)
        if record.topic in history.compacted - history.deleted and newest.get(key, -1) < place.offset:
            yield f"{record.value!r} was acknowledged at {place}; the newest of its key is at {newest.get(key)}"


def unsent_records(history: History) -> Iterator[str]:
    """A record in the log, or at a consumer, that nobody handed to a producer."""
    sent = {(record.topic, record.partition, record.value) for record in history.sent}
    for polled in history.polled:
        place = polled.place
        if polled.value is not None and (place.topic, place.partition, polled.value) not in sent:
            yield f"{polled.consumer} got {polled.value!r} at {place}, which nobody sent"
    for place, value, _ in history.stored:
        if value is not None and (place.topic, place.partition, value) not in sent:
            yield f"{place} has {value!r}, which nobody sent"


def vanished_reads(history: History) -> Iterator[str]:
    """A record that a consumer got, and that is not in the log at the end: it was never committed, or is lost."""
    stored = {record.place for record in history.stored}
    for polled in history.polled:
        if polled.place.topic not in history.compacted | history.deleted and polled.place not in stored:
            yield f"{polled.consumer} got {polled.value!r} at {polled.place}, which is not there"


def diverged_replicas(history: History) -> Iterator[str]:
    """A committed record that a replica lacks, or has another one in its place."""
    for place, value, _ in history.stored:
        for broker in history.hosts.get((place.topic, place.partition), history.replicas):
            replica = history.replicas.get(broker, {})
            if place not in replica and place.topic not in history.compacted:
                yield f"broker {broker} lacks {value!r} at {place}"
            elif replica.get(place, value) != value:
                yield f"broker {broker} has {replica[place]!r} at {place}, the leader has {value!r}"


def duplicates(history: History) -> Iterator[str]:
    """A record of an idempotent producer that is in the log twice."""
    places = _places_of_values(history)
    for record in history.sent:
        found = places.get((record.topic, record.partition, record.value), [])
        if record.producer in history.idempotent and len(found) > 1:
            yield f"{record.value!r} of {record.producer} is at {found} of {record.topic}-{record.partition}"


def reordered_sends(history: History) -> Iterator[str]:
    """Two records that an idempotent producer sent to a partition, in the other order."""
    places = _places_of_values(history)
    last: dict[tuple[str, str, int], tuple[int, str]] = {}
    for record in history.sent:
        found = places.get((record.topic, record.partition, record.value))
        if record.producer not in history.idempotent or not found:
            continue
        key = (record.producer, record.topic, record.partition)
        before, value = last.get(key, (-1, ""))
        if found[0] < before:
            yield f"{value!r} of {record.producer} was sent before {record.value!r}, and is behind it in {key[1:]}"
        last[key] = max(before, found[0]), record.value


def nonmonotonic_polls(history: History) -> Iterator[str]:
    """A consumer that got an offset again, or an earlier one, without a new assignment."""
    last: dict[tuple[str, int, str, int], int] = {}
    for polled in history.polled:
        key = (polled.consumer, polled.assignment, polled.place.topic, polled.place.partition)
        if polled.place.offset <= last.get(key, -1):
            yield f"{polled.consumer} got {polled.place} after offset {last[key]}"
        last[key] = polled.place.offset


def skipped_polls(history: History) -> Iterator[str]:
    """A record of the log that a consumer passed over, between two that it got with one assignment."""
    stored: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place in sorted(record.place for record in history.readable()):
        stored[place.topic, place.partition].append(place.offset)
    last: dict[tuple[str, int, str, int], int] = {}
    for polled in history.polled:
        place = polled.place
        key = (polled.consumer, polled.assignment, place.topic, place.partition)
        if place.topic not in history.compacted and key in last:
            offsets = stored[place.topic, place.partition]
            missed = offsets[bisect_right(offsets, last[key]) : bisect_left(offsets, place.offset)]
            if missed:
                yield f"{polled.consumer} got {place} after {last[key]}, without {missed}"
        last[key] = place.offset


def unseen_records(history: History) -> Iterator[str]:
    """A record of the log that no member of a group got, although the group has read to the end."""
    seen: dict[str, set[Place]] = defaultdict(set)
    for polled in history.polled:
        seen[history.groups.get(polled.consumer, "")].add(polled.place)
    for group, topic in history.finished_groups.items():
        for place, value, _ in history.readable():
            if place.topic == topic and topic not in history.compacted and place not in seen[group]:
                yield f"no member of {group} got {value!r} at {place}"


def shared_partitions(history: History) -> Iterator[str]:
    """A partition with two owners in one generation of a group.

    A group that is removed and made again begins with generation 1 again. Such generations are told apart by what the
    coordinator has stored; a member of which it has stored nothing belongs to any of them.
    """
    lives = _lives_of_members(history)
    owners: dict[tuple[str, int, str, int], list[str]] = defaultdict(list)
    for given in history.assignments:
        known = owners[given.group, given.generation, given.topic, given.partition]
        own = lives[given.group, given.generation, given.member]
        for owner in known:
            others = lives[given.group, given.generation, owner]
            if owner != given.member and not (own and others and own.isdisjoint(others)):
                yield (
                    f"{given.topic}-{given.partition} belongs to {owner} and {given.member} "
                    f"in generation {given.generation} of {given.group}"
                )
                break
        known.append(given.member)


def _lives_of_members(history: History) -> dict[tuple[str, int, str], set[int]]:
    """Group, generation and member -> how often the group had been removed before this generation was stored.

    A coordinator removes a group that has neither members nor offsets, for example when any topic is deleted. That the
    group has no members is stored before. The tombstone of a group with members is a bug, and begins no other life.
    """
    lives: dict[tuple[str, int, str], set[int]] = defaultdict(set)
    removals: Counter[str] = Counter()
    is_empty: dict[str, bool] = {}
    for group, generation, members in history.generations:
        if generation is None:
            removals[group] += is_empty.get(group, False)
        else:
            is_empty[group] = not members
            for member in members:
                lives[group, generation, member].add(removals[group])
    return lives


def lost_commits(history: History) -> Iterator[str]:
    """A committed offset that the broker forgot: it returns an older one, and nobody commits that meanwhile."""
    commits: dict[tuple[str, str, int], list[Commit]] = defaultdict(list)
    for commit in history.commits:
        commits[commit.group, commit.topic, commit.partition].append(commit)
    for read in history.committed_reads:
        possible = _possible_offsets(commits[read.group, read.topic, read.partition], read.began, read.ended)
        if read.offset not in possible:
            yield (
                f"{read.group} has {read.offset} for {read.topic}-{read.partition}; "
                f"possible are {sorted(possible, key=lambda offset: -1 if offset is None else offset)}"
            )


def commits_of_old_generations(history: History) -> Iterator[str]:
    """A member's commit that succeeded although the group had a commit of a later generation before."""
    newest: dict[str, tuple[int, int]] = {}
    for ended, commit in sorted(((each.ended or 0, each) for each in history.commits), key=lambda pair: pair[0]):
        if not ended or commit.generation < 0:
            continue
        generation, since = newest.get(commit.group, (-1, 0))
        if commit.generation > generation:
            newest[commit.group] = commit.generation, ended
        elif commit.generation < generation and since < commit.began:
            yield (
                f"{commit.group} took offset {commit.offset} of {commit.topic}-{commit.partition} from a member of "
                f"generation {commit.generation} after a commit of generation {generation}"
            )


def commits_of_former_owners(history: History) -> Iterator[str]:
    """A member's commit that succeeded although it began after another member got the partition, and still had it.

    A member that does not know yet that it was removed may try, but its commit must be refused.
    """
    owners: dict[tuple[str, str, int], list[Assignment]] = defaultdict(list)
    for given in history.assignments:
        owners[given.group, given.topic, given.partition].append(given)
    given_up: dict[tuple[str, str, int, str], list[int]] = defaultdict(list)
    for each in history.releases:
        given_up[each.group, each.topic, each.partition, each.member].append(each.moment)
    for commit in history.commits:
        if not commit.member or commit.ended is None:
            continue
        at = commit.group, commit.topic, commit.partition
        before = [given for given in owners[at] if given.moment < commit.began]
        newest = max(before, key=lambda given: given.moment, default=None)
        if newest is None or newest.member == commit.member:
            continue
        if not any(newest.moment < moment < commit.began for moment in given_up[*at, newest.member]):
            yield (
                f"{commit.group} took offset {commit.offset} of {commit.topic}-{commit.partition} from {commit.member} "
                f"while {newest.member} had it"
            )


def too_few_copies(history: History) -> Iterator[str]:
    """A record that was acknowledged before ``min.insync.replicas`` brokers had it."""
    for place, copies in history.copies:
        if copies < history.min_copies:
            yield f"{place} was acknowledged with {copies} copies, not {history.min_copies}"


def forgotten_configs(history: History) -> Iterator[str]:
    """A log without the last configuration of its topic."""
    for broker, topic, config in history.applied_configs:
        if config != history.configs.get(topic, config):
            yield f"broker {broker} has {config} for {topic}, which was given {history.configs[topic]}"


def stuck_groups(history: History) -> Iterator[str]:
    """A group that does not get what was acknowledged, long after the last fault."""
    for topic, partition, read, last in history.behind:
        yield f"the group of {topic}-{partition} has read up to {read}; {last} was acknowledged"


def _possible_offsets(commits: Sequence[Commit], began: int, ended: int) -> set[int | None]:
    """The offsets that a read between two moments may return: of all commits that no certainly later one replaced."""
    before = [commit for commit in commits if commit.ended is not None and commit.ended < began]
    newest_start = max((commit.began for commit in before), default=0)
    possible: set[int | None] = set() if before else {None}
    for commit in commits:
        has_begun = commit.began < ended
        is_replaced = commit.ended is not None and commit.ended < newest_start
        if has_begun and not is_replaced:
            possible.add(commit.offset)
    return possible


def _places_of_values(history: History) -> dict[tuple[str, int, str], list[int]]:
    places: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for place, value, _ in history.stored:
        if value is not None:
            places[place.topic, place.partition, value].append(place.offset)
    return places


RULES: Final[dict[str, Callable[[History], Iterator[str]]]] = {
    "inconsistent offsets": inconsistent_offsets,
    "lost write": lost_writes,
    "lost key": lost_keys,
    "unsent record": unsent_records,
    "vanished read": vanished_reads,
    "diverged replica": diverged_replicas,
    "duplicate": duplicates,
    "reordered sends": reordered_sends,
    "non-monotonic poll": nonmonotonic_polls,
    "poll skip": skipped_polls,
    "unseen record": unseen_records,
    "shared partition": shared_partitions,
    "lost commit": lost_commits,
    "commit of an old generation": commits_of_old_generations,
    "commit of a former owner": commits_of_former_owners,
    "too few copies": too_few_copies,
    "forgotten configuration": forgotten_configs,
    "stuck group": stuck_groups,
    **transaction_rules.RULES,
}
"""Every rule by the anomaly that it finds."""
ALWAYS: Final = ("unsent record", "diverged replica", "shared partition", "forgotten configuration")
"""Rules that hold in excused partitions, too."""


def check(history: History) -> list[Violation]:
    """All violations; of each rule the first ``MOST``, and how many more there are."""
    violations: list[Violation] = []
    unexcused = _without_excused(history)
    for rule, find in RULES.items():
        found = [Violation(rule, text) for text in find(history if rule in ALWAYS else unexcused)]
        violations += found[:MOST]
        if len(found) > MOST:
            violations.append(Violation(rule, f"and {len(found) - MOST} more"))
    return violations


def _without_excused(history: History) -> History:
    """The history as if the excused partitions were not there."""
    excused = history.excused
    if not excused:
        return history

    def is_kept(place: Place) -> bool:
        return (place.topic, place.partition) not in excused

    return dataclasses.replace(
        history,
        sent=[sent for sent in history.sent if (sent.topic, sent.partition) not in excused],
        acknowledged=[(sent, place) for sent, place in history.acknowledged if is_kept(place)],
        polled=[polled for polled in history.polled if is_kept(polled.place)],
        stored=[stored for stored in history.stored if is_kept(stored.place)],
        copies=[(place, copies) for place, copies in history.copies if is_kept(place)],
        behind=[behind for behind in history.behind if behind[:2] not in excused],
    )
