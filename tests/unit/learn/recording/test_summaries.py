"""Values in a few words."""

from enum import Enum

from kafka_learn.recording.summaries import summary


class Color(Enum):
    RED = 1
    GREEN = 2


class Store:
    """Has methods of all kinds."""

    def __init__(self):
        self.rows = []
        self.state = Color.RED

    def put(self, row, position=0):
        self.check(row)
        self.rows.append(row)
        return len(self.rows)

    def check(self, row):
        if row == b"bad":
            raise ValueError(row)

    @classmethod
    def new(cls, size):
        return cls()

    @staticmethod
    def twice(number):
        return 2 * number


def test_values_are_summarised_in_a_few_words():
    assert summary(b"abc") == "3 bytes"
    assert summary({"t-0": b"abc", "t-1": memoryview(b"x"), "t-2": 0}) == "{t-0: 3 bytes, t-1: 1 bytes, …}"
    assert summary((1, Store())) == "[1, Store]"
    assert summary(Color.RED) == "RED"
    assert summary("x" * 100) == "x" * 59 + "…"
    assert summary(object()) is None
