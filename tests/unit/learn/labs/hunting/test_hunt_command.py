"""The verb ``labs hunt``, and the races that it finds in real processes: each removed lock within a stated number."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.hunting import hunt_command
from kafka_learn.labs.hunting.hunt_command import HuntFailedError, hunted
from kafka_learn.labs.hunting.hunt_world import Found, Step
from kafka_learn.labs.hunting.hunts import HUNTS
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.source import module_path

PARTITION = "kafka_lite.cluster.partition"
PURGATORY = "kafka_lite.common.purgatory.delayed_operation"
ACCUMULATOR = "kafka_lite.producer.record_accumulator"
LOCK = "with self._lock:"
RACES = [
    ("ch06-high-watermark", PARTITION, "def update_follower_log_end_offset", LOCK, "if True:", 100),
    ("ch06-high-watermark", PARTITION, "def maybe_shrink_isr", LOCK, "if True:", 100),
    ("ch06-purgatory", PURGATORY, "def force_complete", "not self._completion.acquire(blocking=False)",
     "self._completion.locked()", 40),
    ("ch06-purgatory", PURGATORY, "def safe_try_complete", "                self._check_again = True",
     "                return False", 200),
    ("ch06-purgatory", PURGATORY, "def purge_completed", LOCK, "if True:", 100),
    ("ch02-record-accumulator", ACCUMULATOR, "def _append_to_new_batch", LOCK, "if True:", 100),
    ("ch02-record-accumulator", ACCUMULATOR, "def _drain_node", LOCK, "if True:", 100),
    ("ch10-last-stable-offset", "kafka_lite.log.log", "def last_stable_offset",
     "        if first_unstable is None:",
     "        first_unstable = self.producer_state.transactions.first_unstable_offset(high_watermark)\n"
     "        if transactions.first_unstable_offset(high_watermark) is None:", 100),
    ("ch10-read-committed", "kafka_lite.log.producers.open_transactions", "def after",
     "        return OpenTransactions(unended, (*self.ended, *in_order)), aborted",
     "        changed = OpenTransactions(unended)\n        for name in ('_first_unended', 'is_empty', 'unended'):\n"
     "            setattr(self, name, getattr(changed, name))\n        self.ended = (*self.ended, *in_order)\n"
     "        self.is_empty = not self.unended and not self.ended\n        return self, aborted", 100),
]  # fmt: skip
"""Lab, module, function, what is in it, what takes its place, and within how many seeds that is found."""
QUICK = (0, 2)
"""The others are for the soak: each is two processes with a second or two of their own."""


def files_of(lab: str) -> dict[str, Path]:
    return {module: module_path(module) for module in find_lab(lab).modules}


@pytest.mark.parametrize(
    ("lab", "module", "function", "before", "after", "seeds"),
    [pytest.param(*race, marks=[] if number in QUICK else pytest.mark.soak) for number, race in enumerate(RACES)],
)
def test_a_removed_lock_is_found(
    lab: str, module: str, function: str, before: str, after: str, seeds: int, tmp_path: Path
) -> None:
    head, name, body = module_path(module).read_text(encoding="utf-8").partition(function)
    assert before in body
    mine = tmp_path / f"{module.rpartition('.')[2]}.py"
    mine.write_text(head + name + body.replace(before, after, 1), encoding="utf-8")
    found = hunted(HUNTS[lab], {**files_of(lab), module: mine}, range(1, seeds + 1))
    assert found is not None
    assert found.broken
    assert {Path(step.file).name for step in found.steps} >= {mine.name}
    assert len({step.thread for step in found.steps}) > 1
    again = hunted(HUNTS[lab], {**files_of(lab), module: mine}, range(found.seed, found.seed + 1))
    assert again == found, "a seed is the same run, each time"


@pytest.mark.soak
@pytest.mark.parametrize("lab", list(HUNTS))
def test_the_shipped_code_keeps_its_promises(lab: str) -> None:
    assert hunted(HUNTS[lab], files_of(lab), range(1, 41)) is None


def test_code_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    mine = tmp_path / "delayed_operation.py"
    mine.write_text("def broken(:\n")
    with pytest.raises(HuntFailedError, match="invalid syntax"):
        hunted(HUNTS["ch06-purgatory"], {PURGATORY: mine}, range(1, 2))
    mine.write_text("import nowhere\n")
    with pytest.raises(HuntFailedError, match="No module named 'nowhere'"):
        hunted(HUNTS["ch06-purgatory"], {PURGATORY: mine}, range(1, 2))
    with pytest.raises(HuntFailedError, match="not done after"):
        hunted(HUNTS["ch06-purgatory"], {}, range(1, 2), run=lambda *_: (None, ""))


Labs = Callable[..., tuple[int, str]]


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Labs:
    """``labs("hunt", …)``: the result of the command, and its output."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: str) -> tuple[int, str]:
        parser = argparse.ArgumentParser(prog="labs")
        add_arguments(parser)
        result = run(parser.parse_args(arguments))
        captured = capsys.readouterr()
        return result, captured.out + captured.err

    return call


def test_the_verb_shows_the_seed_and_the_last_steps(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    LabWorkspace(find_lab("ch06-purgatory")).start()
    file = str(module_path(PURGATORY))
    asked = list[range]()

    def hunt(_hunt: object, _files: object, seeds: range) -> Found | None:
        asked.append(seeds)
        return Found(7, "a lost wake-up", (Step("handler_1", file, 9), Step("reaper", file, 9)))

    monkeypatch.setattr(hunt_command, "hunted", hunt)
    code, text = labs("hunt", "ch06-purgatory", "--seeds", "30")
    assert code == 1
    assert "Seed 7: a lost wake-up" in text
    assert "1 handler_1" in text
    assert "labs hunt ch06-purgatory --seed 7" in text
    assert "种子 7" in labs("hunt", "ch06-purgatory", "--seed", "7", "--zh")[1]
    assert asked == [range(1, 31), range(7, 8)]


def test_nothing_found_and_no_hunt(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    LabWorkspace(find_lab("ch06-purgatory")).start()
    monkeypatch.setattr(hunt_command, "hunted", lambda *_: None)
    code, text = labs("hunt", "ch06-purgatory", "--seeds", "3")
    assert (code, "3 seeds, and every promise was kept." in text) == (0, True)
    code, text = labs("hunt", "ch07-reassignment")
    assert code == 2
    assert "ch06-purgatory" in text
