"""A plugin of pytest: several processes of pytest take their files of tests from one queue.

    pytest -p scripts.file_queue --files-from QUEUE …

QUEUE is a file with a path per line. A process takes a line by creating the file ``QUEUE.<number of the line>``, which
only one of them can. It imports that file only, runs its tests, and takes the next line. So each file is imported once,
by the process that runs it, and no process has nothing to do while files are left.

Folders are collected at the beginning, with their fixtures, but no file. The next file is collected before the last
test of a file runs, since pytest has to know which fixtures that test is the last to use: those of the session and of
a common folder stay, those of a module end with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path

import pytest


@dataclass
class _Postponed:
    """The modules that have been found, by file, and not been collected."""

    queue: Path
    modules: dict[Path, pytest.Module] = field(default_factory=dict)
    is_over: bool = False


_POSTPONED = pytest.StashKey[_Postponed]()


def write_queue(queue: Path, files: list[str]) -> None:
    """Make the queue; whatever another run has taken from it is forgotten."""
    for taken in queue.parent.glob(f"{queue.name}.*"):
        taken.unlink()
    queue.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")


def files_to_take(queue: Path) -> Iterator[str]:
    """The files that no other process has taken; each is taken when it is asked for."""
    for number, file in enumerate(queue.read_text(encoding="utf-8").splitlines()):
        with suppress(FileExistsError):
            os.close(os.open(f"{queue}.{number}", os.O_CREAT | os.O_EXCL))
            yield file


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--files-from``."""
    parser.addoption("--files-from", metavar="QUEUE", type=Path, help="a file with the files of tests, one per line")


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest find all files of the queue. The command line must not name any."""
    queue = config.option.files_from
    if queue is not None:
        config.stash[_POSTPONED] = _Postponed(queue)
        config.args[:] = queue.read_text(encoding="utf-8").splitlines()


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> pytest.CollectReport | None:
    """Say of a module that it has no tests until this process takes its file."""
    postponed = collector.config.stash.get(_POSTPONED, None)
    if postponed is None or postponed.is_over or not isinstance(collector, pytest.Module):
        return None
    postponed.modules[collector.path] = collector
    return pytest.CollectReport(collector.nodeid, "passed", longrepr=None, result=[])


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests of each file that this process takes. None leaves it to pytest, if there is no queue."""
    postponed = session.config.stash.get(_POSTPONED, None)
    if postponed is None:
        return None
    if session.testsfailed:
        raise session.Interrupted("errors while folders were collected")
    postponed.is_over = True
    tests: chain[pytest.Item | None] = chain(_tests(session, postponed), [None])
    for item, following in pairwise(tests):
        assert item is not None
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


def _tests(session: pytest.Session, postponed: _Postponed) -> Iterator[pytest.Item]:
    for file in files_to_take(postponed.queue):
        failed = session.testsfailed
        items = list(session.genitems(postponed.modules[Path(file).absolute()]))
        if session.testsfailed > failed:
            raise session.Interrupted(f"{file} could not be collected")
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=items)
        session.testscollected += len(items)
        yield from items
