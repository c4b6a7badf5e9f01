"""The clients of ``make chaos``."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.chaos.workloads import SOURCE, TARGET, WORKLOADS, ChaosWorkload
from kafka_lite.testing.history.history import History


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_a_client_is_started_with_what_its_spec_says(workload: ChaosWorkload) -> None:
    specs = list(workload.clients("localhost:9092", 20.0))
    assert [ClientSpec(**json.loads(spec.to_json())) for spec in specs] == specs
    assert len({spec.name for spec in specs}) == len(specs)
    assert {spec.topic for spec in specs} == workload.topics.keys()
    assert {spec.library for spec in specs} == {"ours", "librdkafka"}


def test_two_producers_share_a_transactional_id_and_all_readers_are_committed() -> None:
    specs = list(WORKLOADS["transactions"].clients("localhost:9092", 20.0))
    owners = Counter(spec.transactional_id for spec in specs if spec.transactional_id)
    assert sorted(owners.values()) == [1, 1, 1, 2]
    transformers = [spec for spec in specs if spec.target]
    assert {(spec.topic, spec.target, spec.group) for spec in transformers} == {(SOURCE, TARGET, "transformers")}
    readers = [spec for spec in specs if not spec.is_producer and not spec.target]
    assert [spec.configs["isolation.level"] for spec in readers] == ["read_committed"] * 2


def test_the_history_of_transactions_knows_what_is_made_from_what() -> None:
    history, plain = History(), History()
    WORKLOADS["transactions"].prepare(history)
    WORKLOADS["plain"].prepare(plain)
    assert (history.transactional, history.transformed) == ({SOURCE, TARGET}, {TARGET: SOURCE})
    assert (plain.transactional, plain.transformed) == (set(), {})


def test_without_transactions_nothing_is_unsettled() -> None:
    assert WORKLOADS["plain"].unsettled("nowhere:1") == ""
