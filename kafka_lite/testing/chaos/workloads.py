"""The clients of a run, and their topics.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.history.history import History
from kafka_lite.testing.history.transaction_rules import hanging_transactions, untransformed
from kafka_lite.testing.simulation.transactional_programs import read_last_stable_offsets, read_visible

PARTITIONS: Final = 3
SOURCE, TARGET = "transfers", "statements"
READ_COMMITTED: Final = {"isolation.level": "read_committed"}
RECORDS_OF_A_TRANSACTION: Final = 10
"""A transactional producer writes fewer transactions than others write records, by this factor."""


def plain_clients(bootstrap: str, records_per_s: float) -> Iterator[ClientSpec]:
    """Each topic has an idempotent producer of one library and a plain one of the other, and a group that reads it."""
    for topic, library, other in (("orders", "ours", "librdkafka"), ("payments", "librdkafka", "ours")):
        for producer, is_idempotent in ((library, True), (other, False)):
            name = f"{producer}-{'idempotent' if is_idempotent else 'plain'}"
            configs: dict[str, Any] = {"enable.idempotence": is_idempotent, "acks": "all"}
            if name == "librdkafka-idempotent":
                # With more of them, librdkafka takes a new epoch when a batch is out of order, and repeats in it what
                # may have been stored in the old one (librdkafka#4953).
                configs["max.in.flight.requests.per.connection"] = 1
            yield ClientSpec(
                name, True, producer, topic, PARTITIONS, bootstrap, records_per_s=records_per_s, configs=configs
            )
        for number in range(2):
            name = f"{library}-consumer-{number}"
            yield ClientSpec(name, False, library, topic, PARTITIONS, bootstrap, group=f"{library}-group")


def transactional_clients(bootstrap: str, records_per_s: float) -> Iterator[ClientSpec]:
    """A producer of either library, one with the id of the other, transformers of both, and committed readers of both.

    The two with one transactional id fence each other again and again.
    """
    rate = records_per_s / RECORDS_OF_A_TRANSACTION
    for name, library, transactional_id in (
        ("ours-writer", "ours", "first"), ("librdkafka-writer", "librdkafka", "second"), ("zombie", "ours", "second"),
    ):  # fmt: skip
        yield ClientSpec(
            name, True, library, SOURCE, PARTITIONS, bootstrap, records_per_s=rate, transactional_id=transactional_id
        )
    for library in ("ours", "librdkafka"):
        yield ClientSpec(
            f"{library}-transformer", False, library, SOURCE, PARTITIONS, bootstrap, group="transformers",
            transactional_id=f"{library}-transformer", target=TARGET,
        )  # fmt: skip
        yield ClientSpec(
            f"{library}-reader", False, library, TARGET, PARTITIONS, bootstrap, group=f"{library}-readers",
            configs=READ_COMMITTED,
        )  # fmt: skip


def all_clients(bootstrap: str, records_per_s: float) -> Iterator[ClientSpec]:
    """The clients without transactions, then those with transactions."""
    yield from plain_clients(bootstrap, records_per_s)
    yield from transactional_clients(bootstrap, records_per_s)


@dataclass(frozen=True)
class ChaosWorkload:
    """Topics with their numbers of partitions, and clients, given the bootstrap servers and a rate of records."""

    topics: Mapping[str, int]
    clients: Callable[[str, float], Iterator[ClientSpec]]
    transactional: frozenset[str] = frozenset()
    """Topics that are written in transactions."""

    def prepare(self, history: History) -> None:
        """Tell the history what to expect."""
        history.transactional |= self.transactional
        if self.transactional:
            history.transformed[TARGET] = SOURCE

    def read_visible(self, bootstrap: str, history: History) -> None:
        """Tell the history what can be read of transactions, and which ones hang."""
        topics = {topic: self.topics[topic] for topic in sorted(self.transactional)}
        if topics:
            read_last_stable_offsets(bootstrap, topics, history)
            read_visible(bootstrap, topics, history)

    def unsettled(self, bootstrap: str) -> str:
        """A transaction that is open or a record that is not transformed yet; "" if there is none."""
        now = History()
        self.prepare(now)
        self.read_visible(bootstrap, now)
        return next(hanging_transactions(now), "") or next(untransformed(now), "")


_PLAIN: Final = {"orders": PARTITIONS, "payments": PARTITIONS}
_TRANSACTIONAL: Final = {SOURCE: PARTITIONS, TARGET: PARTITIONS}

WORKLOADS: Final = {
    "plain": ChaosWorkload(_PLAIN, plain_clients),
    "transactions": ChaosWorkload(_TRANSACTIONAL, transactional_clients, frozenset(_TRANSACTIONAL)),
    "all": ChaosWorkload(_PLAIN | _TRANSACTIONAL, all_clients, frozenset(_TRANSACTIONAL)),
}
"""Workloads by the value of ``--clients``."""
