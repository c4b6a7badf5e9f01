"""Our dump-log prints the same lines as Kafka's DumpLogSegments for the same files."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from pathlib import Path

import pytest

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.producer_snapshot import encode_snapshot
from kafka_lite.log.producers.producer_state_entry import BatchMetadata, ProducerStateEntry
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Header
from tests.support.jvm import classpath, java_command
from tests.support.patience import patient_s
from tests.support.samples import DATA, hex_sample

KAFKA = ("org.apache.kafka:kafka_2.13:3.9.1", "org.apache.kafka:kafka-tools-api:3.9.1", "org.slf4j:slf4j-nop:1.7.36")
FIRST = "0" * 20

# options of dump-log → the samples that Kafka wrote: 0.10.2 (disk-*, consumer-offsets-*) and 3.9
CASES = {
    "records": (["--print-data-log"], "disk-none disk-gzip disk-snappy disk-lz4 disk-v0 disk-lat v39-modern-0.00"),
    "batches": ([], "disk-roll-00.live disk-gzip v39-modern-1.00"),
    "deep": (["--deep-iteration"], "disk-roll-00.live disk-lz4 v39-modern-1.00"),
    "values only": (["--print-data-log", "--skip-record-metadata"], "disk-none v39-modern-0.00 v39-modern-1.00"),
    "decoder": (["--value-decoder-class"], "disk-snappy v39-modern-0.00"),
    "limited": (["--max-bytes", "500"], "disk-roll-00.live"),
    "verified": (["--verify-index-only"], "disk-roll-00.live"),
    "sane": (["--index-sanity-check"], "disk-roll-00.live"),
    "offsets": (["--offsets-decoder"], "consumer-offsets-7 consumer-offsets-8 v39-consumer-offsets-4"),
}


def kafkas(arguments: list[str], directory: Path) -> tuple[str, str]:
    """Kafka's stdout and stderr."""
    command = java_command("kafka.tools.DumpLogSegments", *arguments, classpath=classpath(*KAFKA))
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=patient_s(100), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def ours(arguments: list[str], directory: Path) -> tuple[str, str]:
    """Our stdout and stderr."""
    command = [sys.executable, "-m", "kafka_lite.tools.main", "dump-log", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=patient_s(100), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def assert_same(arguments: list[str], directory: Path, files: list[str]) -> None:
    arguments = ["--files", ",".join(files), *arguments]
    (out, err), (our_out, our_err) = kafkas(arguments, directory), ours(arguments, directory)
    assert our_out.splitlines() == out.splitlines()
    # In Kafka's tool, the order of files is that of a hash map.
    assert sorted(our_err.splitlines()) == sorted(err.splitlines())


def put_sample(directory: Path, name: str) -> list[str]:
    """Write a sample as the files of a segment, each sample in a folder of its own."""
    (directory / name).mkdir()
    files = []
    for kind in ("log", "index", "timeindex"):
        if (DATA / f"{name}.{kind}.hex").exists():
            files.append(f"{name}/{FIRST}.{kind}")
            (directory / files[-1]).write_bytes(hex_sample(f"{name}.{kind}.hex"))
    if f"{name}/{FIRST}.index" not in files:  # Kafka's tool needs it for the time index
        (directory / name / f"{FIRST}.index").write_bytes(b"")
    return files


@pytest.mark.jvm
@pytest.mark.parametrize("case", list(CASES))
def test_files_that_kafka_wrote(case: str, tmp_path: Path) -> None:
    arguments, samples = CASES[case]
    files = [file for name in samples.split() for file in put_sample(tmp_path, name)]
    assert files
    assert_same(arguments, tmp_path, files)


@pytest.mark.jvm
def test_batches_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / f"{FIRST}.log").write_bytes(b"".join(every_kind_of_batch()))
    for arguments in ([], ["--deep-iteration"], ["--print-data-log"]):
        assert_same(arguments, tmp_path, [f"{FIRST}.log"])


def every_kind_of_batch() -> list[bytes]:
    """Codecs, headers, nulls, producers, transactions, text that is not ASCII or not text, and a gap of offsets."""
    batches, offset = [], 0
    for codec in CompressionType:
        builder = MemoryRecordsBuilder(
            2, codec, base_offset=offset, producer_id=7, producer_epoch=1, base_sequence=2**31 - 2,
            partition_leader_epoch=3, is_transactional=True,
        )  # fmt: skip
        builder.append(1_600_000_000_000, b"key", "日志".encode(), headers=(Header("a", b"1"), Header("b", None)))
        builder.append(1_600_000_000_001, None, None)
        builder.append(1_600_000_000_002, b"", b"\xff\xfe")
        batches.append(builder.build())
        offset += 3
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 5)
    batches.append(marker.to_batch(7, 1, 1_600_000_000_003, base_offset=offset))
    builder = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=offset + 10)
    builder.append(-1, None, b"without a time, behind a gap")
    batches.append(builder.build())
    torn = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=offset + 11)
    torn.append(1, b"k", b"torn")
    return [*batches, torn.build()[:-3]]


@pytest.mark.jvm
def test_errors_have_the_same_messages(tmp_path: Path) -> None:
    files = put_sample(tmp_path, "disk-roll-00.live")
    log, index, timeindex = (tmp_path / file for file in files)
    damage(index, 8, b"\0\0\0\7")
    damage(index, 24, b"\0\0\0\14")
    damage(timeindex, 24, bytes(7) + b"\5")
    damage(timeindex, 44, b"\0\0\7\0")
    damage(log, 150, b"!")
    for file in files:
        (out, err), (our_out, our_err) = (dump(["--files", file], tmp_path) for dump in (kafkas, ours))
        assert our_out.splitlines() == out.splitlines()
        assert our_err.splitlines() == err.splitlines()
        assert ("isvalid: false" in out) if file.endswith(".log") else err


def damage(file: Path, position: int, with_bytes: bytes) -> None:
    content = bytearray(file.read_bytes())
    content[position : position + len(with_bytes)] = with_bytes
    file.write_bytes(content)


@pytest.mark.jvm
def test_producer_snapshots(tmp_path: Path) -> None:
    """One that Kafka wrote, one that we wrote, one that is damaged."""
    written_by_kafka = hex_sample("v39-modern-0.00000000000000000009.snapshot.hex")
    open_transaction = ProducerStateEntry(7, 3, 2, 1_600_000_000_000, current_txn_first_offset=40)
    with_batch = ProducerStateEntry(8, 0, last_timestamp=5, batch_metadata=deque([BatchMetadata(3, 90, 4, 5)]))
    files = {
        "00000000000000000009.snapshot": written_by_kafka,
        "00000000000000000091.snapshot": encode_snapshot([open_transaction, with_batch]),
        "00000000000000000099.snapshot": written_by_kafka[:-1] + b"?",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    whole = [name for name in files if not name.startswith("00000000000000000099")]
    assert_same([], tmp_path, whole)
    out, err = ours(["--files", "00000000000000000099.snapshot"], tmp_path)
    kafkas_out, kafkas_err = kafkas(["--files", "00000000000000000099.snapshot"], tmp_path)
    assert out == kafkas_out
    assert len(err.splitlines()) == len(kafkas_err.splitlines()) == 1, "each has its own error message"


@pytest.mark.jvm
def test_transaction_indexes(tmp_path: Path) -> None:
    aborted = [AbortedTxn(7, 10, 19, 21), AbortedTxn(2**40, 0, 2**50, 2**50 + 1)]
    whole, torn, newer = (f"{number:020d}.txnindex" for number in (0, 1, 2))
    (tmp_path / whole).write_bytes(b"".join(txn.encode() for txn in aborted))
    (tmp_path / torn).write_bytes(aborted[0].encode() + aborted[1].encode()[:-1])
    assert_same([], tmp_path, [whole, torn])
    (tmp_path / newer).write_bytes(b"\1\0" + aborted[0].encode()[2:])
    command = java_command("kafka.tools.DumpLogSegments", "--files", newer, classpath=classpath(*KAFKA))
    theirs = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=patient_s(100), check=False)
    assert "Unexpected aborted transaction version 1" in theirs.stderr


@pytest.mark.jvm
@pytest.mark.parametrize(("kind", "size"), [("Integer", 4), ("Long", 8)])
def test_decoders_of_numbers(kind: str, size: int, tmp_path: Path) -> None:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    for number in (0, 1, 2**31 - 1, 2**31 + 7):
        data = (number % 256**size).to_bytes(size)
        builder.append(1, data, data)
    builder.append(2, None, None)
    (tmp_path / f"{FIRST}.log").write_bytes(builder.build())
    decoder = f"org.apache.kafka.tools.api.{kind}Decoder"
    arguments = ["--print-data-log", "--key-decoder-class", decoder, "--value-decoder-class", decoder]
    assert_same(arguments, tmp_path, [f"{FIRST}.log"])
