"""Records that were validated, decompressed and converted before the locks of their partition and log are taken.

Kafka 0.10.2: none; there Log.append holds its lock while it decompresses and converts · book 6.1.2
"""

from __future__ import annotations

from typing import Final

from kafka_lite.common.sendable import Buffer
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.validation.log_validator import LogValidator
from kafka_lite.log.validation.validation_result import ValidationResult
from kafka_lite.record.compression import EXPANSION, CompressionType
from kafka_lite.record.default_record_batch import CODEC_POSITION
from kafka_lite.record.record import MAGIC_V0, MAGIC_V2, NO_PARTITION_LEADER_EPOCH
from kafka_lite.record.record_batch import CODEC_MASK, MAGIC_POSITION
from kafka_lite.record.records import batches

LONG_BYTES: Final = 32 * 1024
"""More uncompressed records than this, or what may expand to ``LONG_EXPANDED_BYTES``, are prepared."""
LONG_EXPANDED_BYTES: Final = 2 << 20
MIN_PREPARED_BYTES: Final = 512
"""Less cannot take long, whatever it is: a hundred blocks of Zstandard at most, of 131,072 bytes each."""
_ZSTD: Final = CompressionType.ZSTD.code


class PreparedRecords:
    """Validated records that only lack their offsets and the leader's epoch.

    ::

        without any lock     validate, decompress, convert    offsets 0 1 2 ...          epoch -1
        under the locks      append                           offsets 90 91 92 ...       epoch 4     headers only

    Neither is covered by a checksum. If the topic's configuration changes in between, these records are appended as if
    they had come before that.
    """

    __slots__ = ("_result", "now_ms")

    def __init__(self, result: ValidationResult, now_ms: int) -> None:
        """``result`` has the offsets from 0 on."""
        self._result = result
        self.now_ms = now_ms
        """The time of the append, which timestamps were compared with."""

    def at(self, offset: int, leader_epoch: int) -> ValidationResult:
        """Assign the offsets from ``offset`` on, and the epoch. To be called once."""
        result = self._result
        if result.batch is not None:
            result.batch.set_last_offset_and_epoch(result.last_offset + offset, leader_epoch)
        else:
            view = memoryview(result.records)
            if view.readonly:
                view = memoryview(bytearray(view))
            for batch in batches(view):
                batch.set_last_offset(batch.last_offset + offset)
                batch.set_partition_leader_epoch(leader_epoch)
            result.records = view
        result.move(offset)
        return result


def prepare(records: Buffer, config: LogConfig, now_ms: int, origin: AppendOrigin) -> Buffer | PreparedRecords:
    """Validate records unless that is quick: then they are returned as they are, and the append validates them.

    Raises ApiError as ``validate_and_assign_offsets`` does. What is kept in format v0 is left to the append: compressed
    sets of that format have absolute offsets inside.
    """
    if not is_long(records) or config.magic == MAGIC_V0:
        return records
    validator = LogValidator.for_log(config)
    return PreparedRecords(validator.validate(records, 0, now_ms, NO_PARTITION_LEADER_EPOCH, origin), now_ms)


def is_long(records: Buffer) -> bool:
    """Whether validating the records may take more than a few milliseconds."""
    size = len(records)
    if size <= MIN_PREPARED_BYTES:
        return False
    if records[MAGIC_POSITION] < MAGIC_V2:
        return size > LONG_BYTES or size * EXPANSION.get(records[MAGIC_POSITION + 1] & CODEC_MASK, 0) > LONG_BYTES
    codec = records[CODEC_POSITION] & CODEC_MASK
    if not codec:
        return size > LONG_BYTES
    return codec == _ZSTD or size * EXPANSION.get(codec, 0) > LONG_EXPANDED_BYTES
