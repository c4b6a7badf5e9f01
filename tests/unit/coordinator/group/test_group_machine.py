"""A few random histories of a group. tests/chaos runs many more."""

from hypothesis import settings

from tests.support.examples import examples
from tests.support.group_machine import GroupMachine

TestGroup = GroupMachine.TestCase
TestGroup.settings = settings(max_examples=examples(25), stateful_step_count=30, deadline=None)
