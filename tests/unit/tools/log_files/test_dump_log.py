"""dump-log on files that real brokers wrote, on files with faults, and on other files."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.producer_snapshot import read_snapshot
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.tools.common import terminal
from tests.support.dumped_logs import ACTIVE, FIRST, dump, put, rolled_segments
from tests.support.samples import hex_sample


@pytest.fixture
def rolled(tmp_path: Path) -> Path:
    return rolled_segments(tmp_path)


def test_a_v2_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "v39-modern-1.00.log.hex")
    file = tmp_path / f"{FIRST}.log"
    code, out, err = dump(capsys, files=file)
    assert (code, err) == (0, [])
    assert out[:2] == [f"Dumping {file}", "Log starting offset: 0"]
    assert re.fullmatch(
        r"baseOffset: 0 lastOffset: 2 count: 3 baseSequence: 0 lastSequence: 2 producerId: 0 producerEpoch: 0 "
        r"partitionLeaderEpoch: 0 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty "
        r"position: 0 CreateTime: \d{13} size: 100 magic: 2 compresscodec: none crc: \d+ isvalid: true",
        out[2],
    )
    assert len(out) == 6


def test_v2_records_with_keys_and_markers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "v39-modern-1.00.log.hex")
    _, out, _ = dump(capsys, "--print-data-log", files=tmp_path / f"{FIRST}.log")
    records = [line for line in out if line.startswith("| ")]
    assert [re.findall(r"offset: (\d+)", line)[0] for line in records] == ["0", "1", "2", "3", "4", "5"]
    assert re.fullmatch(
        r"\| offset: 1 CreateTime: \d+ keySize: -?\d+ valueSize: \d+ sequence: 1 headerKeys: \[\].* payload: .+",
        records[1],
    )
    markers = [re.findall(r"endTxnMarker: (\w+) coordinatorEpoch: (\d+)", line) for line in records]
    assert [found[0] for found in markers if found] == [("COMMIT", "0"), ("ABORT", "0")]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_v1_messages_of_every_codec(codec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, f"disk-{codec}.log.hex")
    code, out, err = dump(capsys, "--print-data-log", files=tmp_path / f"{FIRST}.log")
    assert (code, err) == (0, [])
    batches = [line for line in out if line.startswith("offset: ")]
    records = [line for line in out if line.startswith("| ")]
    assert all(f"magic: 1 compresscodec: {codec} " in line for line in batches)
    assert [re.findall(r"offset: (\d+)", line)[0] for line in records] == [str(number) for number in range(9)]
    assert all(re.search(r" isValid: true crc: \d+\} key: \S+ payload: ", line) for line in records)


def test_v0_messages_have_no_timestamp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "disk-v0.log.hex")
    _, out, _ = dump(capsys, files=tmp_path / f"{FIRST}.log")
    assert " NoTimestampType: -1 " in out[2]
    assert "magic: 0" in out[2]


def test_a_gap_between_offsets_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = hex_sample("disk-none.log.hex")
    file = tmp_path / f"{FIRST}.log"
    file.write_bytes(messages[:49] + messages[98:])
    _, _, err = dump(capsys, "--deep-iteration", files=file)
    assert err == [f"Non-consecutive offsets in {file}", "  0 is followed by 2"]


def test_a_torn_last_batch_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"{FIRST}.log"
    file.write_bytes(hex_sample("disk-none.log.hex")[:-5])
    code, out, err = dump(capsys, files=file)
    assert (code, err) == (0, [])
    assert out[-1] == f"Found 46 invalid bytes at the end of {FIRST}.log"


def test_a_wrong_checksum_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(hex_sample("disk-none.log.hex"))
    content[48] ^= 1
    (tmp_path / f"{FIRST}.log").write_bytes(content)
    _, out, _ = dump(capsys, files=tmp_path / f"{FIRST}.log")
    assert [line.rsplit(" ", 1)[1] for line in out[2:]] == ["false"] + ["true"] * 8


def test_garbage_ends_the_file_with_an_error_but_not_the_run(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junk = rolled / "00000000000000000099.log"
    junk.write_bytes(b"\0" * 100)
    code, out, err = dump(capsys, files=[junk, rolled / f"{FIRST}.index"])
    assert code == 1
    assert err == [f"{junk}: no batch at position 0: offset 0, size 0, magic 0"]
    assert "offset: 3 position: 300" in out


def test_max_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "disk-none.log.hex")
    _, out, _ = dump(capsys, "--max-bytes", "120", files=tmp_path / f"{FIRST}.log")
    assert len(out) == 4
    assert "invalid" not in out[-1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nothing.log", "is not named after an offset"),
        (f"{FIRST}.log", "No such file or directory"),
        ("no-such-folder", "No such file or directory"),
        ("", "a folder. Name files in it"),
    ],
)
def test_an_unreadable_file_is_reported_in_one_line(
    name: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = dump(capsys, files=tmp_path / name)
    assert code == 1
    assert len(err) == 1
    assert reason in err[0]
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_unknown_type_is_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "recovery-point-offset-checkpoint.txt"
    file.touch()
    assert dump(capsys, files=file) == (0, [f"Dumping {file}"], [f"Ignoring unknown file {file}"])


def test_offsets_and_groups_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "v39-consumer-offsets-4.log.hex")
    _, out, _ = dump(capsys, "--offsets-decoder", files=tmp_path / f"{FIRST}.log")
    records = [line for line in out if line.startswith("| ")]
    assert any('key: {"type":"1","data":{"group":' in line and '"leaderEpoch":' in line for line in records)


def test_the_members_of_a_consumer_group_are_decoded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "consumer-offsets-8.log.hex")
    _, out, _ = dump(capsys, "--offsets-decoder", files=tmp_path / f"{FIRST}.log")
    group = next(line for line in out if 'key: {"type":"2"' in line and '"members":[{' in line)
    assert '"subscription":{"topics":["' in group
    assert '"assignment":{"assignedPartitions":[{"topic":"' in group


def test_transaction_state_is_decoded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "v39-transaction-state-0.log.hex")
    _, out, _ = dump(capsys, "--transaction-log-decoder", files=tmp_path / f"{FIRST}.log")
    records = [line for line in out if line.startswith("| ")]
    assert all("key: transaction_metadata::transactionalId=tx-1 payload: producerId:" in line for line in records)
    assert any("state=CompleteCommit," in line for line in records)


def test_a_terminal_gets_tables(
    rolled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "on_terminal", lambda stream=None: True)
    monkeypatch.setenv("COLUMNS", "90")
    put(rolled, FIRST, "v39-modern-1.00.log.hex")
    _, out, _ = dump(capsys, files=[rolled / f"{FIRST}.log", rolled / f"{ACTIVE}.index"])
    cells = [line.split() for line in out]
    assert ["offset", "position"] in cells
    assert any(row[:4] == ["0…2", "3", "0", "100"] and row[-1] == "yes" for row in cells)
    assert any("control" in row for row in cells)


def test_a_producer_snapshot_of_kafka(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "00000000000000000009.snapshot"
    file.write_bytes(hex_sample("v39-modern-0.00000000000000000009.snapshot.hex"))
    code, out, err = dump(capsys, files=file)
    assert (code, err) == (0, [])
    assert out[0] == f"Dumping {file}"
    assert all(line.startswith("producerId: ") and "currentTxnFirstOffset: OptionalLong" in line for line in out[1:])
    assert len(out) == 1 + len(read_snapshot(file))


def test_a_damaged_producer_snapshot_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "00000000000000000009.snapshot"
    file.write_bytes(b"no snapshot")
    code, out, err = dump(capsys, files=file)
    assert (code, out) == (0, [f"Dumping {file}"])
    assert len(err) == 1


# ------------------------------------------------------------------------------------- transaction indexes and decoders


def test_transaction_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"{FIRST}.txnindex"
    file.write_bytes(AbortedTxn(7, 10, 19, 21).encode() + b"\0\0torn")
    code, out, err = dump(capsys, files=file)
    assert (code, err) == (0, [])
    assert out[1:] == ["version: 0 producerId: 7 firstOffset: 10 lastOffset: 19 lastStableOffset: 21"]
    file.write_bytes(b"\0\1" + bytes(32))
    code, _, err = dump(capsys, files=file)
    assert code == 1
    assert "Unexpected aborted transaction version 1, current version is 0" in err[0]


@pytest.mark.parametrize(
    ("decoder", "data", "shown"),
    [
        ("org.apache.kafka.tools.api.LongDecoder", struct.pack(">q", -2), "-2"),
        ("kafka.serializer.IntegerDecoder", struct.pack(">i", 7), "7"),
        ("kafka.serializer.DefaultDecoder", b"\x00\xff", "00ff"),
        ("StringDecoder", "ä".encode(), "ä"),
    ],
)
def test_values_are_printed_by_the_chosen_decoder(
    decoder: str, data: bytes, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    builder.append(1, data, data)
    file = tmp_path / f"{FIRST}.log"
    file.write_bytes(builder.build())
    arguments = ("--skip-record-metadata", "--key-decoder-class", decoder, "--value-decoder-class", decoder)
    assert dump(capsys, *arguments, files=file)[1][-1] == f"| key: {shown} payload: {shown}"


def test_unknown_and_failing_decoders_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FIRST, "v39-modern-1.00.log.hex")
    file = tmp_path / f"{FIRST}.log"
    for decoder, reason in (("NoDecoder", "unknown decoder NoDecoder"), ("LongDecoder", "is not 8")):
        code, _, err = dump(capsys, "--value-decoder-class", decoder, files=file)
        assert (code, len(err)) == (1, 1)
        assert reason in err[0]
