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
# # Notebook: getting started
#
# *Book 1; its pages are [A streaming data platform](streaming-platform.md), [Partitions, groups and
# replicas](basic-concepts.md), [Producers and consumers](producers-and-consumers.md),
# [Replication](replication.md) and [The environment](environment.md).*
#
# Each section has something to change, in capitals, and a prediction. Write your answer in the place of `None` and run
# the cell: it says whether you are right, and why. Predict first, then compute.

# %% [markdown] lang="zh"
# # 笔记本：入门
#
# 本书第 1 章；相应的正文是[Kafka 流式数据平台](streaming-platform.md)、[分区、消费组与副本](basic-concepts.md)、
# [生产者与消费者](producers-and-consumers.md)、[副本机制](replication.md)和[环境准备](environment.md)。
#
# 每一节都有可以改的东西，用大写字母写，还有一个预测。请用你的答案替换 `None`，再运行那个单元格：它会说对不对，以及为什
# 么。请先预测，再计算。

# %%
import importlib

from chapters.ch01_introduction.figures import predictions, quorum_tables, request_bytes
from chapters.ch01_introduction.figures.platform_runs import one_record_two_readers
from chapters.ch01_introduction.figures.request_bytes import FieldWalk, produce_request
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_lite.book.module_reference import parse_reference
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest

# %% [markdown]
# ## One record, three reads
#
# A shop sends an order to a broker in this notebook. Two programs read it, and one of them reads it again on the next
# day. Count the arrows at the log afterwards. **How often is the record appended, and how often is the log read?**

# %% [markdown] lang="zh"
# ## 一条记录，读三次
#
# 一家商店把一份订单发给本笔记本里的 broker。两个程序读它，其中一个第二天又读了一遍。之后请数一数指向日志的箭头。**这
# 条记录追加了几次，日志被读了几次？**

# %%
answer = None
predictions.APPENDED.check(answer)

# %%
answer = None
predictions.READ.check(answer)

# %%
sequence_diagram(one_record_two_readers())

# %% [markdown]
# ## Keys and partitions
#
# The cell shows where the orders of four customers go. **Twelve customers, twelve partitions: how many partitions have
# no customer, as a rule: `"none"`, `"about a third"` or `"most"`?**

# %% [markdown] lang="zh"
# ## 键与分区
#
# 单元格显示四位顾客的订单会去哪里。**十二位顾客，十二个分区：通常有多少分区没有顾客？一个也没有（`"none"`）、三分之一左
# 右（`"about a third"`），还是大多数（`"most"`）？**

# %%
answer = None
predictions.EMPTY.check(answer)

# %%
KEYS = ["ann", "bob", "cid", "dan"]
PARTITIONS = 12
print({key: partition_for_key(key.encode(), PARTITIONS) for key in KEYS})

# %% [markdown]
# **The topic gets a thirteenth partition. How many of a thousand customers move to another one: `"few"`, `"half"` or
# `"most"`?**

# %% [markdown] lang="zh"
# **主题增加第十三个分区。一千位顾客中，换到别的分区的是少数（`"few"`）、一半（`"half"`）还是大多数（`"most"`）？**

# %%
answer = None
predictions.MOVED.check(answer)

# %% [markdown]
# ## One to five consumers
#
# The shares of a group's members. Change their number, and that of the partitions.

# %% [markdown] lang="zh"
# ## 一到五个消费者
#
# 一个组里各成员的份额。请改变成员的个数，以及分区的个数。

# %%
MEMBERS = 3
predictions.shares(partitions=4, members=MEMBERS)

# %% [markdown]
# **Five members, four partitions: how many members are idle?**

# %% [markdown] lang="zh"
# **五个成员，四个分区：几个成员闲着？**

# %%
answer = None
predictions.IDLE.check(answer)

# %% [markdown]
# ## Leaders and followers over brokers
#
# The brokers of each partition, the preferred leader first. Change the number of brokers or of copies.

# %% [markdown] lang="zh"
# ## 分布在各个 broker 上的副本
#
# 每个分区所在的 broker，优先副本在前。请改变 broker 或者副本的个数。

# %%
BROKERS, COPIES = 3, 2
predictions.replicas(BROKERS, partitions=6, copies=COPIES)

# %% [markdown]
# **Three brokers, six partitions, two copies: broker 0 dies. How many of its leaderships go to broker 1?**

# %% [markdown] lang="zh"
# **三个 broker，六个分区，两个副本：broker 0 崩溃。它的主副本中，有几个转到 broker 1？**

# %%
answer = None
predictions.TAKEN_OVER.check(answer)

# %% [markdown]
# ## Bytes on the wire
#
# The body of a Produce request, field by field. Change the version (0 to 11) and the value.

# %% [markdown] lang="zh"
# ## 线路上的字节
#
# 一个 Produce 请求的正文，逐个字段。请改变版本（0 到 11）和值。

# %%
VERSION, VALUE = 9, b"hello"
body = produce_request(VERSION, VALUE).encode(VERSION)
for piece in FieldWalk(body).message(ProduceRequest, VERSION):
    print(f"{piece.position:4} {piece.data[:12].hex(' '):36} {piece.kind:18} {piece.name} = {piece.value}")

# %% [markdown]
# **In version 3, a value of 5 bytes is replaced by one of 105. By how many bytes does the request grow?**

# %% [markdown] lang="zh"
# **在版本 3 中，把 5 个字节的值换成 105 个字节的值。请求变长多少字节？**

# %%
answer = None
predictions.GROWTH.check(answer)

# %% [markdown]
# The response, as a broker sent it just now:

# %% [markdown] lang="zh"
# 下面是 broker 刚刚发来的响应：

# %%
[exchange] = request_bytes.exchanges(3)
for piece in exchange.received_pieces():
    print(f"{piece.position:4} {piece.data.hex(' '):24} {piece.kind:18} {piece.name} = {piece.value}")

# %% [markdown]
# ## What survives
#
# Real brokers with an ISR, and a small majority quorum beside them: brokers are killed, one after the other.

# %% [markdown] lang="zh"
# ## 什么能保住
#
# 用 ISR 的真实 broker，旁边是一个小小的多数：broker 一个接一个地被杀掉。

# %%
REPLICAS, FAILURES = 2, 1
print("ISR:     ", quorum_tables.isr_survives(REPLICAS, FAILURES))
print("majority:", quorum_tables.majority_survives(REPLICAS, FAILURES))

# %% [markdown]
# **Three replicas, all of them in sync: how many failures does a committed record survive with the ISR?**

# %% [markdown] lang="zh"
# **三个副本，全部同步：用 ISR，一条已提交的记录经得起几个故障？**

# %%
answer = None
predictions.SURVIVED.check(answer)

# %% [markdown]
# ## What makes streaming hard
#
# Six records, each with the minute in which something happened and the minute in which the record arrived. Count them
# in windows of ten minutes, by arrival:

# %% [markdown] lang="zh"
# ## 流处理难在哪里
#
# 六条记录，每条有事情发生的时刻和记录到达的时刻，以分钟计。按到达的时刻，以十分钟的窗口计数：

# %%
RECORDS = list(predictions.LATE_RECORDS)
print("(happened, arrived):", RECORDS)
predictions.counted(arrived for _, arrived in RECORDS)

# %% [markdown]
# **How many of these things happened in the window from 0 to 10?** Then count by the first number of each pair, and
# let the fifth record arrive later still.

# %% [markdown] lang="zh"
# **其中有几件事发生在 0 到 10 的窗口里？** 然后请按每一对的第一个数来计，再让第五条记录到得更晚些。

# %%
answer = None
predictions.IN_THE_FIRST_WINDOW.check(answer)

# %% [markdown]
# ## Where is it?
#
# The last lines of a module's docstring name Kafka's file and the book's sections. `kafka-lite where` finds a class by
# them in a terminal.

# %% [markdown] lang="zh"
# ## 它在哪里？
#
# 模块的文档字符串在最后几行写明 Kafka 的文件和书的章节。在终端里，`kafka-lite where` 就靠它们查找一个类。

# %%
MODULE = "kafka_lite.producer.record_accumulator"
reference = parse_reference(MODULE, importlib.import_module(MODULE).__doc__ or "")
print(reference.origin, [each.path for each in reference.counterparts], "book", *reference.sections)

# %% [markdown]
# **In which module is `DelayedProduce`?** Its name without the folders and without `.py`.

# %% [markdown] lang="zh"
# **`DelayedProduce` 在哪个模块里？** 写模块的名称，不要文件夹，也不要 `.py`。

# %%
answer = None
predictions.MODULE_OF_CLASS.check(answer)

# %% [markdown]
# ## Now you
#
# - Find two keys of your own that share a partition of twelve, but not of thirteen.
# - Give the brokers five, the partitions ten and the copies three, and compare with the table in the docstring of
#   `assign_replicas_to_brokers`.
# - Encode the request in version 2, whose messages have no batch. Which part of it has become shorter? **From how many
#   records with values of 5 bytes on is a batch shorter than the same messages in version 2?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 找出你自己的两个键，它们在十二个分区时同在一个分区，十三个时不在。
# - 设 broker 五个、分区十个、副本三个，与 `assign_replicas_to_brokers` 文档字符串里的表比较。
# - 以版本 2 编码这个请求，那里的消息没有批次。哪一部分变短了？**值是 5 个字节时，从几条记录起，批次比版本 2 里同样的消
#   息更短？**

# %%
answer = None
predictions.SHORTER.check(answer)
