"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.coordinators import LabCoordinator
from kafka_lite.common.errors import ApiError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder


@pytest.fixture(scope="session")
def broker_settings():
    """One broker has one replica. A new cluster of this protocol has the first version of transactions."""
    return {
        "inter.broker.protocol.version": "2.8",
        "log.message.format.version": "2.8",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }


@pytest.fixture
def coordinator(tmp_path):
    """A coordinator without a broker."""
    return LabCoordinator(tmp_path)


class Partition:
    """A partition of a topic: its log, and what a leader does with requests. Producer 7 writes."""

    def __init__(self, folder):
        time = MockTime()
        self.log = Log(folder, LogConfig({"retention.ms": "-1"}), 0, MockScheduler(time), time)

    def produce(self, epoch, sequence=0):
        """A batch of one record; the name of the error, or NONE."""
        builder = MemoryRecordsBuilder(
            producer_id=7, producer_epoch=epoch, base_sequence=sequence, is_transactional=True
        )  # fmt: skip
        builder.append(1000, None, b"value")
        return self._append(builder.build(), AppendOrigin.CLIENT)

    def mark(self, epoch, *, commit=False, coordinator_epoch=0):
        """A marker from a coordinator; the name of the error, or NONE."""
        kind = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
        batch = EndTransactionMarker(kind, coordinator_epoch).to_batch(7, epoch, 1000)
        return self._append(batch, AppendOrigin.COORDINATOR)

    def _append(self, batch, origin):
        try:
            self.log.append_as_leader(bytearray(batch), 0, origin)
        except ApiError as failure:
            return failure.error.name
        return "NONE"


@pytest.fixture
def partition(tmp_path):
    """A partition of a topic."""
    return Partition(tmp_path / "a-0")
