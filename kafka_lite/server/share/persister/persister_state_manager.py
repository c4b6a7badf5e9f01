"""Finds the share coordinator of each key, and sends it what partitions have to ask, many in one request.

Kafka 4.1: server-common/.../server/share/persister/PersisterStateManager.java · book 10.3
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lite.clients.broker_senders import BrokerRequests, BrokerSenders
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.coordinator.share.persister import PartitionErrorData, SharePartitionKey
from kafka_lite.server.share.persister.state_messages import StateMessages

logger = logging.getLogger(__name__)

VERSION = 0
REQUEST_BACKOFF_MS = 1_000
REQUEST_BACKOFF_MAX_MS = 30_000
MAX_ATTEMPTS = 5
JITTER = 0.2
RETRIED = frozenset(
    {
        Errors.COORDINATOR_NOT_AVAILABLE,
        Errors.COORDINATOR_LOAD_IN_PROGRESS,
        Errors.NOT_COORDINATOR,
        Errors.NETWORK_EXCEPTION,
    }
)
"""Errors after which the coordinator is looked up again. (Kafka gives up after the last one, a lost connection. All of
the requests may be repeated: they name the state that shall be, and where batches overlap the newer ones win.)"""

CoordinatorOf = Callable[[SharePartitionKey], int | None]
AskHere = Callable[
    [StateMessages[Any, Any], str, Mapping[TopicIdPartition, Any], Callable[[Mapping[Any, Any]], None]], None
]
"""Asks this broker's coordinator."""


@dataclass
class StateQuestion:
    """One partition's question to its share coordinator."""

    messages: StateMessages[Any, Any]
    key: SharePartitionKey
    data: Any
    respond: Callable[[Any], None]
    failures: int = 0

    @property
    def partition(self) -> TopicIdPartition:
        """The partition without its group."""
        return TopicIdPartition(self.key.topic_id, self.key.partition)


class PersisterStateManager:
    """Keeps the questions until they are answered.

    ::

        enqueue ─ coordinator? ─┬─ this broker ──▶ AskHere ─────────────────────────────────┬─ answer ──▶ respond
              ▲                 ├─ another ──▶ StateSender of that broker ─ one request ────┤
              │                 │              for each group and API                       │
              │                 └─ none ────────────────────────────────────────────────────┤
              ╰───────────────── after a while: 1 s, 2 s, 4 s, 8 s ◀── an error of RETRIED ─╯
    """

    def __init__(
        self,
        broker_id: int,
        coordinator_of: CoordinatorOf,
        ask_here: AskHere,
        brokers: BrokerRequests,
        scheduler: Scheduler,
        backoff_ms: int = REQUEST_BACKOFF_MS,
    ) -> None:
        """``coordinator_of`` returns the broker id of a key's coordinator; None if none is available."""
        self._broker_id = broker_id
        self._coordinator_of = coordinator_of
        self._ask_here = ask_here
        self._scheduler = scheduler
        self._backoff_ms = backoff_ms
        self._is_stopped = False
        self._senders = BrokerSenders(lambda broker: StateSender(broker, brokers, self._answered))

    def start(self) -> None:
        """Start to ask again after errors."""
        self._scheduler.startup()

    def stop(self) -> None:
        """Stop. Nobody responds to what is still being asked."""
        self._is_stopped = True
        self._senders.shutdown()
        self._scheduler.shutdown()

    def enqueue(self, question: StateQuestion) -> None:
        """Ask it. Its ``respond`` is called once: now, or in another thread."""
        coordinator = self._coordinator_of(question.key)
        if coordinator == self._broker_id:
            self._ask_own_coordinator(question)
            return
        sender = None if coordinator is None else self._senders.get(coordinator)
        if sender is None:
            failure = PartitionErrorData(Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_NOT_AVAILABLE.message)
            self._answered(question, question.messages.failed(failure))
        else:
            sender.put(question)

    def _ask_own_coordinator(self, question: StateQuestion) -> None:
        def answered(results: Mapping[TopicIdPartition, Any]) -> None:
            self._answered(question, results[question.partition])

        partitions = {question.partition: question.data}
        self._ask_here(question.messages, question.key.group_id, partitions, answered)

    def _answered(self, question: StateQuestion, result: Any) -> None:
        error = question.messages.error_of(result)
        if error not in RETRIED:
            question.respond(result)
            return
        question.failures += 1
        name, key = question.messages.name, question.key.as_coordinator_key()
        if question.failures >= MAX_ATTEMPTS:
            logger.error("Exhausted max retries to %s of %s: %s", name, key, error.name)
            question.respond(result)
        elif not self._is_stopped:
            logger.info("Trying again to %s of %s: %s", name, key, error.name)
            self._scheduler.schedule(
                "share-state-retry", lambda: self.enqueue(question), self._backoff(question.failures)
            )

    def _backoff(self, failures: int) -> float:
        delay_ms: float = min(REQUEST_BACKOFF_MAX_MS, self._backoff_ms * 2 ** (failures - 1))
        return delay_ms * random.uniform(1 - JITTER, 1 + JITTER)


class StateSender(ShutdownableThread):
    """Sends the questions to one other broker: those of an API and a group that are waiting in one request."""

    def __init__(self, broker_id: int, brokers: BrokerRequests, answered: Callable[[StateQuestion, Any], None]) -> None:
        super().__init__(f"PersisterStateManager-{broker_id}")
        self._broker_id = broker_id
        self._brokers = brokers
        self._answered = answered
        self._changed = threading.Condition(threading.Lock())
        self._waiting: list[StateQuestion] = []

    def put(self, question: StateQuestion) -> None:
        """Send it with the next request."""
        with self._changed:
            self._waiting.append(question)
            self._changed.notify()

    def wake_up(self) -> None:
        """Interrupt the wait for questions, or for a response."""
        with self._changed:
            self._changed.notify()
        self._brokers.abort(self._broker_id)

    def do_work(self) -> None:
        """Wait for questions, and send all that are there."""
        with self._changed:
            while self.is_running and not self._waiting:
                self._changed.wait()
            sent, self._waiting = self._waiting, []
        for together in coalesced(sent):
            if not self.is_running:
                return
            self._exchange(together)

    def _exchange(self, together: Sequence[StateQuestion]) -> None:
        """Send questions of one API and group, and pass on their results."""
        messages = together[0].messages
        partitions = {question.partition: question.data for question in together}
        results: Mapping[TopicIdPartition, Any]
        try:
            request = messages.to_request(together[0].key.group_id, partitions)
            results = messages.from_response(self._brokers.exchange(self._broker_id, request, VERSION))
            missing = messages.failed(PartitionErrorData(Errors.UNKNOWN_SERVER_ERROR, f"Failed to {messages.name}"))
        except (OSError, KafkaError) as failure:
            logger.info("Cannot %s at broker %d: %r", messages.name, self._broker_id, failure)
            results, error = {}, Errors.NETWORK_EXCEPTION
            missing = messages.failed(PartitionErrorData(error, error.message))
        for question in together:
            try:
                self._answered(question, results.get(question.partition, missing))
            except Exception:  # of a partition's leader; the others must get their results
                logger.exception("Error after %s of %s", messages.name, question.key.as_coordinator_key())


def coalesced(questions: Sequence[StateQuestion]) -> list[list[StateQuestion]]:
    """The questions that go into one request each: of one API and one group, and each partition once.

    Of a partition's questions, the second goes into a later request than the first.
    """
    requests: dict[tuple[str, str, int], list[StateQuestion]] = {}
    times: dict[tuple[str, SharePartitionKey], int] = {}
    for question in questions:
        name = question.messages.name
        number = times.get((name, question.key), 0)
        times[name, question.key] = number + 1
        requests.setdefault((name, question.key.group_id, number), []).append(question)
    return list(requests.values())
