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
# # Notebook: replication by hand
#
# *Book 6.2; its pages are [ReplicaManager](replica-manager.md) and [Partition and Replica](replicas.md).*
#
# Three real brokers, each with its replica manager, logs and fetcher, but without threads and sockets. Nothing
# happens unless a cell does it: a fetch is one turn of a follower. So you can stop at the moments that pass within a
# millisecond in a running cluster. Before most steps there is a question: write your
# answer in the place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：手工复制
#
# 本书 6.2；正文是[副本管理器](replica-manager.md)和[分区与副本](replicas.md)。
#
# 三个真实的 broker，副本管理器、日志、拉取线程的对象一应俱全，只是没有运行的线程和套接字。单元格让它们做什么，它们才
# 做什么：一次拉取就是备份副本循环一轮。所以在运行的集群里一毫秒就过去的时刻，在这里可以停下来看。多数步骤之前有一个
# 问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch06_storage.figures import replication_predictions as predictions
from chapters.ch06_storage.figures.replica_drawings import BOOKS_KAFKA, film, isr_example, played
from chapters.ch06_storage.figures.replica_runs import isr_shrinks_and_expands, two_fetch_rounds
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.replicas_by_hand import ReplicasByHand

# %% [markdown]
# ## Two rounds
#
# One record, two followers, which fetch in turn: 2, 3, 2, 3, 2. After which step does each broker know that the record
# is committed, and **after how many fetches may the producer get its response?**

# %% [markdown] lang="zh"
# ## 两轮拉取
#
# 一条记录，两个备份副本轮流拉取：2、3、2、3、2。每个 broker 各在第几步之后知道记录已经提交？**拉取几次之后，生产者能
# 得到响应？**

# %%
answer = None
predictions.RESPONSE.check(answer)

# %%
with ReplicasByHand() as replicas:
    replicas.lead(1)
    sent = replicas.produce("a", acks=-1)
    for follower in (2, 3, 2, 3, 2):
        replicas.fetch(follower)
        print(f"fetch {follower}: {sent}")

film(replicas.film)

# %% [markdown]
# The requests between the brokers, recorded:

# %% [markdown] lang="zh"
# broker 之间的请求，实录如下：

# %%
sequence_diagram(two_fetch_rounds())

# %% [markdown]
# ## Out of the ISR, and back
#
# Broker 3 is silent. What commits the record, and **which is changed first: `"ZooKeeper"`, the `"ISR"` in memory or the
# `"HW"`?**

# %% [markdown] lang="zh"
# ## 离开 ISR，再回来
#
# broker 3 不再拉取。是什么使记录提交的？**最先改的是哪个：`"ZooKeeper"`、内存里的 `"ISR"`，还是高水位（`"HW"`）？**

# %%
answer = None
predictions.FIRST.check(answer)

# %%
sequence_diagram(isr_shrinks_and_expands())

# %% [markdown]
# ## The example of the slides
#
# Cover the right-hand side, and say after each step what the logs contain.

# %% [markdown] lang="zh"
# ## 幻灯片里的例子
#
# 盖住右边，每一步之后先说出各个日志里有什么。

# %%
film(played(isr_example))

# %% [markdown]
# ## What acks promise
#
# The leader dies right after each of three writes, with `acks` 0, 1 and -1. **How many of the records survive?**

# %% [markdown] lang="zh"
# ## 各种 acks 承诺了什么
#
# 写入三次，`acks` 是 0、1、-1，每次一写完主副本就崩溃。**还在的记录有几条？**

# %%
answer = None
predictions.SURVIVORS.check(answer)

# %%
for acks in (0, 1, -1):
    with ReplicasByHand() as replicas:
        replicas.lead(1)
        written = replicas.produce("a", acks=acks)
        while acks == -1 and written.response == "…":
            for follower in (2, 3):
                replicas.fetch(follower)
        replicas.kill(1)
        replicas.elect()
        print(f"acks={acks:2}  {written!s:14} the new leader has {[v for v, _ in replicas.film[-1].views[2].values]}")

# %% [markdown]
# ## The loss that KIP-101 ended
#
# Broker 2 has *b*, *b* is committed, and broker 2 does not know it yet. It restarts, and then the leader dies. First
# brokers of 0.10.2, then newer ones. The steps are `kill 2`, `start 2`, `kill 1`, `lead 2`, `fetch 3`. **After which of
# them do the logs in the two films differ for the first time?**

# %% [markdown] lang="zh"
# ## KIP-101 终结的丢失
#
# broker 2 有 **b**，**b** 也已经提交，但 broker 2 还不知道。这时它重新启动，随后主副本崩溃。先看 0.10.2 的 broker，再
# 看较新的。各步是 `kill 2`、`start 2`、`kill 1`、`lead 2`、`fetch 3`。**从哪一步开始，两组图里的日志不同？**

# %%
answer = None
predictions.DIFFERENCE.check(answer)

# %%
film(predictions.restart_and_lose_the_leader(BOOKS_KAFKA))

# %%
film(predictions.restart_and_lose_the_leader())

# %% [markdown]
# ## Two logs that differ
#
# Each of two leaders has written what the other one never saw: the first a, b and c, the second d after a. What does
# the follower ask to find out **up to which offset the logs are the same?**

# %% [markdown] lang="zh"
# ## 两个分叉的日志
#
# 两个主副本先后写入，都没见过对方写的记录：第一个写了 a、b、c，第二个在 a 之后写了 d。备份副本要问什么才能知道：
# **两个日志到哪个偏移量为止相同？**

# %%
answer = None
predictions.COMMON.check(answer)

# %%
with ReplicasByHand(brokers=2) as replicas:
    replicas.lead(1)
    replicas.produce("a")
    for _ in range(2):
        replicas.fetch(2)
    replicas.produce("b", acks=1)
    replicas.produce("c", acks=1)
    replicas.kill(1)
    replicas.elect()
    replicas.produce("d", acks=1)
    replicas.start(1)
    own, leaders = (replicas.brokers[number].partition.log for number in (1, 2))
    print("broker 1 asks for epoch", own.latest_epoch)
    print("broker 2 says:", tuple(leaders.end_offset_for_epoch(own.latest_epoch)))
    replicas.fetch(1)

film(replicas.film[-4:])

# %% [markdown]
# ## Now you
#
# - Set `min_insync_replicas=2`, and find a history in which an acknowledged record is lost nevertheless. There is none
#   with `acks=-1` and clean elections. **Which of the two do you have to give up: only `"acks"` helps, only
#   `"elections"` helps, `"either"` is enough, or must it be `"both"`?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 设置 `min_insync_replicas=2`，设计一串操作，使已经确认的记录仍然丢失。只要用 `acks=-1`，而且只做干净的选举，就不会丢
#   失。**要让它丢失，必须放弃哪一个：只有放弃 `"acks"` 才行，只有放弃 `"elections"` 才行，放弃任何一个都行
#   （`"either"`），还是两个都要放弃（`"both"`）？**

# %%
answer = None
predictions.GIVEN_UP.check(answer)

# %% [markdown]
# Broker 3 has fetched a, and has been silent since, so that it left the ISR; b was committed by the other two. They
# die, and broker 3 becomes the leader (`replicas.elect(unclean=True)`). A consumer has read both records. **How many
# records does another consumer find that reads from the beginning?**

# %% [markdown] lang="zh"
# broker 3 拉取了 a，此后不再拉取，所以离开了 ISR；b 由另外两个 broker 提交。它们崩溃了，broker 3 成为主副本
# （`replicas.elect(unclean=True)`）。有一个消费者已经读过两条记录。**另一个消费者从头读起，能读到几条？**

# %%
answer = None
predictions.UNCLEAN.check(answer)
