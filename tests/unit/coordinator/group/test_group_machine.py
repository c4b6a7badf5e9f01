"""A few random lives of a group; tests/chaos plays many more."""

from hypothesis import settings

from tests.support.group_machine import GroupMachine

TestGroup = GroupMachine.TestCase
TestGroup.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
