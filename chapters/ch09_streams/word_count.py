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
# # Notebook: word count, by hand and on a broker
#
# *Book 9.1; its pages are [An application and its topology](processor-api.md) and
# [Tasks](tasks.md), [threads](threads.md) and [state](state.md).*
#
# First a topology in this process, one record at a time. Then the same topology on a broker with two partitions, whose
# topics we open and read. Before each step there is a question: write your answer in the place of `None` and run the
# cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：单词计数，先手工，再上 broker
#
# 本书 9.1；正文是[流处理应用程序和它的拓扑](processor-api.md)、[任务](tasks.md)、[线程](threads.md)和[状态](state.md)。
#
# 先在本进程里运行一个拓扑，一次处理一条记录；再把同一个拓扑放到 broker 上，输入主题有两个分区，然后打开各个主题来看。
# 每一步之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import tempfile
import time
from pathlib import Path

from chapters.ch09_streams.figures import word_count_predictions as predictions
from examples.word_count.topology import node_by_node
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongDeserializer
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.topology_drawing import TopologyDrawing
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.testing import Cluster

TopologyDrawing(node_by_node().set_application_id("app").describe())

# %% [markdown]
# The frames are sub-topologies, the pills are topics, the grey box is a store.
#
# ## By hand
#
# The driver has one task for each sub-topology. The line "to be or not to be" goes in. Which records are in which topic
# afterwards, and **how many are in the changelog?**

# %% [markdown] lang="zh"
# 方框是子拓扑，圆角框是主题，灰色的是状态存储。
#
# ## 手工运行
#
# 测试驱动为每个子拓扑准备一个任务。现在送进一行 “to be or not to be”。之后各个主题里有哪些记录？**变更日志里有几条？**

# %%
answer = None
predictions.CHANGES.check(answer)

# %%
driver = TopologyTestDriver(
    node_by_node(), application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
)


def sent(topic, values=None):
    """The records sent to a topic since the last call."""
    records = iter(lambda: driver.read_output(topic, None, values), None)
    return [f"{record.key}={record.value} @{record.timestamp}" for record in records]


def show():
    print("words:      ", *sent("app-words"))
    print("changelog:  ", *sent("app-counts-changelog", LongDeserializer()))
    print("word-counts:", *sent("word-counts", LongDeserializer()))
    print("store:      ", dict(driver.key_value_store("counts").all()))


driver.pipe_input("text", None, "to be or not to be", timestamp=1000)
show()

# %% [markdown]
# Every result has the time of the line, 1000. A second line has the time 500. **Which time do its results have?**

# %% [markdown] lang="zh"
# 每个结果的时间戳都等于那一行的时间戳，1000。第二行的时间戳是 500。**它的结果，时间戳是多少？**

# %%
answer = None
predictions.TIME.check(answer)

# %%
driver.pipe_input("text", None, "to sleep", timestamp=500)
show()
driver.close()

# %% [markdown]
# Its own. Stream time does not go back, but it decides about punctuation only, not about the times of records.
#
# ## On a broker
#
# The input has two partitions now. Which topics does Streams create, with how many partitions, and **how many tasks
# are there?**

# %% [markdown] lang="zh"
# 是它自己的时间戳。流时间不会后退，但它只决定什么时候定时调用，不影响记录的时间戳。
#
# ## 在 broker 上运行
#
# 现在输入主题有两个分区。Streams 会创建哪些主题，各有几个分区？**有几个任务？**

# %%
answer = None
predictions.TASKS.check(answer)

# %%
cluster = Cluster({"group.initial.rebalance.delay.ms": 0}).start()
cluster.create_topic("text", 2)
cluster.create_topic("word-counts")
folder = Path(tempfile.mkdtemp())


def application(name):
    """An instance that leaves the group at once when it closes."""
    configs = {
        "application.id": "app",
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(folder / name),
        "commit.interval.ms": 100,
        "linger.ms": 5,
        "internal.leave.group.on.close": True,
    }
    return KafkaStreams(node_by_node(), configs)


def wait_for(condition):
    """Wait for other threads."""
    while not condition():
        time.sleep(0.02)


with application("first") as streams:
    streams.start()
    cluster.produce("text", "to be or not to be", partition=0)
    cluster.produce("text", "that is the question", partition=1)
    wait_for(lambda: len(cluster.records("word-counts")) == 10)
    wait_for(lambda: streams.state is State.RUNNING)
    tasks = sorted(path.name for path in (folder / "first" / "app").iterdir())
print("tasks: ", *tasks)
print("topics:", {topic: count for topic, count in sorted(cluster.topics.items()) if not topic.startswith("__")})

# %% [markdown]
# Two sub-topologies, two partitions: four tasks. The repartition topic and the changelog have two partitions as well.
# Which word is where: **in which partition of `app-words` is "to"?**

# %% [markdown] lang="zh"
# 两个子拓扑，两个分区，共四个任务。重分区主题和变更日志也各有两个分区。哪个单词在哪里：
# **“to” 在 `app-words` 的哪个分区？**

# %%
answer = None
predictions.PARTITION.check(answer)

# %%
for topic in ("app-words", "app-counts-changelog"):
    for partition in (0, 1):
        keys = [record.key.decode() for record in cluster.records(topic, partition)]
        print(f"{topic}-{partition}:", *keys)

# %% [markdown]
# The key alone decides the partition, so a word is in the same one in both topics: the task that counts it logs it.
#
# ## Another instance
#
# The first instance is closed. Another one starts, with an empty folder. A line with "to" comes. **What does it
# count?**

# %% [markdown] lang="zh"
# 分区只由键决定，所以同一个单词在两个主题里的分区相同：由哪个任务计数，就由哪个任务写变更日志。
#
# ## 换一个实例
#
# 第一个实例已经关闭，另一个实例带着空目录启动。来了一行，里面有 “to”。**它数到几？**

# %%
answer = None
predictions.COUNT.check(answer)

# %%
with application("second") as streams:
    streams.start()
    cluster.produce("text", "to sleep", partition=1)
    wait_for(lambda: len(cluster.records("word-counts")) == 12)
for record in cluster.records("word-counts")[10:]:
    print(record.key.decode(), int.from_bytes(record.value, "big"))

# %% [markdown]
# It has restored the counts from the changelog. The committed offsets say where to continue in `text` and `app-words`;
# the changelog has the result of everything before. Both are in the broker, and nothing is in the process.
#
# Now change something that matters: create `text` with three partitions, or set `commit.interval.ms` to 60000 and close
# the first instance before it commits. Say first what the second one counts.

# %% [markdown] lang="zh"
# 它从变更日志恢复了计数。从 `text` 和 `app-words` 的哪里继续，看已提交的偏移量；在那之前的结果，变更日志里都有。两样
# 都在 broker 上，进程里什么也没留。
#
# 现在改一处要紧的地方：创建三个分区的 `text`，或者把 `commit.interval.ms` 设成 60000，在提交之前关闭第一个实例。
# 先说出第二个实例会数到几。

# %%
cluster.stop()
