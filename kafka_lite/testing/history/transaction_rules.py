"""Finds the promises of transactions that a history breaks.

Not in Kafka. The anomalies have the names that Jepsen's checkers use. All consumers of the topics that are written in
transactions are ``read_committed``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from kafka_lite.testing.history.history import History, Place
from kafka_lite.testing.history.transactions import Initialization, Outcome, Transaction


def aborted_reads(history: History) -> Iterator[str]:
    """A record that a consumer got although its transaction was aborted, or its producer never asked for a commit."""
    transactions = _transactions_of_values(history)
    for reader, place, value in _reads(history):
        transaction = transactions.get(value)
        if transaction is not None and not transaction.may_be_committed:
            yield f"{reader} got {value!r} at {place}, of {transaction}"


def intermediate_reads(history: History) -> Iterator[str]:
    """A transaction that was visible before its commit was requested, or of which some records never are."""
    transactions = _transactions_of_values(history)
    for polled in history.polled:
        transaction = transactions.get(polled.value)
        asked = None if transaction is None else transaction.commit_began
        if asked is not None and 0 < polled.moment < asked:
            yield f"{polled.consumer} got {polled.value!r} at {polled.place} before {transaction} was to be committed"
    places = _visible_places(history)
    for transaction in history.transactions:
        seen = [f"{value!r} at {places[value]}" for value in transaction.values if value in places]
        missing = [value for value in transaction.values if value not in places]
        if seen and missing and transaction.may_be_committed:
            yield f"of {transaction}, {', '.join(seen)} can be read, and {missing} cannot"


def lost_transactions(history: History) -> Iterator[str]:
    """A transaction whose commit has succeeded, and of which no record can be read."""
    places = _visible_places(history)
    for transaction in history.transactions:
        is_lost = transaction.values and not any(value in places for value in transaction.values)
        if transaction.outcome is Outcome.COMMITTED and is_lost:
            yield f"nothing of {transaction} can be read; its records are {transaction.values}"


def zombies_writes(history: History) -> Iterator[str]:
    """A record after one of a later producer of the transactional id, or a commit after that producer began."""
    yield from _records_behind_successors(history)
    places = _visible_places(history)
    for transaction in history.transactions:
        zombie, asked = transaction.initialization, transaction.commit_began
        visible = [f"{value!r} at {places[value]}" for value in transaction.values if value in places]
        if asked is None or not (visible or transaction.outcome is Outcome.COMMITTED):
            continue
        for other in _others(history, zombie):
            if other.fences(zombie) and other.ended is not None and other.ended < asked:
                yield f"{transaction} was committed after {other.producer} had initialized the id; visible: {visible}"
                break


def _records_behind_successors(history: History) -> Iterator[str]:
    producers = {initialization.producer: initialization for initialization in history.initializations}
    senders = {record.value: producers[record.producer] for record in history.sent if record.producer in producers}
    newest: dict[tuple[str, str, int], list[tuple[Initialization, Place]]] = defaultdict(list)
    for stored in sorted(history.stored, key=lambda each: each.place):
        sender = senders.get(stored.value or "")
        if sender is None:
            continue
        earlier = newest[sender.transactional_id, stored.place.topic, stored.place.partition]
        for successor, place in earlier:
            if successor.fences(sender):
                yield (
                    f"{stored.value!r} of {sender.producer} is at {stored.place}, behind one of {successor.producer} "
                    f"at {place.offset}, which had fenced it as {sender.transactional_id}"
                )
                break
        if all(each is not sender for each, _ in earlier):
            earlier.append((sender, stored.place))


def transformed_twice(history: History) -> Iterator[str]:
    """A record from which two visible ones were made."""
    for target in history.transformed:
        made: dict[str | None, list[str]] = defaultdict(list)
        for place, value, key in history.visible:
            if place.topic == target:
                made[key].append(f"{value!r} at {place}")
        for key, places in made.items():
            if len(places) > 1:
                yield f"from {key!r} were made {', '.join(places)}"


def untransformed(history: History) -> Iterator[str]:
    """A committed record from which none was made although its group has read further."""
    for target, source in history.transformed.items():
        made = {record.key for record in history.visible if record.place.topic == target}
        for place, value, _ in history.visible:
            if place.topic == source and value not in made:
                yield f"from {value!r} at {place} nothing was made in {target}"


def hanging_transactions(history: History) -> Iterator[str]:
    """A partition whose last stable offset does not reach its end although every transaction should have ended."""
    for place, high_watermark in history.hanging:
        yield f"the last stable offset of {place.topic}-{place.partition} stays {place.offset} of {high_watermark}"


def _reads(history: History) -> Iterator[tuple[str, Place, str | None]]:
    """Each record that a consumer got, and each that one would get at the end."""
    for polled in history.polled:
        yield polled.consumer, polled.place, polled.value
    for place, value, _ in history.visible:
        yield "the last reader", place, value


def _others(history: History, one: Initialization) -> Iterator[Initialization]:
    return (
        each for each in history.initializations if each.transactional_id == one.transactional_id and each is not one
    )


def _transactions_of_values(history: History) -> dict[str | None, Transaction]:
    return {value: transaction for transaction in history.transactions for value in transaction.values}


def _visible_places(history: History) -> dict[str | None, Place]:
    return {record.value: record.place for record in history.visible}


RULES: Final[dict[str, Callable[[History], Iterator[str]]]] = {
    "aborted read": aborted_reads,
    "intermediate read": intermediate_reads,
    "lost transaction": lost_transactions,
    "zombie's write": zombies_writes,
    "record transformed twice": transformed_twice,
    "record not transformed": untransformed,
    "hanging transaction": hanging_transactions,
}
"""Every rule by the anomaly that it finds."""
