"""The workaround for joins that kafka-python forgets. The simulator runs it on kafka-python's own consumer."""

from types import SimpleNamespace

import pytest

from kafka_lite.testing.kafka_python_joins import await_pending_joins


@pytest.mark.parametrize(
    ("join_task", "needed", "expected"),
    [(None, False, False), (None, True, True), ("in flight", False, True), ("in flight", True, True)],
)
def test_a_join_in_flight_is_gone_on_with(join_task, needed, expected):
    consumer = SimpleNamespace(_coordinator=SimpleNamespace(_join_task=None, need_rejoin=lambda: needed))
    await_pending_joins(consumer)
    consumer._coordinator._join_task = join_task
    assert consumer._coordinator.need_rejoin() is expected
