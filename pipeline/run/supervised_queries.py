"""Keeps the queries of a run alive: one that fails is started again from its checkpoint.

Spark 4.2: python/pyspark/sql/streaming/query.py · book 4.4.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from threading import Thread

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from kafka_lite.common.errors import KafkaError
from pipeline.queries import has_failed

MAX_RESTARTS = 5
"""Of one query in a run. A broker or a worker that dies costs one; a query that fails again at once is broken."""

_LONGEST_REASON = 300
_TOO_SLOW = "Python worker failed to connect back"
_ADVICE = (
    "\nThe machine is too busy: Spark gives a Python process ten seconds to start. Stop other programs, and resume "
    "this run with --resume"
)


class QueryFailedError(KafkaError):
    """A query failed too often; the text has its last error."""


class SupervisedQueries:
    """The queries of some jobs. ``restarts`` counts how often each had to be started again.

    ``start`` starts the query of a job, from its checkpoint if it has run before.
    """

    def __init__(self, jobs: Sequence[str], start: Callable[[str], StreamingQuery]) -> None:
        self._start = start
        self.restarts: Counter[str] = Counter()
        self.running: Sequence[StreamingQuery] = [start(job) for job in jobs]

    def revive(self) -> None:
        """Start the queries that have failed since. Raises ``QueryFailedError`` if one has failed too often."""
        if any(has_failed(query) for query in self.running):
            self.running = [self._revived(query) if has_failed(query) else query for query in self.running]

    def stop(self) -> None:
        """Stop all of them."""
        for query in self.running:
            query.stop()

    def _revived(self, query: StreamingQuery) -> StreamingQuery:
        self.restarts[query.name] += 1
        if self.restarts[query.name] > MAX_RESTARTS:
            reason = reason_of(query.exception())
            text = f"the query {query.name} failed {MAX_RESTARTS + 1} times, at last with: {reason}"
            raise QueryFailedError(text + (_ADVICE if _TOO_SLOW in reason else ""))
        return self._start(query.name)


class Drain(Thread):
    """Waits until all queries have processed all that is in their topics, and closed what that lets them close."""

    def __init__(self, queries: SupervisedQueries) -> None:
        super().__init__(name="drain", daemon=True)
        self._supervised = queries
        self._queries = queries.running
        self._is_complete = False

    def run(self) -> None:
        """Wait. A query that fails ends the wait; the next one waits for its successor."""
        try:
            for query in self._queries:
                query.processAllAvailable()
            self._is_complete = True
        except (PySparkException, Py4JError):
            pass  # the query is started again, and the wait as well

    @property
    def is_complete(self) -> bool:
        """Whether all queries that run now have processed everything."""
        return self._is_complete and self._queries is self._supervised.running


def reason_of(error: object) -> str:
    """The first words of an error of Spark, without the plan of the query that follows them."""
    text = " ".join(str(error).partition("\n=== Streaming Query ===")[0].split())
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " …"
