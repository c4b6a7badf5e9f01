# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Notebook: the same count, with files and with a log
#
# *Book 9.3; its page is [The same count in five systems](five-systems.md).*
#
# Five lines are counted twice: by MapReduce, whose shuffle is sorted files, and by Streams, whose shuffle is a topic.
# Then one more line comes, and then something breaks. Before each step there is a
# question: write your answer in the place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：同一个计数，用文件，用日志
#
# 本书 9.3；相应的正文是[五个系统里的同一个计数](five-systems.md)。
#
# 五行文字数两遍：用 MapReduce，它的 shuffle 是排好序的文件；再用 Streams，它的 shuffle 是一个主题。然后再来一行，
# 然后出一次故障。每一步之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from chapters.ch09_streams.figures import count_again_predictions as predictions
from chapters.ch09_streams.five_systems.lines import SMALL, counted
from chapters.ch09_streams.five_systems.map_reduce import WORD_COUNT, partition_of, read_pairs, run
from examples.word_count.topology import five_lines
from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.charts import BarChart
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongDeserializer
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

folder = tempfile.TemporaryDirectory()
root = Path(folder.name)
for line in SMALL:
    print(line)

# %% [markdown]
# ## With files
#
# Two mappers get three and two lines, two reducers count. A mapper adds up what it has before it writes.
# **43 words: how many pairs does the shuffle move?**

# %% [markdown] lang="zh"
# ## 用文件
#
# 两个 mapper 分到三行和两行，两个 reducer 计数。mapper 写文件之前，先把自己手里的加起来。
# **单词一共 43 个：shuffle 搬动多少对？**

# %%
answer = None
predictions.MOVED.check(answer)


# %%
def map_reduce(name, lines, job=WORD_COUNT):
    """The counts, and how many pairs went through the files between mappers and reducers."""
    folder = root / name
    with ThreadPoolExecutor(2) as threads:
        results = run(job, [lines[:3], lines[3:]], folder, threads)
    moved = sum(1 for file in folder.glob("map-*/part-*") for _ in read_pairs(file))
    return {word: count for file in results for word, count in read_pairs(file)}, moved


by_files, moved = map_reduce("five", SMALL)
print(sum(by_files.values()), "words,", moved, "pairs moved, right:", by_files == counted(SMALL))

# %% [markdown]
# ## With a log
#
# The driver runs the topology record by record. Every record of the repartition topic is written to a log and read
# from it again. **How many are there?**

# %% [markdown] lang="zh"
# ## 用日志
#
# 驱动程序逐条记录地运行拓扑。重分区主题的每条记录都写进日志，再读出来。**有多少条？**

# %%
answer = None
predictions.RECORDS.check(answer)


# %%
def new_driver():
    return TopologyTestDriver(
        five_lines(), application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
    )


def taken(driver, topic, values=None):
    """The records written to a topic since the last call: keys and values."""
    return [(record.key, record.value) for record in iter(lambda: driver.read_output(topic, None, values), None)]


def feed(driver, lines):
    """Process lines. Returns the words that went through the repartition topic, and the counts that were written."""
    for line in lines:
        driver.pipe_input("text", None, line, timestamp=1000)
    return taken(driver, "app-Counts-repartition"), taken(driver, "word-counts", LongDeserializer())


driver = new_driver()
words, counts = feed(driver, SMALL)
print(len(words), "records in the repartition topic,", len(counts), "counts written")
print("the last ones are right:", dict(counts) == counted(SMALL))
print("to:", *[count for word, count in counts if word == "to"])

# %% [markdown]
# The combiner saves a few of 43; of a million words it would save nearly all. A stream has no end at which it could
# add up. It can wait a while: that is what the cache of a store does.
#
# What both have in common is the place where a word comes together. **Are the words in `part-0` those that are in
# partition 0 of the topic, `"yes"` or `"no"`?**

# %% [markdown] lang="zh"
# 43 个单词，combiner 只省下几对；如果是一百万个，它几乎能全部省下。流没有可以加总的终点。
# 它可以等一会儿：存储的缓存做的就是这件事。
#
# 两者的共同点，是一个单词汇合的地方。**`part-0` 里的单词，就是主题的分区 0 里的那些吗（`"yes"` 或 `"no"`）？**

# %%
answer = None
predictions.PLACE.check(answer)

# %%
in_file = {word for word, _ in read_pairs(root / "five" / "out" / "part-0")}
in_partition = {word for word, _ in words if partition_of(word, 2) == 0}
print(*sorted(in_file)[:8], "…", in_file == in_partition)

# %% [markdown]
# ## One more line
#
# MapReduce has no state but its files, so a new line means a new job. The lines have 10, 8, 7, 9 and 9 words, and after
# each of them somebody wants the counts. **How many words does MapReduce process in all, and how many the log?**

# %% [markdown] lang="zh"
# ## 再来一行
#
# MapReduce 除了文件没有状态，所以新的一行就是一个新的作业。
# 五行各有 10、8、7、9、9 个单词，每来一行，都有人要看计数。**MapReduce 一共处理多少个单词，用日志又是多少？**

# %%
answer = None
predictions.PROCESSED.check(answer)

# %%
again = sum(sum(map_reduce(f"first-{number}", SMALL[:number])[0].values()) for number in range(1, 6))
driver.close()
driver = new_driver()
once = sum(len(feed(driver, [line])[0]) for line in SMALL)


@with_chinese_twin
def processed(language="en"):
    title, files, log = {
        "en": ("Words processed to have counts after each of five lines", "with files", "with a log"),
        "zh": ("每一行之后都要有计数，一共处理的单词", "用文件", "用日志"),
    }[language]
    return BarChart(title, {files: again, log: once}, "")


processed()

# %% [markdown]
# With *n* lines it is *n²/2* to *n*. The price of the log is the state: somebody has to keep it, and to bring it back.
#
# ## A mapper dies
#
# It has written half its spills. The job runs it again. **How many files of the first attempt does a reducer see?**

# %% [markdown] lang="zh"
# 有 *n* 行时是 *n²/2* 比 *n*。日志的代价是状态：要有人保存它，出事后还要有人恢复它。
#
# ## 一个 mapper 崩溃
#
# 它的 spill 写了一半，作业让它再运行一遍。**reducer 会看到第一次尝试的几个文件？**

# %%
answer = None
predictions.SPILLS.check(answer)

# %%
failures = ["the power fails"]


def split_and_fail(line):
    if "sleep" in line.lower() and failures:
        raise OSError(failures.pop())
    return WORD_COUNT.map(line)


after_death, _ = map_reduce("with a death", SMALL, replace(WORD_COUNT, map=split_and_fail, buffer_pairs=3))
print("right:", after_death == counted(SMALL), "- left of the spills:", len(list(root.glob("with a death/*/spill-*"))))

# %% [markdown]
# None: the folder of the first attempt is deleted, and a result gets its name when it is complete.
#
# ## A count dies
#
# Now a stream. A worker dies after the second line: its results are out, its position is not committed, so the second
# line comes again. What a system counts depends on where its counts were:
#
# - **In memory** (a field of Storm's bolt): they are gone.
# - **In a changelog, with the position committed afterwards** (Streams, at least once): those of line two are there.
# - **In a changelog, in one transaction with the position** (exactly once): those of line two are aborted.
#
# "to" comes 2, 1, 0, 1 and 2 times in the five lines. How many does each of the three count: **how many the second
# one?**

# %% [markdown] lang="zh"
# 一个都没有：第一次尝试的目录被删掉，结果在完整之后才得到名字。
#
# ## 一个计数崩溃
#
# 现在是流。一个进程在第二行之后崩溃：结果已经写出，位置还没有提交，所以第二行再来一次。
# 一个系统数出多少，取决于它的计数放在哪里：
#
# - **在内存里**（Storm 的 bolt 的一个字段）：没有了。
# - **在变更日志里，位置之后才提交**（Streams，至少一次）：第二行的计数还在。
# - **在变更日志里，和位置在同一个事务中**（恰好一次）：第二行的计数被中止。
#
# 五行里 “to” 分别有 2、1、0、1、2 个。这三种各数出多少？**第二种呢？**

# %%
answer = None
predictions.CHANGELOG.check(answer)


# %%
def last_count(lost, replayed=SMALL[1:]):
    """Two lines, then a crash: ``lost`` takes from the counts what it takes. Then the second line once more, and on."""
    state = Counter()
    for line in SMALL[:2]:
        before = state.copy()
        state.update(line.lower().split())
    state = lost(state, before)
    for line in replayed:
        state.update(line.lower().split())
    return state["to"]


by_place = {
    "memory": last_count(lambda _state, _before: Counter()),
    "changelog": last_count(lambda state, _before: state),
    "transaction": last_count(lambda _state, before: before),
}


@with_chinese_twin
def after_the_crash(language="en"):
    title, *names = {
        "en": ('Counted "to" after a crash, of 6', "in memory", "in a changelog", "in a transaction"),
        "zh": ("崩溃之后数出的 “to”，实际有 6 个", "在内存里", "在变更日志里", "在事务里"),
    }[language]
    return BarChart(title, dict(zip(names, by_place.values(), strict=True)), "")


after_the_crash()

# %% [markdown]
# The first is too small: the position outlived the state. The second is too large: the state outlived the position. The
# third is right, since both are one thing. That is invariant 4 of the page.
#
# The changelog has one record for each change, 43. Is what compaction leaves enough, and **how many
# records is that?**

# %% [markdown] lang="zh"
# 第一个太小：位置比状态活得久。第二个太大：状态比位置活得久。第三个是对的，因为两者是一回事。这就是正文的不变式 4。
#
# 变更日志里每次改动有一条记录，一共 43 条。压缩之后剩下的够用吗？**还剩多少条？**

# %%
answer = None
predictions.COMPACTED.check(answer)

# %%
changelog = taken(driver, "app-Counts-changelog", LongDeserializer())
driver.close()
folder.cleanup()
restored = dict(changelog)
print(len(changelog), "changes,", len(restored), "after compaction, right:", restored == counted(SMALL))

# %% [markdown]
# ## Now you
#
# - Give `map_reduce` the line "to" a thousand times. How many pairs does it move, and how many records has the topic?
# - Let a reducer die in the middle. Who notices?
# - Then write it: [restoring](../../labs/ch09-restore.md), and [what a cache saves](../../labs/ch09-cache.md).

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 给 `map_reduce` 一千行 “to”。它搬动多少对？主题里有多少条记录？
# - 让一个 reducer 在中途崩溃。谁会发觉？
# - 然后自己写：[恢复](../../labs/ch09-restore.md)，以及[缓存省下什么](../../labs/ch09-cache.md)。
