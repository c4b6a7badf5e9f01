"""Many random histories of a group: members join, change, leave and go silent; the log fails; brokers die."""

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
