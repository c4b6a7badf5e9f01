"""The measurements of the chapter on persistence, kept in a file, and its charts: ``python -m`` this measures again.

What is measured differs from machine to machine and from run to run, so the page shows one kept run and says where it
was made; the notebook measures on the reader's machine. Book 1.3.1.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chapters.ch01_introduction.figures import disk_measurements as disk
from chapters.ch01_introduction.figures import queue_measurements as queues
from chapters.ch01_introduction.figures.page_cache import write_back_settings
from chapters.ch01_introduction.figures.queue_measurements import BinlogState
from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.charts import BarChart, LineChart, rounded
from kafka_learn.project import PROJECT_ROOT

KEPT = PROJECT_ROOT / "chapters" / "ch01_introduction" / "persistence-measured.json"
WATCH_S = 45.0
"""Longer than the kernel keeps a dirty page with its defaults: 30 s, and up to 5 s until it looks."""

_CHINESE = {
    "Write 16 MiB in blocks of 4 KiB, then fdatasync": "以 4 KiB 的块写 16 MiB，然后 fdatasync",
    "one behind the other": "按顺序",
    "here and there": "随机",
    "Read 16 MiB in blocks of 4 KiB": "以 4 KiB 的块读 16 MiB",
    "from disk": "从磁盘",
    "from page cache": "从页缓存",
    "64 MiB are written at 0 s; then nothing happens": "第 0 秒写入 64 MiB，然后不再操作",
    "the whole machine: Dirty of /proc/meminfo": "整台机器：/proc/meminfo 的 Dirty",
    "this file: dirty": "这个文件：脏页",
    "this file: cached": "这个文件：在页缓存中",
    "Appends of 1000 bytes, with an fsync": "追加 1000 字节，fsync 的频率",
    "Log.append_as_leader, messages of 1000 bytes": "Log.append_as_leader，1000 字节的消息",
    "batches of": "每批",
    "Processor time of the sender for one gigabyte": "发送方每 1 GB 花费的处理器时间",
    "read and send": "读出再发送",
    "read, convert to format v1, send": "读出、转换成 v1 格式再发送",
    "beanstalkd and this broker: messages of 1000 bytes over TCP": "beanstalkd 与本 broker：经 TCP 的 1000 字节消息",
    "no binlog": "无 binlog",
    "(never fsync)": "（从不 fsync）",
    "binlog, fsync every 50 ms": "binlog，每 50 ms fsync 一次",
    "(fsync every time)": "（每次 fsync）",
    "log, flush left to the kernel": "日志，由内核刷盘",
    "log, flush.messages=1": "日志，flush.messages=1",
    "one by one": "逐条",
    "100 together": "一次 100 条",
    "every time": "每次",
    "every 10 times": "每 10 次",
    "every 100 times": "每 100 次",
    "every 1000 times": "每 1000 次",
    "=never": "=不刷",
    "never": "从不",
    ", ": "，",
    "started": "启动",
    "1 job put": "放入 1 个任务",
    "1000 more put": "再放入 1000 个",
    "500 of them deleted": "删除其中 500 个",
    "the other 500 deleted": "删除另外 500 个",
    "1000 put and deleted": "放入并删除 1000 个",
}


def _say(words: str, language: str) -> str:
    """Chinese for the longest pieces that are known first."""
    if language == "zh":
        for english in sorted(_CHINESE, key=len, reverse=True):
            words = words.replace(english, _CHINESE[english])
    return words


@functools.cache
def kept() -> dict[str, Any]:
    """The kept measurements."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


# -- charts, of the kept measurements or of the reader's ---------------------------------------------------------------


def bars(
    title: str, values: Mapping[str, float], unit: str, language: str = "en", *, logarithmic: bool = False
) -> BarChart:
    """A bar for each value, in the page's language."""
    shown = {_say(label, language): value for label, value in values.items()}
    scale = {"en": " (log scale)", "zh": "（对数刻度）"}[language] if logarithmic else ""
    return BarChart(_say(title, language) + scale, shown, unit, logarithmic)


@with_chinese_twin
def write_chart(values: Mapping[str, float], language: str = "en") -> BarChart:
    """Sequential against random writes."""
    return bars("Write 16 MiB in blocks of 4 KiB, then fdatasync", values, "MB/s", language)


@with_chinese_twin
def read_chart(values: Mapping[str, float], language: str = "en") -> BarChart:
    """Disk against page cache, sequential against random."""
    return bars("Read 16 MiB in blocks of 4 KiB", values, "MB/s", language, logarithmic=True)


@with_chinese_twin
def write_back_chart(series: Mapping[str, Sequence[tuple[float, float]]], language: str = "en") -> LineChart:
    """Dirty pages over time."""
    shown = {_say(name, language): points for name, points in series.items()}
    return LineChart(_say("64 MiB are written at 0 s; then nothing happens", language), shown, "MB")


@with_chinese_twin
def fsync_chart(values: Mapping[str, float], language: str = "en") -> BarChart:
    """Appends a second, by how often they are synced."""
    return bars("Appends of 1000 bytes, with an fsync", values, "/s", language, logarithmic=True)


@with_chinese_twin
def log_append_chart(values: Mapping[str, float], language: str = "en") -> BarChart:
    """Messages a second through a log, by flush and batch."""
    return bars("Log.append_as_leader, messages of 1000 bytes", values, "/s", language, logarithmic=True)


@with_chinese_twin
def transfer_chart(values: Mapping[str, float], language: str = "en") -> BarChart:
    """The sender's cost of a gigabyte."""
    return bars("Processor time of the sender for one gigabyte", values, "ms", language, logarithmic=True)


@with_chinese_twin
def queues_chart(values: Mapping[str, float], language: str = "en") -> BarChart:
    """Beanstalkd beside the broker."""
    title = "beanstalkd and this broker: messages of 1000 bytes over TCP"
    return bars(title, values, "/s", language, logarithmic=True)


def binlog_table(states: Sequence[BinlogState], language: str = "en") -> str:
    """The content of the binlog after each step, as a table in Markdown."""
    head = ("step", "files", "kB", "records written", "jobs migrated")
    if language == "zh":
        head = ("步骤", "文件", "kB", "写入的记录", "迁移的任务")
    rows = [
        (_say(s.step, language), _files(s.files), str(s.kilobytes), str(s.records_written), str(s.records_migrated))
        for s in states
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---", "---", "--:", "--:", "--:"), *rows))


def _files(names: Sequence[str]) -> str:
    return f"`{names[0]}`" if len(names) == 1 else f"`{names[0]}` … `{names[-1]}`" if names else ""


# -- the figures of the page -------------------------------------------------------------------------------------------


def machine_line(language: str) -> str:
    """Where the kept run was made."""
    machine = kept()["machine"]
    described = "{system}, {processors} processors, {filesystem}, {python}".format(**machine)
    if language == "zh":
        return f"图中的数字测自：{described}。你的机器上会是别的数字，请用[笔记本](persistence_notebook.md)测一测。"
    return f"*Measured on: {described}. Ask yours with the [notebook](persistence_notebook.md).*"


def settings_table(language: str) -> str:
    """When the kernel writes dirty pages, as that machine had it set."""
    settings = kept()["settings"]
    meaning = {
        "dirty_writeback_centisecs": ("how often the flusher threads look", "刷盘线程多久醒来看一次"),
        "dirty_expire_centisecs": ("how old a dirty page must be to be written", "脏页多老才会被写回"),
        "dirty_background_ratio": (
            "from this share of the available memory on they write at once",
            "脏页占可用内存的比例达到此值，就不等时间，立即在后台写回",
        ),
        "dirty_ratio": ("and from this on writers must wait", "达到此值，写入者必须等待"),
    }
    units = ("centisecs", " s"), ("ratio", " %")
    rows = ["| `/proc/sys/vm/` | | |", "|---|--:|---|"]
    for name, value in settings.items():
        unit = next(unit for ending, unit in units if name.endswith(ending))
        shown = rounded(value / 100) if unit == " s" else str(value)
        rows.append(f"| `{name}` | {shown}{unit} | {meaning[name][language == 'zh']} |")
    return "\n".join(rows)


def write_figure(language: str) -> str:
    """Sequential against random writes."""
    return write_chart(kept()["write_speeds"], language).svg()


def read_figure(language: str) -> str:
    """Disk against page cache."""
    return read_chart(kept()["read_speeds"], language).svg()


def write_back_figure(language: str) -> str:
    """How long dirty pages stay."""
    return write_back_chart(kept()["write_back"], language).svg()


def fsync_figure(language: str) -> str:
    """The price of fsync."""
    return fsync_chart(kept()["fsync_rates"], language).svg()


def log_append_figure(language: str) -> str:
    """The price of flush.messages."""
    return log_append_chart(kept()["log_append_rates"], language).svg()


def transfer_figure(language: str) -> str:
    """The price of a copy, and of a conversion."""
    return transfer_chart(kept()["transfer_costs"], language).svg()


def queues_figure(language: str) -> str:
    """Two designs."""
    return queues_chart(kept()["beanstalkd_rates"] | kept()["broker_rates"], language).svg()


def binlog_growth_table(language: str) -> str:
    """How a binlog grows and shrinks."""
    return binlog_table([BinlogState(*state) for state in kept()["binlog_growth"]], language)


# -- measuring ---------------------------------------------------------------------------------------------------------


def measure(watch_s: float = WATCH_S) -> dict[str, Any]:
    """Everything, in about a minute and a half; raises FileNotFoundError without beanstalkd."""
    found: dict[str, Any] = {"machine": _machine(), "settings": write_back_settings()}
    for work in (disk.write_speeds, disk.read_speeds, disk.fsync_rates, disk.log_append_rates, disk.transfer_costs):
        with tempfile.TemporaryDirectory() as folder:
            found[work.__name__] = work(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        series = disk.write_back(Path(folder), watch_s)
    found["write_back"] = {name: [(round(t, 1), round(v, 1)) for t, v in line] for name, line in series.items()}
    found["beanstalkd_rates"] = queues.beanstalkd_rates()
    found["broker_rates"] = queues.broker_rates()
    found["binlog_growth"] = queues.binlog_growth()
    return found


def _machine() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        return {
            "system": f"{platform.system()} {platform.release().partition('-')[0]}",
            "processors": os.cpu_count(),
            "filesystem": file_system(Path(folder)),
            "python": f"{platform.python_implementation()} {platform.python_version()}",
        }


def file_system(folder: Path) -> str:
    """The type of the file system of a folder: that of the longest mount point above it."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    above = [(len(point), kind) for point, kind in mounts if folder.is_relative_to(point)]
    return max(above)[1]


def main(arguments: list[str] | None = None) -> int:
    """Measure and keep; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m chapters.ch01_introduction.figures.persistence_figures", description=__doc__
    )
    parser.add_argument("--save", type=Path, default=KEPT, metavar="FILE", help="default: the chapter's")
    options = parser.parse_args(arguments)
    options.save.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
