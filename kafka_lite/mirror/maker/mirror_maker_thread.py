"""A thread of a mirror: receives, handles, sends, and commits now and then.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMakerThread) · book 8.1.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.mirror.maker.mirror_maker_base_consumer import MirrorMakerBaseConsumer
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_message_handler import MirrorMakerMessageHandler
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.producer.producer_record import ProducerRecord

logger = logging.getLogger(__name__)


class Sends(Protocol):
    """The part of MirrorMakerProducer that a thread needs."""

    def send(self, record: ProducerRecord) -> None:
        """Queue a record."""
        ...


class MirrorMakerThread(ShutdownableThread):
    """Copies what its consumer receives. If it ends unasked, the whole mirror has to end."""

    def __init__(
        self,
        number: int,
        consumer: MirrorMakerBaseConsumer,
        producer: Sends,
        handler: MirrorMakerMessageHandler,
        commits: MirrorMakerCommits,
        state: MirrorMakerState,
        offset_commit_interval_ms: int,
        on_end: Callable[[], None] = lambda: None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(f"mirrormaker-thread-{number}")
        self.consumer = consumer
        self._producer = producer
        self._handler = handler
        self._commits = commits
        self._state = state
        self._offset_commit_interval_ms = offset_commit_interval_ms
        self._on_end = on_end
        self._time = time
        self._last_offset_commit_ms = time.hi_res_ms()

    def run(self) -> None:
        """Subscribe, then copy until the end."""
        logger.info("[%s] Starting mirror maker thread", self.name)
        try:
            self.consumer.init()
        except Exception as error:  # noqa: BLE001 - whatever it was, the mirror must end
            self._fail(error)
        super().run()

    def do_work(self) -> None:
        """Copy records while there are any. When none has come for a while, see whether a commit is due.

        Without the second part, the last records before a pause would stay uncommitted, and a rebalance of old
        consumers would wait for ever.
        """
        if self._state.exiting_on_send_failure:
            self._stopping.set()
            return
        try:
            try:
                self._copy_records()
            except (ConsumerTimeoutError, WakeupError) as error:
                logger.debug("[%s] %s, continue iteration.", self.name, error)
            self.maybe_flush_and_commit_offsets()
        except WakeupError:
            pass  # the commit was repeated with success
        except Exception as error:  # noqa: BLE001 - the user's handler may raise anything
            self._fail(error)

    def _copy_records(self) -> None:
        """Receive, handle and send, record by record, until the thread has to stop or nothing more arrives.

        After each record, see whether a commit is due. Raises ConsumerTimeoutError, WakeupError, and what the handler
        and the producer raise.
        """
        while self._may_copy and self.consumer.has_data:
            record = self.consumer.receive()
            for each in self._handler.handle(record):
                self._producer.send(each)
            self.maybe_flush_and_commit_offsets()

    @property
    def _may_copy(self) -> bool:
        return self.is_running and not self._state.exiting_on_send_failure

    def maybe_flush_and_commit_offsets(self) -> None:
        """Flush and commit if a rebalance waits for it, or if the last time was too long ago."""
        requested = self.consumer.commit_requested
        now_ms = self._time.hi_res_ms()
        if not requested and now_ms - self._last_offset_commit_ms <= self._offset_commit_interval_ms:
            return
        self._commits.flush_and_commit(self.consumer)
        self._last_offset_commit_ms = self._time.hi_res_ms()
        if requested:
            self.consumer.notify_commit()

    def _fail(self, error: Exception) -> None:
        if not self._state.exiting_on_send_failure:
            self._state.exiting_on_send_failure = True
            logger.critical("[%s] Mirror maker thread failure due to", self.name, exc_info=error)
        self._stopping.set()

    def wake_up(self) -> None:
        """Interrupt the consumer."""
        self.consumer.stop()

    def on_exit(self) -> None:
        """Flush, commit, leave the group. If the flush fails, nothing is committed, and so nothing is lost."""
        logger.info("[%s] Flushing producer, then committing consumer offsets.", self.name)
        self._swallow(lambda: self._commits.flush_and_commit(self.consumer))
        self._swallow(self.consumer.cleanup)
        logger.info("[%s] Mirror maker thread stopped", self.name)
        self._on_end()

    def _swallow(self, action: Callable[[], None]) -> None:
        try:
            action()
        except WakeupError:
            pass  # the commit was repeated with success
        except Exception:  # the steps that follow matter more
            logger.warning("[%s] Error while the thread ended", self.name, exc_info=True)
