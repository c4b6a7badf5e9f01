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
# # Notebook: sessions and states
#
# *Book 5.2 and 5.4; its pages are [The coordinator's requests](requests.md) and [The group's state
# machine](group-states.md).*
#
# In this notebook, the broker's clock can be moved forward, while its clients use the real one. So a session of ten
# seconds expires within a moment. Before you run a cell that ends in a question, answer it.

# %% [markdown] lang="zh"
# # 笔记本：会话与状态
#
# 本书 5.2 和 5.4；相应的正文是[协调者处理请求](requests.md)和[消费组状态机](group-states.md)。
#
# 这个笔记本里 broker 的时钟可以拨快，它的客户端却按真实的时间运行。所以十秒的会话一转眼就结束了。单元格如果以问题结
# 尾，请先回答，再运行下一个。

# %%
import logging

from chapters.ch05_coordinator.figures import group_figures
from chapters.ch05_coordinator.figures.group_runs import commit_in_a_rebalance, late_heartbeat, late_join
from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.state_machines import draw_states
from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_learn.recording.recorded_run import Kind
from kafka_lite.coordinator.group.group_state import VALID_PREVIOUS_STATES
from kafka_lite.testing import Cluster

logging.getLogger("kafka_lite.consumer").setLevel(logging.CRITICAL)  # we make go wrong what it would tell of

# %% [markdown]
# ## The table
#
# **Which arrows does the group follow when a single member joins and leaves?**

# %% [markdown] lang="zh"
# ## 状态表
#
# **只有一个成员，它加入又离开，走过哪些箭头？**

# %%
draw_states(VALID_PREVIOUS_STATES)

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann = group.member("ann")
    for request in (ann.join, lambda: ann.sync({ann: b"all"}), ann.heartbeat, ann.join, ann.leave):
        print(f"{request()!s:45} {group}")

# %% [markdown]
# The state `PREPARING_REBALANCE` does not show: the only member is all members, so its own JoinGroup completes the
# DelayedJoin. But the generation shows it: each join started a new one, and so did the leave.
#
# ## Every request in every state
#
# Each cell is the response of a broker, requested now. Cover the table, and fill in the row of OffsetCommit first.

# %% [markdown] lang="zh"
# 看不到 `PREPARING_REBALANCE` 这个状态：只有一个成员，它就是全体，它自己的 JoinGroup 就完成了 DelayedJoin。不过从世代
# 看得出来：每次加入都开始一个世代，离开也是。
#
# ## 每个状态下的每种请求
#
# 每个格子都是刚刚向一个 broker 实际请求得到的。请先把表格盖住，填出 OffsetCommit 那一行。

# %%
InBothLanguages(group_figures.responses)

# %% [markdown]
# ## A commit in the middle of a rebalance
#
# *ann* commits in `on_partitions_revoked`. **With which generation? What is the group's state, and is the commit
# accepted?**

# %% [markdown] lang="zh"
# ## 再平衡中间的一次提交
#
# *ann* 在 `on_partitions_revoked` 里提交。**带着哪个世代？组处于什么状态，提交被接受吗？**

# %%
sequence_diagram(commit_in_a_rebalance())

# %% [markdown]
# The same by hand, and one step further: commits of the old generation and of the new one, before and after it
# starts.

# %% [markdown] lang="zh"
# 同样的事由我们手工操作，并且多走一步：旧世代的提交和新世代的提交，在新世代开始之前和之后。

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann, bob = group.member("ann"), group.member("bob")
    ann.join()
    ann.sync({ann: b"all"})
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(10).response}")
    bob.join()
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(20).response}")
    ann.join()
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(30).response}")
    ann.generation_id -= 1
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(40).response}")
    ann.generation_id += 1
    ann.sync({ann: b"0 1", bob: b"2 3"})
    print(f"{group.state:20} ann, generation {ann.generation_id}: {ann.commit(50).response}")

# %% [markdown]
# ## A heartbeat that comes too late
#
# *bob*'s process is paused, and twelve seconds pass in the broker; *ann* keeps running. **How does bob find out? What
# happens to the records that he has read?**

# %% [markdown] lang="zh"
# ## 迟到的心跳
#
# *bob* 的进程停住了，broker 里过去了十二秒；*ann* 活着。**bob 最先从哪里得知？他读到的那些消息会怎样？**

# %%
run = late_heartbeat()
sequence_diagram(run)

# %%
taken = next(e.time_ns for e in run if e.who == "ann" and e.what.startswith("on_join_complete"))
told = next(e.time_ns for e in run if e.who == "bob" and e.what == "Heartbeat response" and e.kind is Kind.TAKE)
print(f"for {(told - taken) / 1e6:.1f} ms both believed that partitions 2 and 3 were theirs")

# %% [markdown]
# Here *bob* resumes as soon as *ann* has his partitions. It could also be an hour later. The group cannot stop him
# from believing that he owns them; it can stop him from committing.
#
# ## A member that is alive and does not join
#
# *ann*'s heartbeats are on time, but her own thread is busy. **What ends the wait of the others, and when?**

# %% [markdown] lang="zh"
# 在这里，*ann* 一得到 *bob* 的分区，他就恢复了。也完全可能是一小时之后。消费组无法阻止他自以为拥有分区，但可以阻止他
# 提交。
#
# ## 活着却不加入的成员
#
# *ann* 的心跳都按时，但是她自己的线程正忙着。**其他成员的等待因为什么结束，在什么时候？**

# %%
run = late_join()
sequence_diagram(run)

# %% [markdown]
# ## Which timeout?
#
# One session of ten seconds, one of thirty; rebalance timeouts of sixty and of twenty. *ann* sends heartbeats for a
# while and does not join; *bob* joins and does not sync. **Predict the three times before you run it.**

# %% [markdown] lang="zh"
# ## 是哪个超时？
#
# 一个会话是十秒，一个是三十秒；再平衡超时是六十秒和二十秒。*ann* 有一段时间发送心跳，却不加入；*bob* 加入了，却不同
# 步。**运行之前，请猜出三个时刻。**

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann = group.member("ann", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
    bob = group.member("bob", session_timeout_ms=30_000, rebalance_timeout_ms=20_000)
    ann.join()
    bob.join()
    passed = 0
    for seconds, member, expected in (
        (8, ann, None),
        (8, ann, None),
        (12, None, "AWAITING_SYNC"),
        (15, bob, None),
        (10, None, "EMPTY"),
    ):
        cluster.time.advance(seconds=seconds)
        passed += seconds
        if expected:
            group.wait_for(expected)
        said = member.heartbeat() if member else ""
        print(f"{passed:3} s  {said!s:28} {group}")

# %% [markdown]
# *ann* was removed when her session expired, after she had stopped sending heartbeats: until her rebalance timeout,
# the group would have waited for half a minute more. *bob* was removed at his rebalance timeout, because he never
# sent SyncGroup.
#
# ## Now you
#
# - Let *ann* keep sending heartbeats in the last cell, every eight seconds. When does the wait end?
# - Let *bob* use version 4 of JoinGroup (`group.member("bob", version=4)`). What is the state of the group between
#   his two joins, and what does a DelayedJoin wait for that would be complete without him?

# %% [markdown] lang="zh"
# *ann* 停止发送心跳之后，因会话超时被移除：按她的再平衡超时，组还要再等半分钟。*bob* 则因再平衡超时被移除，因为他一直
# 没有来取自己的分配结果。
#
# ## 轮到你了
#
# - 在最后一个单元格里，让 *ann* 每八秒发送一次心跳，一直发下去。等待什么时候结束？
# - 让 *bob* 用版本 4 的 JoinGroup（`group.member("bob", version=4)`）。在他的两次加入之间，组处于什么状态？没有他时
#   DelayedJoin 本来已经完成，现在它在等什么？
