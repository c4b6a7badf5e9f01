"""Builds what a log knows of its producers anew, from snapshots and from the batches behind them.

Kafka 0.11: core/.../log/Log.scala (loadProducerState); since 3.0 UnifiedLog.rebuildProducerState · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import cast

from kafka_lite.common.errors import ApiError
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.log_validator import AppendOrigin
from kafka_lite.log.producers.producer_state_manager import ProducerStateManager
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD, DefaultRecordBatch
from kafka_lite.record.record import MAGIC_V2

logger = logging.getLogger(__name__)


def rebuild_producer_state(
    state: ProducerStateManager,
    segments: LogSegments,
    log_start_offset: int,
    last_offset: int,
    now_ms: int,
    *,
    reload_from_clean_shutdown: bool,
) -> None:
    """Let ``state`` count for everything from ``log_start_offset`` to ``last_offset`` (not included).

    Without any snapshot after a clean shutdown the log comes from a Kafka that knew no producers (before 0.11): then
    nothing is read, and empty snapshots say so from now on. Snapshots are written where the last two segments begin,
    so that a truncation need not go back far, and at the end. Raises OSError.
    """
    newest_bases = [segment.base_offset for segment in segments][-2:]
    if reload_from_clean_shutdown and not state.snapshot_offsets:
        for offset in (*newest_bases, last_offset):
            state.update_map_end_offset(offset)
            state.take_snapshot()
        return
    nothing_to_find = state.is_empty and state.map_end_offset >= last_offset
    state.truncate_and_reload(log_start_offset, last_offset, now_ms)
    if state.map_end_offset < last_offset and not nothing_to_find:
        for segment in segments.from_offset(state.map_end_offset):
            start_offset = max(segment.base_offset, state.map_end_offset, log_start_offset)
            if start_offset >= last_offset:
                break
            state.update_map_end_offset(start_offset)
            if segment.base_offset in newest_bases:
                state.take_snapshot()
            _load_producers(state, segment, start_offset, last_offset)
    state.update_map_end_offset(last_offset)
    state.take_snapshot()


def _load_producers(state: ProducerStateManager, segment: LogSegment, start_offset: int, last_offset: int) -> None:
    """Take in the batches of a segment from one offset to another. Only headers are read.

    What cannot be read below the recovery point is for those who fetch it to find out; here it ends the segment.
    """
    try:
        for batch in _record_batches(segment, start_offset, last_offset):
            append = state.prepare_update(batch.producer_id, AppendOrigin.REPLICATION)
            append.append(batch)
            state.update(append)
    except ApiError as error:
        logger.warning("Producers of %s behind this are not known: %s", segment, error)


def _record_batches(segment: LogSegment, start_offset: int, last_offset: int) -> Iterator[DefaultRecordBatch]:
    """The batches with a producer id; those of control records whole, of the others the header."""
    start = segment.translate_offset(start_offset)
    if start is None:
        return
    for found in segment.log.batches_from(start.position):
        if found.first_or_last_offset >= last_offset:
            return
        if found.magic < MAGIC_V2:
            continue
        header = segment.log.read(found.position, RECORD_BATCH_OVERHEAD).to_bytes()
        batch = DefaultRecordBatch(header, 0, len(header))
        if batch.has_producer_id:
            yield cast(DefaultRecordBatch, segment.log.load(found)) if batch.is_control else batch
