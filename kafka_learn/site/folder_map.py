"""The map of the repository: what each folder holds, in both languages.

The README, CONTRIBUTING and the architecture show it as a table, which ``make pages`` writes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Folder:
    """A folder of the repository, and what it holds."""

    name: str
    en: str
    zh: str


FOLDERS = (
    Folder(
        "kafka_lite/",
        "the broker, the clients and the tools: one package for each part of Kafka. "
        "It imports none of the folders below",
        "broker、客户端和命令行工具：Kafka 的每个部分对应一个包。它不依赖下面的任何目录",
    ),
    Folder(
        "pyspark_kafka_lite/",
        'lets Spark find `format("kafka_lite")`; the source itself is `kafka_lite/spark/`',
        '让 Spark 找到 `format("kafka_lite")`；数据源本身在 `kafka_lite/spark/`',
    ),
    Folder(
        "kafka_learn/",
        "the workshop: `recording/` watches a run, `drawing/` draws it, `labs/` runs and grades labs, "
        "`live/` lets a reader steer a cluster, in a page too, `site/` builds the docs site",
        "教学工具：`recording/` 记录运行过程，`drawing/` 画图，`labs/` 运行实验并评分，"
        "`live/` 让读者操纵一个集群（也可以在网页里），`site/` 生成文档站点",
    ),
    Folder(
        "chapters/",
        "one folder for each chapter of the book: text, notebooks, and in `figures/` the runs and figures "
        "that only it shows. "
        "`book.toml` is the table of contents, `classes.toml` the list of the book's classes",
        "书的每一章一个目录：正文、笔记本，以及 `figures/` 里只有这一章用到的运行实录和图。"
        "`book.toml` 是目录，`classes.toml` 是书中的类",
    ),
    Folder("labs/", "one folder for each graded lab: task, hints, tests", "每个实验一个目录：任务、提示、测试"),
    Folder(
        "examples/",
        "applications on Kafka Streams to start from, and a connector, `csv_source/`; each comes with its test",
        "Kafka Streams 的应用程序和一个连接器（`csv_source/`），可以由此开始；都附有测试",
    ),
    Folder(
        "pipeline/",
        "flights and weather through the broker into PySpark: `make demo`, and `make pipeline` with its streaming jobs",
        "航班和天气数据经过 broker 进入 PySpark：`make demo`，以及 `make pipeline` 和它的流式作业",
    ),
    Folder("bench/", "speed and memory beside real Kafka: `make bench`", "与真实的 Kafka 比较速度和内存：`make bench`"),
    Folder(
        "config/",
        "the shipped `server.properties`, `logging.toml`, and files for Connect",
        "随软件提供的 `server.properties`、`logging.toml` 和 Connect 的配置文件",
    ),
    Folder(
        "docs/",
        "the other pages of the docs site; `docs/design/` says why things are as they are",
        "文档站点的其他页面；`docs/design/` 说明为什么这样设计",
    ),
    Folder(
        "scripts/",
        "programs that make calls: wheels, the compiled build, the test lanes",
        "make 调用的脚本：打包、编译、分组运行测试",
    ),
    Folder(
        "tests/",
        "`unit/` has a folder for each package; `integration/`, `clients/` (real clients), `jvm/` (real Kafka), "
        "`chaos/` (faults), `docs/`; `support/` and `data/` are what they share",
        "`unit/` 按包分目录；此外有 `integration/`、`clients/`（真实的客户端）、`jvm/`（真实的 Kafka）、"
        "`chaos/`（故障）、`docs/`；"
        "`support/` 和 `data/` 供测试共用",
    ),
)


def folder_map(language: str) -> str:
    """The map as a Markdown table, with an empty line above and below it."""
    head = "| 目录 | 内容 |" if language == "zh" else "| folder | what it holds |"
    rows = [f"| `{folder.name}` | {folder.zh if language == 'zh' else folder.en} |" for folder in FOLDERS]
    return "\n".join(["", "", head, "|---|---|", *rows, "", ""])
