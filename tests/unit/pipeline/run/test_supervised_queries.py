"""Queries that fail are started again, and not for ever."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from pipeline.run.supervised_queries import MAX_RESTARTS, Drain, QueryFailedError, SupervisedQueries, reason_of


class Query:
    """A query that runs until it is told to fail or to stop."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.isActive = True
        self._exception: Exception | None = None
        log.append(f"start {name}")

    def fail(self, text: str = "no broker") -> None:
        self.isActive, self._exception = False, PySparkException(text)

    def exception(self) -> Exception | None:
        return self._exception

    def processAllAvailable(self) -> None:
        if self._exception is not None:
            raise self._exception

    def stop(self) -> None:
        self.isActive = False


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def queries(log: list[str]) -> SupervisedQueries:
    return SupervisedQueries(["flights", "delays"], lambda job: Query(job, log))


def names(queries: SupervisedQueries) -> list[str]:
    return [query.name for query in queries.running]


def test_the_query_of_each_job_is_started(queries: SupervisedQueries, log: list[str]) -> None:
    assert log == ["start flights", "start delays"]


def test_a_query_that_fails_is_replaced_in_its_place(queries: SupervisedQueries, log: list[str]) -> None:
    first, second = queries.running
    log.clear()
    first.fail()
    queries.revive()
    assert names(queries) == ["flights", "delays"]
    assert queries.running[0] is not first
    assert queries.running[1] is second
    assert log == ["start flights"]
    assert queries.restarts == {"flights": 1}


def test_queries_that_run_are_left_alone(queries: SupervisedQueries) -> None:
    before = queries.running
    queries.revive()
    assert queries.running is before
    assert queries.restarts.total() == 0


def test_a_query_that_was_stopped_is_not_started_again(queries: SupervisedQueries) -> None:
    before = queries.running
    queries.stop()
    queries.revive()
    assert queries.running is before


def test_a_query_that_fails_again_and_again_ends_the_run_with_its_last_error(queries: SupervisedQueries) -> None:
    for _ in range(MAX_RESTARTS):
        queries.running[1].fail()
        queries.revive()
    queries.running[1].fail("no disk")
    with pytest.raises(QueryFailedError, match=f"delays failed {MAX_RESTARTS + 1} times, at last with: no disk"):
        queries.revive()


def test_a_machine_that_is_too_busy_is_named_with_what_to_do(queries: SupervisedQueries) -> None:
    reason = "[STREAM_FAILED] Query terminated with exception: Python worker failed to connect back."
    for _ in range(MAX_RESTARTS):
        queries.running[0].fail(reason)
        queries.revive()
    queries.running[0].fail(reason)
    with pytest.raises(QueryFailedError, match=r"The machine is too busy: (.|\n)* with --resume"):
        queries.revive()


def drained(queries: SupervisedQueries) -> Drain:
    drain = Drain(queries)
    drain.start()
    drain.join()
    return drain


def test_a_drain_is_complete_once_all_queries_have_processed_everything(queries: SupervisedQueries) -> None:
    assert drained(queries).is_complete


def test_a_drain_ends_incomplete_if_a_query_fails(queries: SupervisedQueries) -> None:
    queries.running[1].fail()
    assert not drained(queries).is_complete


def test_a_drain_is_not_complete_for_a_query_that_was_started_since(queries: SupervisedQueries) -> None:
    drain = drained(queries)
    queries.running[0].fail()
    queries.revive()
    assert not drain.is_complete


def test_the_reason_is_short_and_without_the_plan() -> None:
    assert reason_of("[BROKEN] no\n  broker\n=== Streaming Query ===\nIdentifier: …") == "[BROKEN] no broker"
    assert len(reason_of("x" * 5000)) < 400
