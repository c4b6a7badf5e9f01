"""The home page's picture of Kafka, in either language."""

from __future__ import annotations

from kafka_learn.drawing.kafka_picture import KafkaPicture, Panel, Tile
from kafka_learn.drawing.svg import PALETTE
from kafka_learn.site.home.parts_of_kafka import GROUPS, Group, Part, classes_of_the_book, the_book

_WORDS = {
    "here": ("there", "已实现"),
    "partly": ("partly there", "部分实现"),
    "not yet": ("not there yet", "尚未实现"),
    "label": (
        "Kafka: producers, Connect and mirrors write to a broker, consumers, Streams and Spark read from it. "
        "Other brokers fetch from it, and its controller is elected in ZooKeeper. Each part leads to its page.",
        "Kafka：生产者、Connect 和镜像向 broker 写入，消费者、流处理和 Spark 从它读取；其他 broker 从它复制，"
        "控制器由 ZooKeeper 选出。每个部分都链接到讲它的页面。",
    ),
    "section": ("{}, section {}: {}", "{}，第 {} 节：{}"),
}
_CALLS = (("Produce", "生产"), ("Fetch", "拉取"), ("Fetch: replicas", "拉取：复制"), ("elections", "选举、监听"))
_COLOURS = (PALETTE[1], PALETTE[0], PALETTE[0], PALETTE[5], PALETTE[2])


def kafka(language: str) -> str:
    """Both drawings of the picture; the style sheet shows the one that fits the screen."""
    drawn = picture(language)
    return (
        f'<div class="kafka-picture">\n<div class="wide">\n{drawn.wide()}\n</div>\n'
        f'<div class="narrow">\n{drawn.narrow()}\n</div>\n</div>'
    )


def picture(language: str) -> KafkaPicture:
    """The picture in a language, with links from the root of that language's site."""
    is_chinese = language == "zh"
    writes, broker, followers, zookeeper, reads = (
        _panel(group, colour, language) for group, colour in zip(GROUPS, _COLOURS, strict=True)
    )
    produce, fetch, replicate, elect = (words[is_chinese] for words in _CALLS)
    legend = tuple((presence, _WORDS[presence][is_chinese]) for presence in ("here", "partly", "not yet"))
    return KafkaPicture(
        writes,
        broker,
        followers,
        zookeeper,
        reads,
        calls=(produce, fetch, replicate, elect),
        legend=legend,
        label=_WORDS["label"][is_chinese],
    )


def _panel(group: Group, colour: str, language: str) -> Panel:
    rows = tuple(tuple(_tile(part, language) for part in row) for row in group.rows)
    return Panel(group.title(language), rows, colour)


def _tile(part: Part, language: str) -> Tile:
    presence = part.presence(classes_of_the_book()).value
    name, number = part.name(language), part.sections[0]
    title = _WORDS["section"][language == "zh"].format(name, number, _WORDS[presence][language == "zh"])
    return Tile(name, number, address(part.page(the_book())), presence, title)


def address(page: str) -> str:
    """The address of a page, from the root of its language's site.

    >>> address("book/ch06_storage/reading.md"), address("book/index.md")
    ('book/ch06_storage/reading/', 'book/')
    """
    return page.removesuffix(".md").removesuffix("index").rstrip("/") + "/"
