import re

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.badges import Whose, badge, badge_of_module, cells, whose, with_badges

PAGES = sorted(path for path in PROJECT_ROOT.glob("chapters/*/*.md") if ".zh." not in path.name)
TABLE = """\
# Title

| | Kafka 0.10.2 | here | why |
|---|---|---|---|
| Locks | two | one | Enough. |
| Order | no | numbers `a | b` | KIP-98. |
| Retries | 3 | the same | |

| word | Kafka 0.10.2 |
|---|---|
| a | b |
"""


def kinds(text: str) -> list[str]:
    """The kinds of the badges on a page, in order."""
    return re.findall(r'class="badge badge--(\w+)"', text)


def test_each_row_of_the_differences_says_whose_it_is() -> None:
    text = with_badges(TABLE, "en")
    assert kinds(text) == ["ours", "today", "book"]
    assert f"| Locks | two | {badge(Whose.OURS, 'en')} one | Enough. |\n" in text
    assert f"| Order | no | {badge(Whose.TODAYS, 'en')} numbers `a | b` | KIP-98. |\n" in text


def test_a_table_may_have_a_column_for_0_9_or_none_for_0_10() -> None:
    head = "| | Kafka 0.9 (the book) | Kafka 0.10.2 | here | why |\n|---|---|---|---|---|\n"
    old = head + "| Sent by | a task | a thread | a thread | KIP-62 |"
    assert kinds(with_badges(old, "en")) == ["book"]
    assert "| a thread | <span" in with_badges(old, "en")
    new = "| | Kafka | 这里 | 为什么 |\n|---|---|---|---|\n| 错误 | 异常类 | 三个类 | 调用者要选。 |"
    assert kinds(with_badges(new, "zh")) == ["ours"]


def test_other_tables_and_the_text_stay() -> None:
    without = re.sub(r"<span[^>]*>[^<]*</span> ", "", with_badges(TABLE, "en"))
    assert without == TABLE.replace("| the same | |", "| the same |  |")


@pytest.mark.parametrize(
    ("here", "why", "expected"),
    [
        ("the same", "KIP-144 changed it later.", Whose.OF_THE_BOOK),
        ("相同", "", Whose.OF_THE_BOOK),
        ("the same plus a number", "", Whose.OURS),
        ("by leader epoch", "KIP-101, KIP-279.", Whose.TODAYS),
        ("sticky (KIP-480, Kafka 2.4)", "Full batches.", Whose.TODAYS),
        ("retried", "Since 2.0: brokers' metadata lags behind.", Whose.TODAYS),
        ("重试", "从 2.0 开始：broker 的元数据有时滞后。", Whose.TODAYS),
        ("one", "See above. (Fixed in 0.11.)", Whose.TODAYS),
        ("起初最多 1 MiB，之后来多少给多少", "见 [2.3.2](socket-server.zh.md)。", Whose.OURS),
        ("go on", "At most one entry in 1.3 million equals the key.", Whose.OURS),
        ("the same data", "The types of Scala 2.10 collections made it long.", Whose.OURS),
    ],
)
def test_a_row_names_the_version_that_does_as_we_do(here: str, why: str, expected: Whose) -> None:
    assert whose(here, why) is expected


def test_what_is_as_there_is_of_the_book_whatever_came_later() -> None:
    assert whose("none", "KRaft came in 2.8.", there="none") is Whose.OF_THE_BOOK
    assert whose("none", "KRaft came in 2.8.", there="one") is Whose.OURS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_languages_of_a_page_have_the_same_badges(page) -> None:
    english, chinese = (path.read_text(encoding="utf-8") for path in (page, page.with_suffix(".zh.md")))
    assert kinds(with_badges(english, "en")) == kinds(with_badges(chinese, "zh"))


def test_code_has_the_badge_of_the_version_that_has_its_class() -> None:
    of_the_book = badge_of_module("The map.\n\nKafka 0.10.2: core/.../log/OffsetMap.scala · book 6.1.6\n", "en")
    assert kinds(of_the_book) == ["book"]
    assert 'title="Kafka 0.10.2: core/.../log/OffsetMap.scala"' in of_the_book
    later = badge_of_module("It.\n\nKafka 2.4: core/.../common/RecordValidationException.scala · book 6.1.2", "zh")
    assert kinds(later) == ["today"]
    assert ">今天<" in later
    assert kinds(badge_of_module("Nothing of Kafka's.", "en")) == ["ours"]
    assert badge_of_module("A node.\n\nZooKeeper 3.8: zookeeper/.../DataNode.java · book 7.1.1", "en") == ""


def test_a_bar_in_code_or_after_a_backslash_is_no_border() -> None:
    assert cells("| `a | b` | c \\| d | |") == ["`a | b`", "c \\| d", ""]
