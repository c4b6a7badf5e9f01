"""The steps of a transactional producer, on one that only notes what is called."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.live.clients import transaction_program
from kafka_learn.live.clients.transaction_program import Session, Step
from kafka_lite.common.errors import Errors


class Producer:
    """Notes the calls; ``error`` is raised by the call of that name."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.partitions: list[int] = []
        self.error: tuple[str, Exception] | None = None

    def __getattr__(self, name: str) -> Callable[..., None]:
        def call(*_: object) -> None:
            self.calls.append(name)
            if self.error is not None and self.error[0] == name:
                raise self.error[1]

        return call

    def send(self, record: Any, on_completion: Callable[..., None]) -> None:
        self.partitions.append(record.partition)
        on_completion(SimpleNamespace(partition=record.partition, offset=7), None)
        on_completion(None, TimeoutError())


class Fixture:
    """A session, what its witness has heard, and the producers that were made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.producers: list[Producer] = []
        self.heard: list[str] = []
        monkeypatch.setattr(transaction_program, "new_producer", self._new)
        self.session = Session("broker-0:9092", "demo", 3, self)

    def _new(self, bootstrap: str) -> Producer:
        assert bootstrap == "broker-0:9092"
        self.producers.append(Producer())
        return self.producers[-1]

    def transaction(self, state: str, why: str = "") -> None:
        self.heard.append(f"{state} {why}".strip())

    def sent_in_transaction(self, value: str, partition: int, offset: int) -> None:
        self.heard.append(f"{value} at {partition}/{offset}")


@pytest.fixture
def they(monkeypatch: pytest.MonkeyPatch) -> Fixture:
    return Fixture(monkeypatch)


def test_a_transaction_begins_once_and_ends_once(they: Fixture) -> None:
    they.session.take(Step("begin", 2))
    they.session.take(Step("begin", 1))
    they.session.take(Step("commit"))
    they.session.take(Step("commit"))
    (producer,) = they.producers
    assert producer.calls == ["init_transactions", "begin_transaction", "flush", "flush", "commit_transaction"]
    assert producer.partitions == [1, 2, 0]
    assert they.heard == [
        "initializing", "ready", "open", "transactional-1 at 1/7", "transactional-2 at 2/7", "open",
        "transactional-3 at 0/7", "committing", "committed",
    ]  # fmt: skip


def test_the_next_transaction_has_the_same_producer(they: Fixture) -> None:
    for step in (Step("begin", 1), Step("abort"), Step("begin", 1), Step("commit")):
        they.session.take(step)
    (producer,) = they.producers
    assert producer.calls.count("init_transactions") == 1
    assert producer.calls.count("begin_transaction") == 2
    assert [each for each in they.heard if "transactional" not in each] == [
        "initializing", "ready", "open", "aborting", "aborted", "open", "committing", "committed",
    ]  # fmt: skip


def test_there_is_nothing_to_end_without_a_beginning(they: Fixture) -> None:
    they.session.take(Step("commit"))
    assert (they.producers, they.heard) == ([], [])


@pytest.mark.parametrize("call", ["flush", "commit_transaction"])
def test_one_that_fails_is_closed_and_the_next_beginning_has_another(they: Fixture, call: str) -> None:
    they.session.take(Step("begin", 1))
    they.producers[0].error = call, Errors.INVALID_PRODUCER_EPOCH.exception("fenced")
    they.session.take(Step("begin", 1))
    they.session.take(Step("commit"))
    assert they.producers[0].calls[-1] == "close"
    assert they.heard[-1].startswith("failed ApiError")
    they.session.take(Step("begin", 1))
    assert len(they.producers) == 2


def test_one_that_gets_no_producer_id_is_closed_too(they: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Producer()
    made.error = "init_transactions", Errors.REQUEST_TIMED_OUT.exception("no coordinator")
    monkeypatch.setattr(transaction_program, "new_producer", lambda _: made)
    they.session.take(Step("begin", 1))
    assert made.calls == ["init_transactions", "close"]
    assert they.heard[-1].startswith("failed")
