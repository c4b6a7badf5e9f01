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
# # Notebook: the old consumers
#
# *Book chapter 3; its pages are [The connector](connector.md), [Rebalancing](rebalance.md), [Fetching and
# consuming](fetching.md), [Committing](commits.md) and [The low-level API](simple-consumer.md).*
#
# A broker and a ZooKeeper run in this process, real consumers use them, and everything is recorded from outside.
# Before most steps there is a question: write your answer in the place of `None` and run the cell. It says whether you
# are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：旧消费者
#
# 本书第 3 章；相应的正文
# 是[消费者连接器](connector.md)、[再平衡](rebalance.md)、[拉取和消费消息](fetching.md)、[提交偏移量](commits.md)，以
# 及[低级 API](simple-consumer.md)。
#
# 一个 broker 和一个 ZooKeeper 在本进程里运行，真实的消费者与它们对话，所发生的事从外部录制下来。多数步骤之前有一
# 个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import logging
import threading

from chapters.ch03_old_consumer.figures import old_consumer_predictions as predictions
from chapters.ch03_old_consumer.figures.old_consumer_figures import assign, ownership, znodes_of_two
from chapters.ch03_old_consumer.figures.old_consumer_runs import (
    Member,
    commit_to_both,
    commit_to_zookeeper,
    low_level,
    one_to_three,
    queue_and_iterator,
    rebalance,
    running_cluster,
    running_members,
    wait_balanced,
)
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_learn.recording.recorded_run import Kind

logging.getLogger("kafka_lite.old_consumer").setLevel(logging.CRITICAL)  # we make go wrong what it would tell of

# %% [markdown]
# ## The threads of a consumer
#
# One connector, one topic, one stream, one broker. **How many threads does the consumer have, not counting the user's
# and those of the ZooKeeper client?**

# %% [markdown] lang="zh"
# ## 消费者的线程
#
# 一个连接器，一个主题，一个流，一个 broker。**不算用户的线程和 ZooKeeper 客户端的线程，消费者有几个线程？**

# %%
answer = None
predictions.THREADS.check(answer)

# %%
with running_cluster() as cluster, running_members() as members:
    before = set(threading.enumerate())
    members.append(Member(cluster, "a"))
    members[0].join()
    wait_balanced(members)
    for thread in sorted(set(threading.enumerate()) - before, key=lambda each: each.name):
        if "readers_a" in thread.name or "kafka-consumer" in thread.name or "user" in thread.name:
            print(f"{type(thread).__name__:24} {thread.name}")

# %% [markdown]
# A thread that rebalances, one that looks up leaders, one that fetches (there is one per broker), and the scheduler's,
# which starts with its first task, the automatic commit. The ZooKeeper client has threads of its own.
#
# ## The znodes of a group
#
# Member a alone; a and b; b alone. Who deletes which znodes? **Which kind stays as a left it: `"ids"`, `"owners"` or
# `"offsets"`?**

# %% [markdown] lang="zh"
# 一个负责再平衡，一个寻找主副本，一个拉取（每个 broker 都会有一个），还有调度器的线程，它随第一个任务而来，也就是自动
# 提交。ZooKeeper 的客户端还有自己的线程。
#
# ## 消费组的 znode
#
# 只有成员 a；a 和 b；只有 b。哪些 znode 由谁删除？**a 离开之后，哪一种原样留着：`"ids"`、`"owners"` 还是
# `"offsets"`？**

# %%
answer = None
predictions.STAYS.check(answer)

# %%
columns = znodes_of_two()
for path in sorted({path for column in columns for path in column}):
    print(f"{path:18}", *(f"{column.get(path, ''):22}" for column in columns))

# %% [markdown]
# ## A rebalance with two members
#
# Member a owns four partitions, and its listener takes a while before they are released, but less than
# `rebalance.backoff.ms`. Member b joins. **How often does b try? And how many of its claims fail?**

# %% [markdown] lang="zh"
# ## 两个成员的再平衡
#
# 成员 a 拥有四个分区，它的监听器要过一会儿才释放，但短于 `rebalance.backoff.ms`。成员 b 加入。**b 尝试几次？其中认领分
# 区失败几次？**

# %%
answer = None
predictions.TRIES.check(answer)

# %%
answer = None
predictions.IN_VAIN.check(answer)

# %%
run = rebalance()
sequence_diagram(run)

# %%
tries = [span for span in run.calls() if span.begin.what == "_try_rebalance"]
for span in tries:
    print(f"{span.begin.who}: from {span.begin.time_ns / 1e6:6.1f} ms, {span.duration_ns / 1e6:5.1f} ms")
claims = [(span.begin.detail["owner"], span.begin.detail["partition"], span.end.detail["result"])
          for span in run.calls() if span.begin.what == "create_owner"]  # fmt: skip
for owner, partition, result in sorted(claims):
    print(f"{owner} claims partition {partition}: {'has it' if result else 'it is taken'}")

# %% [markdown]
# ## Members join and leave
#
# Three members join, then the first one leaves. Look at the gaps: no member consumes the partition there.

# %% [markdown] lang="zh"
# ## 成员的加入和离开
#
# 三个成员加入，第一个离开。请看那些空隙：那时没有成员消费这个分区。

# %%
run = one_to_three()
ownership(run)

# %% [markdown]
# No member asked whether partition 0 had to move when c joined. **How many of the four partitions kept their owner
# then? And how many of these were released and claimed again nevertheless?**

# %% [markdown] lang="zh"
# c 加入时，并没有考虑分区 0 是否必须换所有者。**那时四个分区中有几个保住了原来的所有者，其中又有几个照样被释放、再认
# 领？**

# %%
answer = None
predictions.KEPT.check(answer)

# %%
answer = None
predictions.RELEASED.check(answer)

# %%
released = [event.detail for event in run if event.kind is Kind.CALL and event.what == "release_owner"]
print(len(released), "releases in all:", [f"{each['partition']} of {each['owner']}" for each in released])

# %% [markdown]
# ## Assignment
#
# Two consumers, C1 and C2, with one thread each; two topics with three partitions each. **How many partitions does C1
# get: with `range`, and with `roundrobin`?**

# %% [markdown] lang="zh"
# ## 分配
#
# 两个消费者 C1 和 C2，各一个线程；两个主题，各三个分区。**C1 分到几个分区？先答 `range`，再答 `roundrobin`。**

# %%
answer = None
predictions.RANGE.check(answer)

# %%
answer = None
predictions.ROUND_ROBIN.check(answer)

# %%
both = {"C1": {"t": 1, "u": 1}, "C2": {"t": 1, "u": 1}}
for strategy in ("range", "roundrobin"):
    print(f"{strategy:10}", assign(strategy, both, {"t": 3, "u": 3}))

# %% [markdown]
# And with ten topics of three partitions: **how many does C1 get with `range`?**

# %% [markdown] lang="zh"
# 十个主题，各三个分区：**用 `range`，C1 分到几个？**

# %%
answer = None
predictions.RANGE_OF_TEN.check(answer)

# %%
topics = {f"t{number}": 3 for number in range(10)}
many = {name: dict.fromkeys(topics, 1) for name in ("C1", "C2")}
for strategy in ("range", "roundrobin"):
    print(f"{strategy:10}", {thread: len(found) for thread, found in assign(strategy, many, topics).items()})

# %% [markdown]
# ## From the fetcher to the user
#
# The queue has space for one chunk, a fetch returns one message, and the user is late. There are two messages, and both
# offsets begin at 0. **What is the fetched offset when the user comes? And the consumed offset when the user has just
# been given the first message?**

# %% [markdown] lang="zh"
# ## 从拉取线程到用户
#
# 队列只放得下一个数据块，一次拉取带来一条消息，用户又来得晚。一共两条消息，两个偏移量都从 0 开始。**用户来的时候，拉取
# 偏移量是几？用户刚拿到第一条消息时，消费偏移量是几？**

# %%
answer = None
predictions.FETCHED.check(answer)

# %%
answer = None
predictions.CONSUMED.check(answer)

# %%
run = queue_and_iterator()
sequence_diagram(run)

# %%
time_line(run)

# %% [markdown]
# ## Commits to ZooKeeper
#
# A message, a commit, another commit, a message, a commit. **How many writes?**

# %% [markdown] lang="zh"
# ## 提交到 ZooKeeper
#
# 一条消息，一次提交，又一次提交，一条消息，一次提交。**写了几次？**

# %%
answer = None
predictions.WRITES.check(answer)

# %%
run = commit_to_zookeeper()
print([event.detail for event in run if event.kind is Kind.CALL and event.what == "set_offset"])
sequence_diagram(run)

# %% [markdown]
# ## A commit to both storages
#
# `offsets.storage=kafka`, with the dual commit that is its default. The coordinator must be looked up first.

# %% [markdown] lang="zh"
# ## 提交到两种存储
#
# `offsets.storage=kafka`，并且按默认设置同时提交到两处。首先必须找到协调者。

# %%
run = commit_to_both()
sequence_diagram(run)

# %%
spans = {span.begin.what: span.duration_ns / 1e6 for span in run.calls()}
for what in ("commit_offsets", "handle_commit_offsets", "append_as_leader", "set_offset"):
    print(f"{what:24} {spans[what]:6.2f} ms")

# %% [markdown]
# ## The low-level example
#
# `SimpleExample` reads two messages; the broker returns an error to the first fetch, once. It looks up the leader over
# connections of their own. **How many connections does it open?**

# %% [markdown] lang="zh"
# ## 低级 API 示例
#
# `SimpleExample` 读两条消息；broker 拒绝第一次拉取，只拒绝一次。查找主副本用单独的连接。**它打开几个连接？**

# %%
answer = None
predictions.CONNECTIONS.check(answer)

# %%
run = low_level()
sequence_diagram(run)

# %%
print(sum(event.kind is Kind.PUT and event.what == "connection" for event in run), "connections")

# %% [markdown]
# ## Now you
#
# - Give a member two streams (`Member.join`), and let a second member join. Which thread owns which partition?
# - Set `rebalance.max.retries` to 1 for member b. What does `create_message_streams` raise, and which znodes stay
#   behind?
# - Make `fetch_message_max_bytes` in `queue_and_iterator` smaller than a message. **What does the user get:
#   `"the message"`, `"nothing"`, or `"an error"`?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 给一个成员两个流（`Member.join`），再让第二个成员加入。哪个线程拥有哪个分区？
# - 把成员 b 的 `rebalance.max.retries` 设为 1。`create_message_streams` 抛出什么，又留下了什么？
# - 让 `queue_and_iterator` 里的 `fetch_message_max_bytes` 比一条消息还小。**用户会得到什么：那条消息
#   （`"the message"`）、什么也没有（`"nothing"`），还是错误（`"an error"`）？**

# %%
answer = None
predictions.SMALL_FETCHES.check(answer)
