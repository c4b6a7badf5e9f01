"""Rebuilds producer state from the snapshots and the batches after them.

Kafka 0.11: core/.../log/Log.scala (loadProducerState); since 3.0 UnifiedLog.rebuildProducerState · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import cast

from kafka_lite.common.errors import ApiError
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
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
    """Make ``state`` reflect everything from ``log_start_offset`` to ``last_offset`` (exclusive).

    If there is no snapshot after a clean shutdown, the log was written by a Kafka without producer state (before 0.11):
    nothing is read then, and empty snapshots are written. Snapshots are written at the start of the last two segments,
    so that a truncation does not have to go back far, and at the end. Raises OSError.
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
    """Add the batches of a segment between two offsets. Only headers are read, except for control batches.

    An unreadable batch below the recovery point will be noticed when it is fetched; here it only ends the segment.
    """
    try:
        for batch in producer_batches(segment, start_offset, last_offset):
            append = state.prepare_update(batch.producer_id, AppendOrigin.REPLICATION)
            append.append(batch)
            state.update(append)
    except ApiError as error:
        logger.warning("Loading the producers of %s ended early; later batches are not included: %s", segment, error)


def producer_batches(segment: LogSegment, start_offset: int, last_offset: int) -> Iterator[DefaultRecordBatch]:
    """Yield the batches with a producer id: control batches in full, others only with their header."""
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
