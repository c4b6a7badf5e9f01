"""For all tests: no time limits by hypothesis, as machines can be slow; children get SIGINT and SIGHUP; full disks."""

import contextlib
import gc
import logging
import os
import random
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from scripts.longest_first import place_of
from tests.support.examples import BY_DEFAULT, examples
from tests.support.full_disk import FullDisk, SmallDisk, mounted_tmpfs
from tests.support.garbage import garbage_of_other_clients_collected

# A shell that runs the tests in the background ignores SIGINT, and nohup SIGHUP. Child processes would inherit it.
with contextlib.suppress(ValueError):  # not the main thread
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)

settings.register_profile(
    "kafka_lite",
    max_examples=examples(BY_DEFAULT),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("kafka_lite")

pytest_plugins = ["tests.support.time_limits"]


@pytest.fixture(autouse=True)
def seeded_random(request: pytest.FixtureRequest) -> None:
    """A test that draws from ``random`` draws the same numbers in every run."""
    random.seed(request.node.nodeid)


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A tool that configures logging in the process of a test does so for this test only.

    Its handler writes to the test's captured stderr, which is closed when the next test logs.
    """
    root, kazoo = logging.getLogger(), logging.getLogger("kazoo")
    handlers, levels = root.handlers[:], (root.level, kazoo.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    kazoo.setLevel(levels[1])


@pytest.fixture(autouse=True, scope="module")
def collect_garbage_of_other_clients(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each module that may use another client ends with its garbage; unit tests start no client of others."""
    if "unit" in request.path.parts:
        yield
    else:
        with garbage_of_other_clients_collected():
            yield


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    """A disk that can be filled, for files written with ``os.pwrite`` and created with ``os.open``."""
    disk = FullDisk()
    monkeypatch.setattr(os, "pwrite", disk.pwrite)
    monkeypatch.setattr(os, "open", disk.open)
    return disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of 24 MB; the test is skipped where it cannot be mounted."""
    with mounted_tmpfs(tmp_path / "disk", "size=24m") as disk:
        yield disk


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep the garbage collector away from thousands of collected tests, and let it come less often.

    Otherwise it goes through all of them again and again: a fifth of the unit tests' processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each worker of xdist begin to collect at another place.

    In a fresh clone all would otherwise compile the same module at the same time. This way most of the modules that a
    worker comes to have been compiled and cached by another one.
    """
    report = yield
    if isinstance(collector, pytest.Directory | pytest.Session) and report.passed:
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        start = len(report.result) * worker // workers
        report.result = [*report.result[start:], *report.result[:start]]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files, the longest first, for all workers alike; xdist keeps this order with --no-loadscope-reorder."""
    items.sort(key=lambda item: place_of(file_of(item)))


def file_of(item: pytest.Item) -> str:
    """The test's file as its node id has it."""
    return item.nodeid.partition("::")[0]
