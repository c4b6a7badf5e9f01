"""A store over a log that keeps what is sent, and reports of two workers."""

from types import SimpleNamespace

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus
from kafka_lite.connect.runtime.storage.kafka_status_backing_store import KafkaStatusBackingStore

TASK = ConnectorTaskId("x", 0)


class HeldLog:
    """Keeps records. ``end(n, error)`` ends the n-th write."""

    def __init__(self):
        self.sent = []

    def send(self, key, value, callback=None):
        self.sent.append(SimpleNamespace(key=key, value=value, callback=callback))

    def end(self, number, error=None):
        self.sent[number].callback(None, error)


def report(state, worker, generation, of=TASK):
    """A status of task x-0, or of another id."""
    kind = TaskStatus if isinstance(of, ConnectorTaskId) else ConnectorStatus
    return kind(of, State[state], worker, generation)


class Statuses:
    """``store`` and its ``log``; ``know(status)`` is what the store has read."""

    def __init__(self):
        converter = JsonConverter()
        converter.configure({"schemas.enable": "false"}, is_key=False)
        self.log = HeldLog()
        self.store = KafkaStatusBackingStore("statuses", converter, lambda _consumed: self.log)
        self.again = ApiError(Errors.REQUEST_TIMED_OUT)
        self.never = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)

    def watch_entries(self):
        """The entries that the store makes from now on fail a test that touches them without the store's lock."""
        from kafka_lite.connect.runtime.storage.kafka_status_backing_store import _CacheEntry

        store = self.store

        class Entry(_CacheEntry):
            def __getattribute__(self, name):
                if name in ("sequence", "value", "deleted") and not store._lock.is_held():
                    pytest.fail(
                        f"the entry's {name} is read without self._lock, while another thread may change it: keep what "
                        "you need in a local name before you release the lock"
                    )
                return super().__getattribute__(name)

        class Entries(dict):
            def setdefault(self, of, _entry):
                return super().setdefault(of, Entry())

        with store._lock:
            store._entries = Entries()

    def know(self, status):
        from kafka_lite.connect.runtime.storage.kafka_status_backing_store import _CacheEntry

        self.store._entries.setdefault(status.id, _CacheEntry()).value = status

    def states(self):
        """The states that were sent, ``-`` for a tombstone."""
        return [each.value.decode().split('"')[3] if each.value is not None else "-" for each in self.log.sent]


@pytest.fixture
def statuses():
    made = Statuses()
    methods = ["_send", "_is_still_wanted", "_remove"]
    with touched_only_with(made.store, "_lock", state=("_entries", "_generation"), within=methods):
        yield made


@pytest.fixture(name="report")
def reports():
    """``report("RUNNING", "A", 4)``: a status of task x-0 by worker A in generation 4."""
    return report
