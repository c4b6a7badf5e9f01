"""A topic to which a test applies records, and what they make of it."""

import pytest

from kafka_lite.connect.runtime.storage.config_topic import ConfigTopic


class Applied:
    """``put(key, value)`` applies the next record; ``tasks()`` are the configurations of connector x that count."""

    def __init__(self):
        self.topic = ConfigTopic()
        self.offset = 0

    def put(self, key, value):
        change = self.topic.apply(key, value, self.offset)
        self.offset += 1
        return change

    def task(self, number, text):
        return self.put(f"task-x-{number}", {"properties": {"does": text}})

    def commit(self, count):
        return self.put("commit-x", {"tasks": count})

    def state(self):
        return self.topic.snapshot()

    def tasks(self):
        state = self.state()
        return {task.task: state.task_config(task)["does"] for task in state.tasks("x")}


@pytest.fixture
def applied():
    """A topic with a connector x."""
    made = Applied()
    made.topic._connector_configs["x"] = {"name": "x"}
    return made
