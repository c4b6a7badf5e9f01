"""High watermarks are read from the disk, and written to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.replica_managers import TP, Broker, only


def test_high_watermarks_survive_a_restart(tmp_path: Path) -> None:
    first = Broker(tmp_path / "logs")
    first.lead(TP, isr=(1, 2))
    first.produce(TP, 5, acks=1)
    first.fetch(TP, 3, replica_id=2)
    first.close()
    assert (tmp_path / "logs" / "replication-offset-checkpoint").read_text().splitlines() == ["0", "1", "orders 0 3"]
    second = Broker(tmp_path / "logs")
    second.lead(TP, isr=(1, 2), epoch=1)
    second.fetch(TP, 0)
    assert only(second.fetched).high_watermark == 3
    second.fetched.clear()
    second.fetch(TP, 0, min_bytes=1 << 20, max_wait_ms=60_000)
    assert only(second.fetched).high_watermark == 3, "its place in the file is not known, so nothing is added up"
    second.close()


def test_a_broker_that_no_controller_has_reached_keeps_the_high_watermarks_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "replication-offset-checkpoint"
    file.write_text("0\n1\norders 0 3\n")
    Broker(tmp_path).close()
    assert file.read_text() == "0\n1\norders 0 3\n"


@pytest.mark.parametrize("content", [b"x\n", b"0\n3\n", b"0\n1\norders 0\n", b"\xff\xfe\0", b"0\n1\norders 0 x\n"])
def test_a_broker_starts_with_a_malformed_high_watermark_checkpoint(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "replication-offset-checkpoint"
    file.write_bytes(content)
    broker = Broker(tmp_path)
    (record,) = caplog.records
    assert (record.levelname, str(file) in record.getMessage()) == ("WARNING", True)
    broker.lead(TP)
    broker.replicas.high_watermark_checkpoints.write()
    assert file.read_text() == "0\n1\norders 0 0\n"
    broker.close()


def test_high_watermarks_that_did_not_fit_on_the_disk_are_written_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Broker(tmp_path)
    broker.lead(TP)
    in_the_way = tmp_path / "replication-offset-checkpoint.tmp"
    in_the_way.symlink_to("/dev/full")
    broker.replicas.high_watermark_checkpoints.write()
    (record,) = caplog.records
    assert "No space left on device" in record.getMessage()
    assert record.exc_info is None
    broker.replicas.high_watermark_checkpoints.write()
    assert (tmp_path / "replication-offset-checkpoint").read_text() == "0\n1\norders 0 0\n"
    broker.close()
