"""The high watermarks of all partitions, on disk.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (checkpointHighWatermarks) · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFormatError
from kafka_lite.log.checkpoints.offset_checkpoint_file import (
    HIGH_WATERMARK_CHECKPOINT_FILE,
    OffsetCheckpointFile,
)
from kafka_lite.log.log_manager import LogManager

logger = logging.getLogger(__name__)


class HighWatermarkCheckpoints:
    """One file in each log directory, written periodically once the controller has sent its first request."""

    def __init__(
        self,
        log_manager: LogManager,
        scheduler: Scheduler,
        interval_ms: int,
        partitions: Callable[[], Iterable[Partition]],
    ) -> None:
        self._log_manager = log_manager
        self._scheduler = scheduler
        self._interval_ms = interval_ms
        self._partitions = partitions
        self._started = False
        self._files = {
            directory: OffsetCheckpointFile(Path(directory) / HIGH_WATERMARK_CHECKPOINT_FILE)
            for directory in log_manager.live_log_dirs
        }
        self._found: dict[TopicPartition, int] = {}

    def read(self) -> None:
        """Read the files of the last run.

        An invalid file does little harm: a leader determines its high watermark again once its ISR has caught up.
        (Kafka takes the log directory offline.)
        """
        for directory, file in self._files.items():
            try:
                self._found.update(file.read())
            except CheckpointFormatError as error:
                logger.warning(
                    "Cannot read the high watermarks in %s; they will be determined again: %s", directory, error
                )
            except OSError as error:
                self._take_offline(directory, f"Cannot read {file.file}", error)

    def high_watermark(self, topic_partition: TopicPartition) -> int:
        """A partition's high watermark at the end of the last run; 0 if unknown."""
        return self._found.get(topic_partition, 0)

    def forget(self, topic_partition: TopicPartition) -> None:
        """Drop the entry of a deleted partition: a new one of this name starts at 0."""
        self._found.pop(topic_partition, None)

    def start(self) -> None:
        """Start writing the files periodically; a no-op the second time."""
        if not self._started:
            self._started = True
            self._scheduler.schedule("highwatermark-checkpoint", self.write, self._interval_ms, self._interval_ms)

    def write(self) -> None:
        """Write the high watermarks of every log directory to its file."""
        by_directory: dict[str, dict[TopicPartition, int]] = {str(directory): {} for directory in self._files}
        for partition in self._partitions():
            replica = partition.get_replica()
            if replica is not None and replica.log is not None:
                offsets = by_directory.get(str(replica.log.dir.parent))
                if offsets is not None:
                    offsets[partition.topic_partition] = replica.high_watermark.message_offset
        for directory in self._log_manager.live_log_dirs:
            try:
                self._files[directory].write(by_directory[str(directory)])
            except OSError as error:
                self._take_offline(directory, f"Cannot write {self._files[directory].file}", error)

    def _take_offline(self, directory: Path, message: str, error: OSError) -> None:
        self._log_manager.log_dir_failure_channel.maybe_add_offline_log_dir(directory, message, error)

    def shutdown(self) -> None:
        """Write the files once more, unless no controller has sent this broker its partitions."""
        if self._started:
            self.write()
