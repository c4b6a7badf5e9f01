"""A writer over a store whose writes end when the test says so."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter

A, B = {"file": "a"}, {"file": "b"}


class HeldStore:
    """Keeps each ``set``. ``end(n)`` ends the n-th one."""

    def __init__(self):
        self.sets = []

    def set(self, values, callback=None):
        future = Future()
        self.sets.append(SimpleNamespace(values=dict(values), callback=callback, future=future))
        return future

    def end(self, number, error=None):
        held = self.sets[number]
        held.callback(error)
        held.future.set_result(None) if error is None else held.future.set_exception(error)

    def texts(self, number=-1):
        """The offsets of one set, as ``{"a": 5}``."""
        return {
            key.decode().split('"')[-2]: int(value.decode().split(":")[1][:-1])
            for key, value in self.sets[number].values.items()
        }


@pytest.fixture
def converter():
    made = JsonConverter()
    made.configure({"schemas.enable": "false"}, is_key=False)
    return made


@pytest.fixture
def store():
    return HeldStore()


@pytest.fixture
def writer(store, converter):
    """Of the connector ``x``. Its task and its committer use it at the same time."""
    made = OffsetStorageWriter(store, "x", converter, converter)
    methods = ["offset", "begin_flush", "_finish", "do_flush"]
    with touched_only_with(made, "_lock", state=("_data", "_to_flush", "_flush_id"), within=methods):
        yield made


@pytest.fixture
def heard():
    """The outcomes that the callback of ``do_flush`` got."""
    return []
