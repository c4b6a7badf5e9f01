"""Keeps what a checkpoint task translates by up to date, and commits what was translated.

Kafka 2.7: connect/mirror/.../connect/mirror/MirrorCheckpointTask.java (start) · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.common.errors import ApiError, KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.mirror.connectors.checkpoint.checkpoint_store import CheckpointStore
from kafka_lite.mirror.connectors.checkpoint.offset_sync_store import OffsetSyncStore
from kafka_lite.mirror.connectors.mirror_records import Checkpoint, OffsetSync
from kafka_lite.mirror.connectors.mirror_topic_reader import POLL_MS, MirrorTopicReader

logger = logging.getLogger(__name__)

RETRY_BACKOFF_MS = 1000
FOREVER_MS = float("inf")

NewReader = Callable[[Callable[[bytes, bytes], None]], MirrorTopicReader]


class MirrorCheckpointStores(ShutdownableThread):
    """A thread, so that a task starts at once, although the topics may be long or not there yet.

    ::

        checkpoints   read once ─▶ CheckpointStore       no translation is smaller than an earlier task's
        offset syncs  read, then followed ─▶ OffsetSyncStore
        every sync.group.offsets.interval.seconds: GroupOffsetSync
    """

    def __init__(
        self,
        name: str,
        checkpoints: CheckpointStore,
        offset_syncs: OffsetSyncStore,
        read_checkpoints: NewReader,
        read_offset_syncs: NewReader,
        sync_groups: Callable[[], None],
        sync_interval_ms: int | None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``sync_interval_ms`` is None if groups are not synced."""
        super().__init__(name)
        self._checkpoints = checkpoints
        self._offset_syncs = offset_syncs
        self._read_checkpoints = read_checkpoints
        self._read_offset_syncs = read_offset_syncs
        self._sync_groups = sync_groups
        self._interval_ms = FOREVER_MS if sync_interval_ms is None else float(sync_interval_ms)
        self._time = time
        self._due_ms = FOREVER_MS
        self._reader: MirrorTopicReader | None = None
        self.is_loaded = False
        """Whether both topics were read to their ends once."""

    def do_work(self) -> None:
        """Read the topics, or what has come since. What does not succeed is tried again."""
        try:
            if self.is_loaded:
                self._follow()
            else:
                self._load()
        except WakeupError:
            pass  # to be stopped
        except KafkaError as error:
            logger.warning("%s: %s. This is tried again", self.name, error)
            self.pause(RETRY_BACKOFF_MS)

    def _load(self) -> None:
        self._close_reader()
        keeps_all = self._load_checkpoints()
        self._close_reader()
        self._offset_syncs.begin(only_last=not keeps_all)
        reader = self._reader = self._read_offset_syncs(self._take_offset_sync)
        reader.read_to_end()
        self._offset_syncs.read_to_end()
        self._due_ms = self._time.hi_res_ms() + self._interval_ms
        self.is_loaded = True

    def _load_checkpoints(self) -> bool:
        """Whether the checkpoints could be read. If not, only offset syncs to come are good for a translation."""
        reader = self._reader = self._read_checkpoints(self._take_checkpoint)
        try:
            reader.read_to_end()
        except ApiError as error:
            if error.error.retriable:
                raise
            logger.warning("%s: checkpoints cannot be read, earlier offsets are not translated: %s", self.name, error)
            return False
        return True

    def _follow(self) -> None:
        assert self._reader is not None, "loaded"
        left_ms = self._due_ms - self._time.hi_res_ms()
        if left_ms > 0:
            self._reader.read(min(POLL_MS, left_ms))
        else:
            self._sync_groups()
            self._due_ms = self._time.hi_res_ms() + self._interval_ms

    def _take_checkpoint(self, key: bytes, value: bytes) -> None:
        self._checkpoints.update([Checkpoint.decode(key, value)])

    def _take_offset_sync(self, key: bytes, value: bytes) -> None:
        self._offset_syncs.handle_record(OffsetSync.decode(key, value))

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def wake_up(self) -> None:
        """Interrupt a read."""
        reader = self._reader
        if reader is not None:
            reader.wake_up()

    def on_exit(self) -> None:
        """Close the consumer."""
        self._close_reader()
