"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches


@pytest.fixture(scope="session")
def broker_settings():
    """One broker has one replica."""
    return {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}


def encoded(offset, producer_id, what, epoch=3, coordinator_epoch=0):
    """One batch: a value, or the marker COMMIT or ABORT. Producer 0 has no transactions, only numbers."""
    if what in ("COMMIT", "ABORT"):
        marker = EndTransactionMarker(ControlRecordType[what], coordinator_epoch)
        return marker.to_batch(producer_id, epoch, 1000, base_offset=offset)
    builder = MemoryRecordsBuilder(
        base_offset=offset, producer_id=producer_id, producer_epoch=epoch, base_sequence=0,
        is_transactional=producer_id != 0,
    )  # fmt: skip
    builder.append(1000, None, what.encode())
    return builder.build()


@pytest.fixture
def batch():
    """``batch(offset, producer_id, value or marker, epoch=3, coordinator_epoch=0)``."""

    def make(*args, **options):
        return next(iter(batches(encoded(*args, **options))))

    return make


@pytest.fixture
def log_with(tmp_path):
    """``log_with((producer id, value or marker), …)``: a follower's log with these batches from offset 0 on."""

    made = []

    def make(*written):
        time = MockTime()
        made.append(tmp_path / f"{len(made)}" / "a-0")
        log = Log(made[-1], LogConfig({"retention.ms": "-1"}), 0, MockScheduler(time), time)
        for offset, each in enumerate(written):
            log.append_as_follower(encoded(offset, *each))
        return log

    return make


@pytest.fixture
def marker():
    """``marker(offset, producer_id)``: the bytes of a commit marker."""
    return lambda offset, producer_id: encoded(offset, producer_id, "COMMIT")


@pytest.fixture
def origin():
    """Markers come from a coordinator."""
    return AppendOrigin.COORDINATOR
