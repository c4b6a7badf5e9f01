"""Jobs into beanstalkd and records into this broker, each over TCP: how many per second, and what is on the disk
afterwards.

Two designs for one question, when a message is safe: a queue in memory with a binlog beside it, and a log with a page
cache below it. Book 1.3.1.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from chapters.ch01_introduction.figures.beanstalk import BeanstalkClient, running_beanstalkd
from kafka_learn.recording.run_brokers import FIRST_TIMESTAMP, PRODUCE_VERSION, TOPIC, connect, running_broker
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2

RATE_S = 0.25
VALUE = b"x" * 1000
TOGETHER = 100
BINLOG_FILE_BYTES = 100_000
OPTIONS = {
    "no binlog": None,
    "binlog, -F (never fsync)": ("-F",),
    "binlog, fsync every 50 ms": (),
    "binlog, -f 0 (fsync every time)": ("-f", "0"),
}
"""The options that beanstalkd is started with; None: without ``-b``."""


def beanstalkd_rates() -> dict[str, float]:
    """Jobs of 1000 bytes a second, one after the other and 100 together; FileNotFoundError without beanstalkd."""
    found = {}
    for name, options in OPTIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            binlog = None if options is None else Path(folder)
            with running_beanstalkd(*(options or ()), binlog=binlog) as client:
                for together in (1, TOGETHER):
                    found[f"{name}, {_how_many(together)}"] = _put_rate(client, together)
    return found


def _put_rate(client: BeanstalkClient, together: int) -> float:
    bodies = [VALUE] * together
    start, jobs = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < RATE_S:
        jobs += len(client.put(*bodies))
    return jobs / passed


def broker_rates() -> dict[str, float]:
    """Records of 1000 bytes a second with acks=1, one in a request and 100 in a batch."""
    found = {}
    for name, overrides in (
        ("log, flush left to the kernel", {}),
        ("log, flush.messages=1 (fsync every time)", {"log.flush.interval.messages": "1"}),
    ):
        with running_broker(overrides) as server, connect(server) as channel:
            for together in (1, TOGETHER):
                request = _request(together)
                start, records = time.perf_counter(), 0
                while (passed := time.perf_counter() - start) < RATE_S:
                    channel.exchange(request, PRODUCE_VERSION)
                    records += together
                found[f"{name}, {_how_many(together)}"] = records / passed
    return found


def _request(together: int) -> ProduceRequest:
    records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, VALUE)] * together, timestamp=FIRST_TIMESTAMP)
    topic = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=0, records=records)])
    return ProduceRequest(acks=1, timeout_ms=5_000, topic_data=[topic])


def _how_many(together: int) -> str:
    return "one by one" if together == 1 else f"{together} together"


class BinlogState(NamedTuple):
    """The files of beanstalkd on the disk after a step, and how much it has written so far."""

    step: str
    files: tuple[str, ...]
    kilobytes: int
    records_written: int
    records_migrated: int
    """Jobs that were copied out of an old file, so that it could be removed: beanstalkd's compaction."""


def binlog_growth() -> list[BinlogState]:
    """One job that stays, a thousand that come and go, and a binlog in files of 100 kB."""
    with tempfile.TemporaryDirectory() as folder:
        binlog = Path(folder)
        with running_beanstalkd("-F", "-s", str(BINLOG_FILE_BYTES), binlog=binlog) as client:
            states = [_binlog_state("started", binlog, client)]
            client.put(b"the job that stays")
            states.append(_binlog_state("1 job put", binlog, client))
            jobs = client.put(*[VALUE] * 1000)
            states.append(_binlog_state("1000 more put", binlog, client))
            client.delete(*jobs[:500])
            states.append(_binlog_state("500 of them deleted", binlog, client))
            client.delete(*jobs[500:])
            states.append(_binlog_state("the other 500 deleted", binlog, client))
            for _ in range(10):
                client.delete(*client.put(*[VALUE] * 100))
            states.append(_binlog_state("1000 put and deleted", binlog, client))
            return states


def _binlog_state(step: str, binlog: Path, client: BeanstalkClient) -> BinlogState:
    stats = client.stats()
    files = sorted(binlog.glob("binlog.*"), key=lambda file: int(file.suffix[1:]))
    return BinlogState(
        step,
        tuple(file.name for file in files),
        sum(file.stat().st_blocks * 512 for file in files) // 1000,
        int(stats["binlog-records-written"]),
        int(stats["binlog-records-migrated"]),
    )
