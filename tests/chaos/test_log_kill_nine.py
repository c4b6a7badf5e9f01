"""kill -9 at any moment: nothing flushed is lost, and the log accepts appends again."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.logs import open_log, read_records

CONFIG = {"segment_bytes": 20_000, "index_interval_bytes": 500, "segment_index_bytes": 10_000}

WRITER = """
import random, sys
from pathlib import Path
from tests.support.logs import open_log, record_set

recovery_point = int(sys.argv[2])
random.seed(recovery_point)
log = open_log(Path(sys.argv[1]), recovery_point=recovery_point, **{config})
print("opened", log.log_end_offset, flush=True)
while True:
    first = log.log_end_offset
    values = [b"%012d" % (first + i) + b"." * random.randrange(300) for i in range(random.randrange(1, 5))]
    log.append_as_leader(record_set(*values), 0)
    if random.random() < 0.2:
        log.flush()
        print("flushed", log.recovery_point, flush=True)
    if random.random() < 0.02:
        log.truncate_to(max(log.recovery_point, log.log_end_offset - 3))
    if random.random() < 0.01:
        log.roll()
"""


def run_and_kill(directory: Path, recovery_point: int, after_s: float) -> int:
    """Let a writer append for a while, kill it, and return what it reported as flushed."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER.replace("{config}", repr(CONFIG)), str(directory), str(recovery_point)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        opened = writer.stdout.readline().split()
        assert opened[:1] == ["opened"], writer.stderr.read()
        assert int(opened[1]) >= recovery_point
        time.sleep(after_s)
        writer.send_signal(signal.SIGKILL)
        # The kill may truncate the last line: without a line end it does not count.
        complete, _, _ = writer.stdout.read().rpartition("\n")
        reports = [int(line.removeprefix("flushed ")) for line in complete.splitlines()]
    assert writer.returncode == -signal.SIGKILL
    return max(reports, default=recovery_point)


@pytest.mark.soak
def test_nothing_flushed_is_lost(tmp_path: Path) -> None:
    flushed = 0
    for _ in range(12):
        flushed = run_and_kill(tmp_path, flushed, random.uniform(0.01, 0.4))
        log = open_log(tmp_path, recovery_point=flushed, **CONFIG)  # type: ignore[arg-type]
        assert log.log_end_offset >= flushed
        found = read_records(log)
        assert [record.offset for record in found] == list(range(log.log_end_offset))
        assert all(record.value is not None and int(record.value[:12]) == record.offset for record in found)
        log.flush()
        flushed = log.recovery_point
        del log
    assert flushed > 100
