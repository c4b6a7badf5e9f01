"""Several answers to labs about one module become one module."""

from __future__ import annotations

import pytest

from kafka_learn.labs.own.merging import Answer, Merged, merge

SHIPPED = '''"""A module."""

import os

LIMIT = 3


class Log:
    """A log."""

    SIZE = 4

    def __init__(self):
        self.end = 0

    def append(self, value):
        """Add."""
        self.end += 1

    @property
    def empty(self):
        return self.end == 0


def read(log):
    return log.end
'''

PROPERTY = """

class Pair:
    @property
    def x(self):
        return 1

    @x.setter
    def x(self, x):
        pass
"""


def answer(lab: str, *changes: tuple[str, str], written: str = "", left_out: str = "") -> Answer:
    source = SHIPPED
    for before, after in changes:
        assert source.count(before) == 1
        source = source.replace(before, after)
    return Answer(lab, source, frozenset(written.split()), frozenset(left_out.split()))


def run(merged: Merged) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(merged.source, "merged", "exec"), names)
    return names


def test_functions_of_several_labs_meet_in_one_module() -> None:
    one = answer("one", ("self.end += 1", "self.end += 10"), written="Log.append")
    two = answer("two", ("return log.end", "return -log.end"), written="read")
    merged = merge(SHIPPED, [one, two])
    assert merged.functions == {"Log.append": "one", "read": "two"}
    assert merged.source == SHIPPED.replace("+= 1", "+= 10").replace("return log.end", "return -log.end")
    assert merged.conflicts == ()


def test_the_shipped_module_stays_as_it_is_but_for_what_is_written() -> None:
    same = answer("one", written="read")
    assert merge(SHIPPED, [same]).source == SHIPPED
    assert merge(SHIPPED, [same]).functions == {"read": "one"}, "one may write what is shipped"


def test_a_function_that_is_left_out_is_the_shipped_one() -> None:
    open_task = ("return log.end", 'raise NotImplementedError("your task 2: read")')
    merged = merge(SHIPPED, [answer("one", open_task, ("+= 1", "+= 2"), written="Log.append", left_out="read")])
    assert merged.source == SHIPPED.replace("+= 1", "+= 2")


def test_helpers_come_along_in_their_places() -> None:
    helped = answer(
        "one",
        ("import os\n", "import bisect\nimport os\nimport struct\n"),
        ("LIMIT = 3\n", "LIMIT = 3\nHALF = LIMIT // 2\n"),
        ("        self.end = 0\n", "        self.end = 0\n        self.sizes = []\n"),
        ("        self.end += 1\n", "        self._count()\n\n    def _count(self):\n        self.end += HALF + 6\n"),
        ("def read(log):\n", "def twice(end):\n    return 2 * end\n\n\ndef read(log):\n"),
        ("return log.end", "return twice(log.end)\n\n\ndef last():\n    return struct.calcsize('q')"),
        written="Log.append read",
    )
    names = run(merge(SHIPPED, [helped]))
    log = names["Log"]()  # type: ignore[operator]
    log.append(1)
    assert (names["read"](log), names["last"](), log.sizes, log.empty) == (14, 8, [], False)  # type: ignore[operator]


def test_what_is_new_in_two_answers_is_taken_from_both() -> None:
    new = [("return log.end", f"return log.end\n\n\ndef {name}():\n    return '{name}'") for name in ("a", "b")]
    source = merge(SHIPPED, [answer("one", new[0], written="read"), answer("two", new[1], written="Log.append")]).source
    assert source == f"{SHIPPED}\n\ndef a():\n    return 'a'\n\n\ndef b():\n    return 'b'\n"


def test_the_lab_that_asks_for_a_function_has_the_last_word() -> None:
    meddling = answer("one", ("return log.end", "return 1"), ("+= 1", "+= 5"), written="Log.append")
    asking = answer("two", ("return log.end", "return 2"), written="read")
    for answers in ([meddling, asking], [asking, meddling]):
        merged = merge(SHIPPED, answers)
        assert run(merged)["read"](None) == 2  # type: ignore[operator]
        assert merged.conflicts == ("read is different in two and in one: that of two is taken",)


def test_two_versions_of_a_helper_are_said() -> None:
    versions = [("LIMIT = 3", f"LIMIT = {limit}") for limit in (4, 5)]
    answers = [
        answer("one", versions[0], written="read"),
        answer("two", versions[1], written="Log.append"),
        answer("three", versions[0]),
    ]
    merged = merge(SHIPPED, answers)
    assert run(merged)["LIMIT"] == 4
    assert merged.conflicts == ("LIMIT is different in one and in two: that of one is taken",)


def test_properties_and_their_setters_are_told_apart() -> None:
    shipped = SHIPPED + PROPERTY
    changed = Answer("one", shipped.replace("        pass", "        self.y = x"), frozenset({"read"}))
    assert merge(shipped, [changed]).source == changed.source


def test_a_file_that_python_cannot_read_is_no_answer() -> None:
    with pytest.raises(SyntaxError):
        merge(SHIPPED, [Answer("one", "def read(:", frozenset({"read"}))])
