"""Many random lives of a group: members that come, change, go, fall silent; a log that fails; brokers that die."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.support.group_machine import GroupMachine

pytestmark = pytest.mark.soak

TestGroup = GroupMachine.TestCase
TestGroup.settings = settings(
    max_examples=int(os.environ.get("KAFKA_LITE_GROUP_LIVES", "300")),
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
