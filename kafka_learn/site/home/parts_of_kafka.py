"""The parts of Kafka as the home page shows them: names, sections of the book, and whether they are there.

A part is there if each class that its sections discuss has its place here, as ``chapters/classes.toml`` says. So a
part whose classes arrive changes in the picture by itself, and none is forgotten in a list.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.repository_markdown import site_page
from kafka_lite.book.book_classes import BookClass, load_book_classes
from kafka_lite.book.contents import Book, load_book

NOT_YET = ": not yet"
"""The end of a reason in ``classes.toml`` that calls a class missing, rather than needless."""
CONTENTS = "book/index.md"


class Presence(Enum):
    """Whether a part is there: all of its classes, some, or none."""

    HERE = "here"
    PARTLY = "partly"
    NOT_YET = "not yet"


@dataclass(frozen=True)
class Part:
    """A part of Kafka: its name in both languages, and the sections of the book about it, with all below them."""

    en: str
    zh: str
    sections: tuple[str, ...]

    def name(self, language: str) -> str:
        """The name in a language."""
        return self.zh if language == "zh" else self.en

    def has(self, section: str) -> bool:
        """Whether a section of the book is about it."""
        return any(f"{section}.".startswith(f"{part}.") for part in self.sections)

    def presence(self, classes: Iterable[BookClass]) -> Presence:
        """Whether the classes that its sections discuss are there.

        A reason that names no chapter, such as SASL, is a part of Kafka by itself: producers are there without it.
        """
        missing = [_is_missing(each.reason) for each in classes if any(map(self.has, each.sections))]
        if not any(missing):
            return Presence.HERE
        return Presence.NOT_YET if all(missing) else Presence.PARTLY

    def page(self, book: Book) -> str:
        """The page of the site's source tree about it: of its first section that has a text, else the contents."""
        texts = [s.page for s in book.every_section if self.has(s.number) and s.page]
        page = site_page(texts[0]) if texts else None
        return CONTENTS if page is None else page.as_posix()


def _is_missing(reason: str) -> bool:
    return reason.startswith("chapter ") and reason.endswith(NOT_YET)


@dataclass(frozen=True)
class Group:
    """Parts that stand together: rows of parts under a title. ``side`` is where they stand in a wide picture."""

    en: str
    zh: str
    side: str
    rows: tuple[tuple[Part, ...], ...]

    def title(self, language: str) -> str:
        """The title in a language."""
        return self.zh if language == "zh" else self.en


def _part(en: str, zh: str, *sections: str) -> Part:
    return Part(en, zh, sections)


GROUPS = (
    Group(
        "writes",
        "写入",
        "left",
        (
            (_part("Producer", "生产者", "2.1"),),
            (_part("Old producer", "旧生产者", "2.2"),),
            (_part("Connect: sources", "Connect：输入", "8.3"),),
            (_part("MirrorMaker", "MirrorMaker", "8.1"),),
            (_part("uReplicator", "uReplicator", "8.2"),),
        ),
    ),
    Group(
        "broker 1: leader and controller",
        "broker 1：主副本，控制器",
        "middle",
        (
            (
                _part("Network threads", "网络线程", "2.3.1", "2.3.2"),
                _part("RequestChannel", "请求通道", "2.3.3"),
                _part("KafkaApis", "KafkaApis", "2.3.4", "2.3.5"),
            ),
            (
                _part("Groups", "消费组协调者", "5"),
                _part("Transactions", "事务", "10.3"),
                _part("Quotas", "配额", "10.1"),
            ),
            (
                _part("ReplicaManager", "副本管理器", "6.2.1"),
                _part("Partition, ISR", "分区与 ISR", "6.2.2"),
                _part("Purgatory", "延迟缓存", "6.3"),
            ),
            (
                _part("Log segments", "日志分段", "6.1.1", "6.1.2", "6.1.3", "6.1.4"),
                _part("Compaction", "日志压缩", "6.1.6"),
                _part("Timestamps", "时间戳", "10.2"),
            ),
            (
                _part("Controller", "控制器", "7.1"),
                _part("LeaderAndIsr", "LeaderAndIsr", "7.2"),
                _part("Metadata cache", "元数据缓存", "7.3"),
            ),
        ),
    ),
    Group(
        "brokers 2, 3: followers",
        "broker 2、3：备份副本",
        "middle",
        ((_part("Replica fetchers", "副本拉取线程", "6.2.1"),),),
    ),
    Group(
        "ZooKeeper",
        "ZooKeeper",
        "middle",
        ((_part("Elections, state", "选举与集群状态", "7.1.1"),),),
    ),
    Group(
        "reads",
        "读取",
        "right",
        (
            (_part("Consumer group", "消费组", "4"),),
            (_part("Share group", "共享组", "A"),),
            (_part("Old consumers", "旧消费者", "3"),),
            (_part("Streams", "流处理", "9"),),
            (_part("Connect: sinks", "Connect：输出", "8.3"),),
            (_part("Spark: tables", "Spark：主题即表", "T"),),
        ),
    ),
)
"""The picture, group by group; in a narrow picture one below the other in this order."""


@functools.cache
def classes_of_the_book(root: Path = PROJECT_ROOT) -> tuple[BookClass, ...]:
    """The classes that the book discusses."""
    return tuple(load_book_classes(root / "chapters" / "classes.toml"))


@functools.cache
def the_book(root: Path = PROJECT_ROOT) -> Book:
    """The table of contents."""
    return load_book(root / "chapters" / "book.toml")
