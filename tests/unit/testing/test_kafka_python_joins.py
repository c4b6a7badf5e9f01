"""The workaround for joins that kafka-python forgets. The simulator runs it on kafka-python's own consumer."""

from types import SimpleNamespace

import pytest

from kafka_lite.testing.kafka_python_joins import await_pending_joins


@pytest.mark.parametrize(
    ("rejoining", "needed", "expected"),
    [(False, False, False), (False, True, True), (True, False, True), (True, True, True)],
)
@pytest.mark.parametrize("join_task", ["in flight", None], ids=["in-flight", "failed"])
def test_a_join_that_has_begun_is_gone_on_with(rejoining, needed, expected, join_task):
    coordinator = SimpleNamespace(_join_task=None, rejoining=False, need_rejoin=lambda: needed)
    await_pending_joins(SimpleNamespace(_coordinator=coordinator))
    coordinator.rejoining = rejoining
    coordinator._join_task = join_task if rejoining else None
    assert coordinator.need_rejoin() is expected
