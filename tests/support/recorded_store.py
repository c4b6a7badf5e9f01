"""A class whose calls and states can be recorded."""

from enum import Enum


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
