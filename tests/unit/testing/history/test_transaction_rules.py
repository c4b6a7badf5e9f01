"""Each rule about transactions finds its anomaly, and accepts what Kafka allows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.testing.history.checker import check
from kafka_lite.testing.history.history import History, Place
from kafka_lite.testing.history.transactions import Initialization, Outcome, Transaction


class Writer:
    """A producer whose records go to the next offsets of their partitions, and are read there by a consumer ``c``."""

    def __init__(self, history: History, name: str = "p.0", transactional_id: str = "p") -> None:
        self.history = history
        self.name = name
        self.initialization: Initialization = history.begin_initialization(transactional_id, name)
        history.end_initialization(self.initialization)

    def begin(self, number: int) -> Transaction:
        return self.history.begin_transaction(self.initialization, f"{self.name}-{number}")

    def send(self, transaction: Transaction, topic: str = "t", key: str | None = None) -> list[tuple[Place, str]]:
        """One record to each of two partitions."""
        found = []
        for partition in (0, 1):
            value = f"{transaction.name}-{partition}-{len(transaction.values)}"
            sent = self.history.send_in(transaction, topic, partition, value, key)
            offset = sum(each.place[:2] == (topic, partition) for each in self.history.stored)
            self.history.store(topic, partition, offset, value, key)
            self.history.acknowledge(sent, offset)
            found.append((Place(topic, partition, offset), value))
        return found

    def commit(self, transaction: Transaction, outcome: Outcome = Outcome.COMMITTED) -> None:
        self.history.begin_to_commit(transaction)
        self.history.end_transaction(transaction, outcome)

    def write(self, number: int, outcome: Outcome = Outcome.COMMITTED, shown: tuple[int, ...] = (0, 1)) -> Transaction:
        """A whole transaction; consumers get its records in the partitions ``shown``."""
        transaction = self.begin(number)
        places = self.send(transaction)
        self.commit(transaction, outcome)
        for place, value in places:
            if place.partition in shown:
                self.show(place, value)
        return transaction

    def show(self, place: Place, value: str, key: str | None = None) -> None:
        self.history.poll("c", 1, *place, value)
        self.history.show(*place, value, key)


def good_history() -> History:
    """A committed transaction, an aborted one, one that its producer knows nothing about, and a committed one of the
    next producer with the same transactional id."""
    history = History(transactional={"t"}, groups={"c": "g"}, finished_groups={"g": "t"})
    first = Writer(history)
    first.write(0)
    aborted = first.begin(1)
    first.send(aborted)
    history.end_transaction(aborted, Outcome.ABORTED)
    first.write(2, Outcome.UNKNOWN)
    second = Writer(history, "p.1")
    second.write(0, Outcome.UNKNOWN, shown=())
    second.write(1)
    return history


def test_a_correct_history_has_no_violation() -> None:
    assert check(good_history()) == []


def read_an_aborted_record(history: History) -> None:
    writer = Writer(history, "q.0", "q")
    transaction = writer.begin(0)
    (place, value), _ = writer.send(transaction)
    history.end_transaction(transaction, Outcome.ABORTED)
    history.poll("c", 1, *place, value)


def find_an_aborted_transaction_at_the_end(history: History) -> None:
    writer = Writer(history, "q.0", "q")
    transaction = writer.begin(0)
    places = writer.send(transaction)
    history.end_transaction(transaction, Outcome.ABORTED)
    for place, value in places:
        writer.show(place, value)


def read_what_nobody_has_committed(history: History) -> None:
    writer = Writer(history, "q.0", "q")
    (place, value), _ = writer.send(writer.begin(0))
    history.poll("c", 1, *place, value)


def read_before_the_commit(history: History) -> None:
    writer = Writer(history, "q.0", "q")
    transaction = writer.begin(0)
    places = writer.send(transaction)
    history.poll("c", 1, *places[0][0], places[0][1])
    writer.commit(transaction)
    history.poll("c", 1, *places[1][0], places[1][1])
    for place, value in places:
        history.show(*place, value)


def show_a_part_of_a_transaction(history: History) -> None:
    Writer(history, "q.0", "q").write(0, shown=(1,))


def show_a_part_of_an_unknown_transaction(history: History) -> None:
    Writer(history, "q.0", "q").write(0, Outcome.UNKNOWN, shown=(0,))


def lose_a_transaction(history: History) -> None:
    Writer(history, "q.0", "q").write(0, shown=())


def write_a_record_twice(history: History) -> None:
    history.store("t", 0, 5, "p.1-1-0-0")


def write_records_in_another_order(history: History) -> None:
    writer = Writer(history, "q.0", "q")
    transaction = writer.begin(0)
    for number in (0, 1):
        history.send_in(transaction, "t", 0, f"q-{number}")
    writer.commit(transaction)
    for offset, value in ((5, "q-1"), (6, "q-0")):
        history.store("t", 0, offset, value)
        writer.show(Place("t", 0, offset), value)


def go_back(history: History) -> None:
    history.poll("c", 1, "t", 0, 0, "p.0-0-0-0")


def pass_over_a_committed_record(history: History) -> None:
    writer = Writer(history, "q.0", "q")
    for number in (0, 1):
        transaction = writer.begin(number)
        places = writer.send(transaction)
        writer.commit(transaction)
        for place, value in places:
            history.show(*place, value)
            if (number, place.partition) != (0, 1):
                history.poll("c", 1, *place, value)
    history.finished_groups.clear()  # another member may have got it


def write_as_a_zombie(history: History) -> None:
    """The broker appends a record of a fenced producer behind those of its successor, in a transaction that hangs."""
    zombie = Writer(history, "q.0", "q")
    transaction = zombie.begin(0)
    Writer(history, "q.1", "q").write(0)
    zombie.send(transaction)


def commit_as_a_zombie(history: History) -> None:
    """The zombie's records are before those of its successor, but its commit has succeeded after the fencing."""
    zombie = Writer(history, "q.0", "q")
    transaction = zombie.begin(0)
    places = zombie.send(transaction)
    successor = Writer(history, "q.1", "q")
    zombie.commit(transaction)
    for place, value in places:
        zombie.show(place, value)
    successor.write(0)


def transform_a_record_twice(history: History) -> None:
    transform(history)
    transform(history, keys=("p.0-0-0-0",), number=1)


def transform_too_little(history: History) -> None:
    transform(history, keys=[key for key in committed_values(history) if key != "p.0-0-0-0"])


def leave_a_transaction_open(history: History) -> None:
    history.hanging.append((Place("t", 0, 5), 7))


def committed_values(history: History) -> list[str]:
    return [record.value for record in history.visible if record.place.topic == "t" and record.value is not None]


def transform(history: History, keys: tuple[str, ...] | list[str] = (), number: int = 0) -> None:
    """Make a record of ``u`` from each of ``t``'s."""
    history.transformed["u"] = "t"
    history.transactional.add("u")
    writer = Writer(history, f"transformer.{number}", "transformer")
    transaction = writer.begin(number)
    offset = sum(each.place.topic == "u" for each in history.stored)
    for made, key in enumerate(keys or committed_values(history)):
        value = f"of {key}: {number}"
        history.send_in(transaction, "u", 0, value, key)
        history.store("u", 0, offset + made, value, key)
        history.show("u", 0, offset + made, value, key)
    writer.commit(transaction)


@pytest.mark.parametrize(
    ("go_wrong", "rule", "text"),
    [
        (
            read_an_aborted_record, "aborted read",
            "c got 'q.0-0-0-0' at t-0 at 5, of transaction q.0-0 of q (aborted)",
        ),
        (find_an_aborted_transaction_at_the_end, "aborted read", "the last reader got 'q.0-0-1-1' at t-1 at 5"),
        (read_what_nobody_has_committed, "aborted read", "of transaction q.0-0 of q (unknown)"),
        (
            read_before_the_commit, "intermediate read",
            "c got 'q.0-0-0-0' at t-0 at 5 before transaction q.0-0 of q (committed) was to be committed",
        ),
        (
            show_a_part_of_a_transaction, "intermediate read",
            "of transaction q.0-0 of q (committed), 'q.0-0-1-1' at t-1 at 5 can be read, and ['q.0-0-0-0'] cannot",
        ),
        (show_a_part_of_an_unknown_transaction, "intermediate read", "(unknown), 'q.0-0-0-0' at t-0 at 5 can be read"),
        (
            lose_a_transaction, "lost transaction",
            "nothing of transaction q.0-0 of q (committed) can be read; its records are ['q.0-0-0-0', 'q.0-0-1-1']",
        ),
        (write_a_record_twice, "duplicate", "'p.1-1-0-0' of p.1 is at [4, 5] of t-0"),
        (write_records_in_another_order, "reordered sends", "'q-0' of q.0 was sent before 'q-1', and is behind it"),
        (go_back, "non-monotonic poll", "c got t-0 at 0 after offset 4"),
        (pass_over_a_committed_record, "poll skip", "c got t-1 at 6 after 4, without [5]"),
        (
            write_as_a_zombie, "zombie's write",
            "'q.0-0-0-0' of q.0 is at t-0 at 6, behind one of q.1 at 5, which had fenced it as q",
        ),
        (
            commit_as_a_zombie, "zombie's write",
            "transaction q.0-0 of q (committed) was committed after q.1 had initialized the id; visible: "
            "[\"'q.0-0-0-0' at t-0 at 5\", \"'q.0-0-1-1' at t-1 at 5\"]",
        ),
        (
            transform_a_record_twice, "record transformed twice",
            "from 'p.0-0-0-0' were made 'of p.0-0-0-0: 0' at u-0 at 0, 'of p.0-0-0-0: 1' at u-0 at 6",
        ),
        (transform_too_little, "record not transformed", "from 'p.0-0-0-0' at t-0 at 0 nothing was made in u"),
        (leave_a_transaction_open, "hanging transaction", "the last stable offset of t-0 stays 5 of 7"),
    ],
)  # fmt: skip
def test_an_anomaly_is_found_by_its_rule_alone(go_wrong: Callable[[History], None], rule: str, text: str) -> None:
    history = good_history()
    go_wrong(history)
    violations = check(history)
    assert {violation.rule for violation in violations} == {rule}
    assert any(text in violation.text for violation in violations), violations


def test_each_record_may_be_transformed_once() -> None:
    history = good_history()
    transform(history)
    assert check(history) == []


def test_a_transformation_that_was_aborted_may_be_repeated() -> None:
    history = good_history()
    writer = Writer(history, "transformer.7", "transformer")
    transaction = writer.begin(0)
    history.send_in(transaction, "u", 0, "of p.0-0-0-0: 7", "p.0-0-0-0")
    history.store("u", 0, 0, "of p.0-0-0-0: 7", "p.0-0-0-0")
    history.end_transaction(transaction, Outcome.ABORTED)
    transform(history, number=8)
    assert check(history) == []


def test_a_commit_that_began_before_the_successor_may_succeed_later() -> None:
    history = good_history()
    first = Writer(history, "q.0", "q")
    transaction = first.begin(0)
    places = first.send(transaction)
    history.begin_to_commit(transaction)
    Writer(history, "q.1", "q").write(0)
    history.end_transaction(transaction, Outcome.COMMITTED)
    for place, value in places:
        history.show(*place, value)
    history.finished_groups.clear()  # c has not got these two
    history.polled = [polled for polled in history.polled if not (polled.value or "").startswith("q")]
    assert check(history) == []


def test_either_of_two_producers_that_initialize_at_once_may_be_the_later_one() -> None:
    history = good_history()
    overlapping = history.begin_initialization("q", "q.9")
    first = Writer(history, "q.0", "q")
    history.end_initialization(overlapping)
    first.write(0)
    assert check(history) == []


def test_the_summary_counts_transactions_by_their_outcome() -> None:
    summary = good_history().summary()
    assert summary.endswith(", 5 transactions (2 committed, 1 aborted, 2 unknown), 6 visible")
