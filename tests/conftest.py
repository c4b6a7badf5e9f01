"""For all tests: examples may take as long as they need, for machines are slow in turns; Ctrl-C reaches children."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.full_disk import FullDisk, SmallDisk, mounted_tmpfs

# A shell that runs the tests in the background ignores SIGINT, and nohup SIGHUP. What the tests start would inherit it.
with contextlib.suppress(ValueError):  # not the main thread
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)

settings.register_profile("kafka_lite", deadline=None, print_blob=True)
settings.load_profile("kafka_lite")


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    """A disk that can be filled, for what is written with ``os.pwrite`` and made with ``os.open``."""
    disk = FullDisk()
    monkeypatch.setattr(os, "pwrite", disk.pwrite)
    monkeypatch.setattr(os, "open", disk.open)
    return disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of 24 MB; the test is skipped where it cannot be mounted."""
    with mounted_tmpfs(tmp_path / "disk", "size=24m") as disk:
        yield disk


# Files that take longest begin first, so that no worker is left with one of them when all the others are done.
LONGEST_FIRST = {
    path: place
    for place, path in enumerate(
        [
            "tests/docs/test_site.py",
            "tests/docs/test_labs.py",
            "tests/integration/test_spark_source.py",
            "tests/docs/test_quickstart.py",
            "tests/integration/test_demo.py",
            "tests/integration/test_kazoo_suite.py",
            "tests/jvm/test_groups_outlive_their_broker.py",
            "tests/jvm/test_flights_by_our_producers.py",
            "tests/chaos/test_compaction_crashes.py",
            "tests/integration/test_recorded_runs.py",
            "tests/chaos/test_producer_faults.py",
            "tests/chaos/test_broker_kill_nine.py",
        ]
    )
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests in this order; xdist keeps it with --no-loadscope-reorder."""
    items.sort(key=lambda item: LONGEST_FIRST.get(item.nodeid.partition("::")[0], len(LONGEST_FIRST)))
