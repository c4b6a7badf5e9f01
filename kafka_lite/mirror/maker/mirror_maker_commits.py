"""The order in which a mirror commits: first the records are acknowledged, then their offsets are committed.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (commitOffsets) · book 8.1.2
"""

from __future__ import annotations

import logging
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.consumer.consumer_errors import CommitFailedError, ConsumerTimeoutError, WakeupError
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState

logger = logging.getLogger(__name__)

RETRY_BACKOFF_MS = 100
"""How long to wait before a commit that timed out is repeated."""


class Flushes(Protocol):
    """The part of MirrorMakerProducer that a commit needs."""

    def flush(self) -> None:
        """Wait until every record is acknowledged, or has failed."""
        ...


class Commits(Protocol):
    """The part of MirrorMakerBaseConsumer that a commit needs."""

    def commit(self) -> None:
        """Commit what was received."""
        ...

    def forget_missing_topics(self) -> None:
        """Give up committing offsets of topics that do not exist any more."""
        ...


class MirrorMakerCommits:
    """Commits the offsets of one mirror's consumers::

        receive ─▶ handle ─▶ send            for every record
        flush ─▶ commit                      every offset.commit.interval.ms, before partitions are given up, at the end

    A commit therefore never covers a record that the target has not acknowledged. A crash between flush and commit
    copies these records again: at least once.
    """

    def __init__(self, producer: Flushes, state: MirrorMakerState, time: Time) -> None:
        self._producer = producer
        self._state = state
        self._time = time

    def flush_and_commit(self, consumer: Commits) -> None:
        """Wait for all records sent so far, then commit; not if one of them was lost. Raises WakeupError."""
        self._producer.flush()
        self.commit_offsets(consumer)

    def commit_offsets(self, consumer: Commits) -> None:
        """Commit what was received, unless a record is lost. Repeats a commit that times out. Raises WakeupError."""
        while not self._state.exiting_on_send_failure:
            logger.debug("Committing offsets.")
            try:
                consumer.commit()
            except WakeupError:
                # Stopping wakes the consumer up once. The commit must succeed nevertheless, and then the loop ends.
                self.commit_offsets(consumer)
                raise
            except CommitFailedError:
                self._warn_of_rebalance()
            except ConsumerTimeoutError as error:
                self._prepare_to_retry(consumer, error)
                continue
            return
        logger.info("Exiting on send failure, skip committing offsets.")

    @staticmethod
    def _warn_of_rebalance() -> None:
        logger.warning(
            "Failed to commit offsets because the consumer group has rebalanced and assigned partitions to another "
            "instance. If you see this regularly, it could indicate that you need to either increase the consumer's "
            "session.timeout.ms or reduce the number of records handled on each iteration with max.poll.records"
        )

    def _prepare_to_retry(self, consumer: Commits, error: Exception) -> None:
        logger.warning("Failed to commit offsets in time, and trying again: %s", error)
        try:
            consumer.forget_missing_topics()
        except ConsumerTimeoutError as cause:
            logger.warning("Failed to list all topics after committing offsets timed out: %s", cause)
        self._time.sleep(RETRY_BACKOFF_MS)
