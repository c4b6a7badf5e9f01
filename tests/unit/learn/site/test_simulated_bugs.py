"""The table of bugs that the simulator finds has words for each bug, and rows of known bugs only."""

from __future__ import annotations

import json

from kafka_learn.site.simulated_bugs import BUGS, RESULTS, table
from scripts.simulated_bugs import ALL, Bug, row
from tests.support import broken_brokers, broken_groups, broken_helix, broken_mirror, broken_transactions

NAMES = [bug.name for bug in ALL]


def test_every_bug_is_a_program_and_has_words_in_both_languages() -> None:
    assert list(BUGS) == NAMES
    broken = (broken_brokers, broken_groups, broken_helix, broken_mirror, broken_transactions)
    modules = {module.__name__: module for module in broken}
    for bug in ALL:
        module, _, function = bug.program.partition(":")
        assert callable(getattr(modules[module], function))
    assert all(english and chinese for english, chinese in BUGS.values())


def test_every_recorded_row_is_in_the_table_in_both_languages() -> None:
    recorded = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert recorded
    assert [each["bug"] for each in recorded] == [name for name in NAMES if name in {r["bug"] for r in recorded}]
    assert len(table("en").splitlines()) == len(table("zh").splitlines()) == len(recorded) + 2


def test_a_bug_that_no_seed_found_says_how_many_were_tried() -> None:
    missed = row(Bug("without_fsync"), None, most=40)
    assert (missed.seeds, missed.found) == (40, [])
