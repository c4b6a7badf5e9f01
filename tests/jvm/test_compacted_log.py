"""Kafka reads the output of our cleaner: DumpLogSegments reports no errors, and both decode the same batches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.log.checkpoints.offset_checkpoint_file import OffsetCheckpointFile
from kafka_lite.log.log import Log
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from tests.support.compaction import all_batches, all_records, append, clean, keyed_set, new_manager
from tests.support.dump_log_segments import dump_log_segments, segment_files
from tests.support.logs import open_log
from tests.support.samples import DATA

CODECS = [CompressionType.NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4]


def cleaned_log(parent: Path, message_format: str, codec: CompressionType) -> Log:
    """Batches with gaps, tombstones, headers without records; several cleaned segments, with indexes."""
    time = MockTime()
    log = open_log(
        parent,
        time=time,
        name=f"{codec.codec_name}-0",
        cleanup_policy="compact",
        message_format_version=message_format,
        segment_bytes=6_000,
        index_interval_bytes=300,
    )
    for n in range(300):
        pairs = [(b"key-%d" % (7 * n % 90 + i), None if n % 13 == 0 else b"%d" % n * 9) for i in range(5)]
        producer = (
            {"producer_id": n % 3, "producer_epoch": 0, "base_sequence": n // 3 * 5} if log.config.magic > 1 else {}
        )
        append(log, *pairs, timestamp=1_600_000_000_000 + n, compression=codec, **producer)
    # Only the headers of the producers' last batches are left.
    keys = [7 * n % 90 + i for n in (297, 298, 299) for i in range(5)]
    append(log, *[(b"key-%d" % key, b"last") for key in keys], timestamp=1_600_000_000_500, compression=codec)
    log.roll()
    clean(log, time)
    append(log, (b"key-1", b"dirty"), (b"key-2", None), timestamp=1_600_000_000_999)
    log.roll()
    clean(log, time, 1_515)
    log.close()
    return log


@pytest.mark.jvm
@pytest.mark.parametrize("message_format", ["0.10.2", "3.0"])
def test_kafkas_tool_reads_cleaned_segments(tmp_path: Path, message_format: str) -> None:
    for codec in CODECS:
        log = cleaned_log(tmp_path, message_format, codec)
        assert len(all_records(log)) < 1_500 // 3
        files = segment_files(log.dir)
        assert sum(file.stat().st_size for file in files if file.suffix == ".index") > 8 * len(log.segments)
        printed = _dump_with_holes(files, message_format)
        assert re.findall(r"key: (key-\d+)", printed) == [
            _text(record.key)
            for record in all_records(log)
            if record.value is not None or message_format == "3.0"  # the tool of 0.10.2 prints no tombstones
        ]
        if message_format == "3.0":
            batches = [batch for batch in all_batches(log) if isinstance(batch, DefaultRecordBatch)]
            assert re.findall(r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+)", printed) == [
                (str(batch.base_offset), str(batch.last_offset), str(batch.record_count)) for batch in batches
            ]
            horizons = [str(b.delete_horizon_ms) for b in batches if b.delete_horizon_ms is not None]
            assert len(horizons) > 1
            assert re.findall(r"deleteHorizonMs: OptionalLong\[(\d+)\]", printed) == horizons
            assert any(batch.record_count == 0 for batch in batches)


def _text(key: bytes | None) -> str:
    assert key is not None
    return key.decode()


def _dump_with_holes(files: list[Path], message_format: str) -> str:
    """Every line that is printed of records, except the remark that offsets are not consecutive: here they are not."""
    return dump_log_segments(files, message_format, "--deep-iteration", "--print-data-log", holes=True)


@pytest.mark.jvm
def test_kafka_recovers_the_same_records(tmp_path: Path) -> None:
    """Without indexes, every checksum is validated."""
    log = cleaned_log(tmp_path, "3.0", CompressionType.LZ4)
    printed = dump_log_segments(sorted(log.dir.glob("*.log")), "3.0", "--deep-iteration", holes=True)
    assert len(re.findall(r"isvalid: true", printed)) >= len(all_batches(log))


def test_the_checkpoint_matches_kafka(tmp_path: Path) -> None:
    """A file that Kafka 3.9 wrote is written back byte for byte."""
    kafkas = (DATA / "v39-cleaner-offset-checkpoint.txt").read_bytes()
    ours = OffsetCheckpointFile(tmp_path / "cleaner-offset-checkpoint")
    ours.file.write_bytes(kafkas)
    ours.write(ours.read())
    assert ours.file.read_bytes() == kafkas
    log = open_log(tmp_path, cleanup_policy="compact")
    log.append_as_leader(keyed_set((b"k", b"v")), 0)
    manager = new_manager(log, MockTime())
    manager.update_checkpoints(tmp_path, {log.topic_partition: 1})
    assert ours.file.read_bytes() == b"0\n1\ntopic 0 1\n"
