"""After any history of a compacted log, with crashes anywhere, the newest value of every key is there."""

from __future__ import annotations

from hypothesis import settings

from tests.support.compaction_machine import CompactionMachine
from tests.support.examples import examples

CompactionMachine.TestCase.settings = settings(max_examples=examples(30), stateful_step_count=25, deadline=None)
TestCompactionModel = CompactionMachine.TestCase
