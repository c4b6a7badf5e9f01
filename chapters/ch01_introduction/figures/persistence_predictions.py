"""The answers to the predictions of the notebook on disks, by the measurements that the chapter's page shows.

A reader's machine has other numbers, and rarely another order of magnitude. Book 1.3.1.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chapters.ch01_introduction.figures.disk_measurements import BLOCK, CHUNK, stages_of_a_write
from chapters.ch01_introduction.figures.persistence_figures import kept
from kafka_learn.check import Prediction, Words

ROTATIONS_PER_MINUTE = 7200
FACTORS = (1, 10, 100, 1000)
TIMES_S = (5, 30, 300)
CONVERSIONS = (2, 10, 50)
NO_FSYNC = {"beanstalkd": "binlog, -F (never fsync)", "broker": "log, flush left to the kernel"}
"""The measurements of both without fsync."""


def nearest(value: float, choices: Sequence[int]) -> int:
    """The choice that is nearest by its factor."""
    return min(choices, key=lambda choice: abs(math.log(value / choice)))


def slowdown_of_random_writes() -> int:
    """By which factor blocks at random positions are slower to write."""
    speeds = kept()["write_speeds"]
    return nearest(speeds["one behind the other"] / speeds["here and there"], FACTORS)


def cached_after_fsync() -> int:
    """Pages of 4 MiB in the page cache after they have been written to the disk: all, if the kernel does not tell."""
    with tempfile.TemporaryDirectory() as folder:
        state = dict(stages_of_a_write(Path(folder)))["fsync"]
    return 4 * CHUNK // BLOCK if state is None else state.cached


def written_back_after_s() -> int:
    """After how long a file that is left alone was not dirty any more."""
    points = kept()["write_back"]["this file: dirty"]
    return nearest(next(seconds for seconds, dirty in points if not dirty), TIMES_S)


def gain_without_fsync() -> int:
    """How many times as many appends a second there are without fsync as with one after each."""
    rates = kept()["fsync_rates"]
    return nearest(rates["never"] / rates["every time"], FACTORS)


def gain_of_batches() -> int:
    """How many times as many messages a second the log appends in batches of 100, if it flushes after each message."""
    rates = kept()["log_append_rates"]
    return nearest(rates["batches of 100, flush.messages=1"] / rates["batches of 1, flush.messages=1"], FACTORS)


def cost_of_a_conversion() -> int:
    """How many times the processor time of sendfile it takes to convert records to an old format."""
    costs = kept()["transfer_costs"]
    return nearest(costs["read, convert to format v1, send"] / costs["sendfile"], CONVERSIONS)


def faster(how_many: str) -> str:
    """The faster one of beanstalkd and the broker, without fsync: ``one by one`` or ``100 together``."""
    rates = kept()["beanstalkd_rates"] | kept()["broker_rates"]
    return max(NO_FSYNC, key=lambda name: rates[f"{NO_FSYNC[name]}, {how_many}"])


def files_after(step: str) -> int:
    """How many files beanstalkd's binlog has after a step."""
    return next(len(files) for name, files, *_ in kept()["binlog_growth"] if name == step)


SLOWDOWN = Prediction(
    slowdown_of_random_writes,
    Words(
        "That is what the requests to the disk cost: neighbouring blocks go together, others one by one.",
        "差在对磁盘的请求上：相邻的块合在一起，别的一个一个来。",
    ),
    {
        1: Words(
            "Into how many requests can the kernel merge blocks that are not neighbours?",
            "不相邻的块，内核能合并成几个请求？",
        ),
        100: Words(
            "Nearly, where a head has to move. The page's machine has no such disk.",
            "磁头要移动的磁盘差不多是这样。正文用的机器没有这种磁盘。",
        ),
        1000: Words("Not even a head that has to move is so slow.", "磁头要移动也没有这么慢。"),
    },
)
CACHED = Prediction(
    cached_after_fsync,
    Words(
        "All of them. `fsync` makes pages clean, and they stay: there is no reason to forget them before memory is "
        "short.",
        "全都在。`fsync` 使页变干净，页仍留着：内存紧张之前，没有理由丢掉。",
    ),
    {
        0: Words("Why should the kernel forget what was just written?", "刚写的东西，内核为什么要丢掉？"),
        4: Words("That is the number of mebibytes.", "那是 MiB 数。"),
        512: Words("How many pages of 4 KiB are in a mebibyte?", "1 MiB 有几个 4 KiB 的页？"),
    },
)
WRITTEN_BACK = Prediction(
    written_back_after_s,
    Words(
        "`dirty_expire_centisecs` is the age at which a page is written, and a thread looks for such pages every 5 s.",
        "`dirty_expire_centisecs` 是写回的年龄；线程每 5 秒找一次这样的页。",
    ),
    {
        5: Words("So often a thread looks. How old must a page be?", "线程这么久看一次。页要多老才写？"),
        300: Words(
            "See `dirty_expire_centisecs`: hundredths of a second.", "请看 `dirty_expire_centisecs`：单位是百分之一秒。"
        ),
    },
)
WITHOUT_FSYNC = Prediction(
    gain_without_fsync,
    Words(
        "A write is a copy into memory: microseconds. An `fsync` waits for the disk: milliseconds.",
        "写入是复制到内存，以微秒计；`fsync` 要等磁盘，以毫秒计。",
    ),
    {
        1: Words("What does `fsync` wait for?", "`fsync` 在等什么？"),
        10: Words(
            "How long does a copy of 1000 bytes take, and how long a disk?", "复制 1000 字节要多久，磁盘要多久？"
        ),
        100: Words("Microseconds against milliseconds.", "一边是微秒，一边是毫秒。"),
    },
)
BATCHES = Prediction(
    gain_of_batches,
    Words(
        "`flush.messages` counts messages, but the log looks at it after an append: one flush for the whole batch.",
        "`flush.messages` 数的是消息，但日志在追加之后才看：整个批次刷盘一次。",
    ),
    {
        1: Words("Does the log flush in the middle of a batch?", "日志会在批次中间刷盘吗？"),
        10: Words("What is the dear part, and how often does it happen for a batch?", "贵的是哪一步？一个批次做几次？"),
        1000: Words("A batch saves the flushes of its other messages: how many?", "批次省下的是其他消息的刷盘：几次？"),
    },
)
CONVERSION = Prediction(
    cost_of_a_conversion,
    Words(
        "Each record is read, built again in the old format and copied; with `sendfile` the broker touches none.",
        "每条记录都要读出来，按旧格式重新组成，再复制；用 `sendfile` 时 broker 一条也不碰。",
    ),
    {
        2: Words(
            "That is nearly what a copy costs. What happens to each record?",
            "那差不多是一次复制的代价。每条记录要做什么？",
        ),
        10: Words("Each record is decoded and encoded again, in Python.", "每条记录都要用 Python 解码，再编码。"),
    },
)
ONE_BY_ONE = Prediction(
    lambda: faster("one by one"),
    Words("It is a small C program that does little for each message.", "它是个小小的 C 程序，对每条消息做的事很少。"),
    {
        "broker": Words(
            "One record in each request: what does the log gain from its batches?",
            "每个请求一条记录：日志的批次有什么用处？",
        )
    },
)
TOGETHER = Prediction(
    lambda: faster("100 together"),
    Words(
        "A hundred records are one append. A hundred jobs are a hundred commands.",
        "一百条记录是一次追加；一百个任务是一百个命令。",
    ),
    {
        "beanstalkd": Words(
            "How many commands does it handle, and how many batches does the log append?",
            "它要处理几个命令，日志要追加几个批次？",
        )
    },
)
HALF_DELETED = Prediction(
    lambda: files_after("500 of them deleted"),
    Words(
        "Files go in order, the oldest first, and the oldest has the job that stays.",
        "文件从最旧的开始按顺序删除，而最旧的里面有那个留着的任务。",
    ),
    {
        6: Words("Which file goes first, and what is in it?", "先删除哪个文件，里面有什么？"),
        7: Words("May a file go before an older one?", "有更旧的文件在，能先删除别的吗？"),
        1: Words("Half of the jobs are still there.", "一半的任务还在。"),
    },
)
IN_THE_END = Prediction(
    lambda: files_after("1000 put and deleted"),
    Words(
        "The job that stays was copied into newer files, again and again.", "留着的那个任务一次次复制到更新的文件里。"
    ),
    {
        24: Words("So many were made.", "一共建过这么多。"),
        2: Words("The old file goes when its last job has been copied.", "最后一个任务复制走，旧的文件就删除。"),
        0: Words("There is a job that stays.", "还有一个留着的任务。"),
    },
)
PLATTER = Prediction(
    lambda: ROTATIONS_PER_MINUTE // 60,
    Words(
        "One for each turn. A hard disk that does more has a cache that answers before the platter has it: ask whether "
        "it survives a power cut.",
        "每转一圈一次。超过这个数的机械硬盘，是缓存在盘片写好之前就报告写好了：断电之后，缓存里的还在吗？",
    ),
    {
        7200: Words("That is the number of turns in a minute.", "那是一分钟的圈数。"),
        240: Words(
            "Half a turn is the mean for a random place. Where is this one?", "随机位置平均等半圈。这个位置在哪里？"
        ),
        60: Words("How many turns are there in a second?", "一秒转几圈？"),
    },
)
