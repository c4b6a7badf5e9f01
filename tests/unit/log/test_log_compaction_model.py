"""Whatever happens to a compacted log, and wherever it crashes: the newest value of every key is there."""

from __future__ import annotations

from hypothesis import settings

from tests.support.compaction_machine import CompactionMachine

CompactionMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestCompactionModel = CompactionMachine.TestCase
