"""The kinds of wrong answer that are made from a function."""

import ast

import pytest

from tests.support.stranger_rules import RULES

FUNCTION = '''
def take(self, limit, *, all_of_them: bool) -> int | None:
    """Takes some."""
    with self._lock:
        if limit < 0 and not all_of_them:
            return None
        for item in self.items:
            if item is None:
                break
            self.taken.append(item)
        try:
            self.count += 1
            self.close()
        except OSError:
            pass
        copied = list(self.taken)
    return len(copied)
'''
MADE = {
    "no lock": ["-    with self._lock:"],
    "swapped": ["self.close()\n        self.count += 1"],
    "off by one": ["limit <= 0"],
    "only the first": ["in list(self.items)[:1]"],
    "every error": ["except BaseException"],
    "narrow lock": ["        copied = list(self.taken)\n    return"],
    "more errors": [
        "except Exception as _error:\n            if isinstance(_error, MemoryError):\n                raise"
    ],
    "shared": ["copied = self.taken"],
    "ignored": ["all_of_them = False"],
    "one condition less": ["if limit < 0 and limit < 0", "if not all_of_them and (not all_of_them)"],
}


def made(kind):
    texts = []
    number = len(list(RULES[kind](ast.parse(FUNCTION).body[0])))
    for at in range(number):
        node = ast.parse(FUNCTION).body[0]
        _, change = list(RULES[kind](node))[at]
        change()
        texts.append(ast.unparse(ast.fix_missing_locations(node)))
    return texts


@pytest.mark.parametrize("kind", MADE)
def test_each_kind_changes_one_place(kind):
    texts = made(kind)
    for words in MADE[kind]:
        if words.startswith("-"):
            assert [text for text in texts if words[1:].strip() not in text], texts
        else:
            lines = [line.strip() for line in words.splitlines()]
            assert any("\n".join(lines) in "\n".join(map(str.strip, text.splitlines())) for text in texts), texts


def test_calls_and_changes_are_left_out_one_by_one():
    assert len(made("left out")) == 3
    assert sum("self.count" not in text for text in made("left out")) == 1


def test_early_exits_are_left_out():
    assert ["break" in text for text in made("no early exit")].count(False) == 1
    assert ["return None" in text for text in made("no early exit")].count(False) == 1


def test_the_whole_function_may_be_a_constant():
    assert [text.splitlines()[-1].strip() for text in made("constant")] == ["return 0", "return -1", "return None"]


def narrowed(*lines):
    """What becomes of a lock's block."""
    node = ast.parse("\n    ".join(["def take(self):", *lines])).body[0]
    found = []
    for at in range(len(list(RULES["narrow lock"](node)))):
        changed = ast.parse(ast.unparse(node)).body[0]
        list(RULES["narrow lock"](changed))[at][1]()
        found.append(ast.unparse(ast.fix_missing_locations(changed)).splitlines()[1:])
    return found


def test_a_lock_is_taken_late_or_released_early():
    assert narrowed("with self.lock:", "    self.a = 1", "    self.b = 2") == [
        ["    self.a = 1", "    with self.lock:", "        self.b = 2"],
        ["    with self.lock:", "        self.a = 1", "    self.b = 2"],
    ]
    assert narrowed("with self.lock:", "    if self.a:", "        self.b = 2") == [
        ["    if self.a:", "        with self.lock:", "            self.b = 2"]
    ]
    assert narrowed("with self.lock:", "    found = []", "    self.a = found", "    return found") == []


def swaps(*lines):
    return len(list(RULES["swapped"](ast.parse("\n    ".join(["def take(self):", *lines])).body[0])))


def test_statements_whose_order_cannot_matter_are_not_swapped():
    assert swaps("found: list[int] = []", "size = 0") == 0
    assert swaps("size = 0", "found = self.find()") == 0
    assert swaps("each, rest = divmod(count, len(members))", "shares = {member: [] for member in members}") == 0
    assert swaps("first = self.first()", "second = self.second()") == 1
    assert swaps("self.size = 0", "found = self.find()") == 1
    assert swaps("item = self.items[0]", "self.close()") == 1


def test_log_lines_are_neither_swapped_nor_left_out():
    assert swaps("self.close()", "logger.info('closed')") == 0
    assert list(RULES["left out"](ast.parse("def take(self):\n    logger.info('closed')").body[0])) == []
