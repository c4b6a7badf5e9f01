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
# seconds expires within a moment. Before most steps there is a question: write your answer in the place of `None` and
# run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：会话与状态
#
# 本书 5.2 和 5.4；相应的正文是[协调者处理请求](requests.md)和[消费组状态机](group-states.md)。
#
# 这个笔记本里 broker 的时钟可以拨快，它的客户端却按真实的时间运行。所以十秒的会话一转眼就结束了。多数步骤之前有一
# 个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import logging

from chapters.ch05_coordinator.figures import group_figures
from chapters.ch05_coordinator.figures import session_predictions as predictions
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
# A single member joins, syncs, sends a heartbeat, joins again and leaves. Which arrows of the table does the group
# follow? **How many generations does it have in all?**

# %% [markdown] lang="zh"
# ## 状态表
#
# 只有一个成员，它加入、同步、发送心跳、再次加入、离开。组走过表里的哪些箭头？**一共有几个世代？**

# %%
answer = None
predictions.GENERATIONS.check(answer)

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
# Each cell is the response of a broker, requested now. Cover the table, and fill in the row of OffsetCommit first. **In
# which state is the commit of a member with the right generation rejected: `"PREPARING_REBALANCE"`, `"AWAITING_SYNC"`
# or `"STABLE"`?**

# %% [markdown] lang="zh"
# 看不到 `PREPARING_REBALANCE` 这个状态：只有一个成员，它就是全体，它自己的 JoinGroup 就完成了 DelayedJoin。不过从世代
# 看得出来：每次加入都开始一个世代，离开也是。
#
# ## 每个状态下的每种请求
#
# 每个格子都是刚刚向一个 broker 实际请求得到的。请先把表格盖住，填出 OffsetCommit 那一行。**成员带着正确的世代
# 提交，在哪个状态下被拒绝：`"PREPARING_REBALANCE"`、`"AWAITING_SYNC"` 还是 `"STABLE"`？**

# %%
answer = None
predictions.REFUSES.check(answer)

# %%
InBothLanguages(group_figures.responses)

# %% [markdown]
# ## A commit in the middle of a rebalance
#
# *ann* is alone, *bob* joins, and *ann* commits in `on_partitions_revoked`. With which generation? **What is the
# group's state then: `"EMPTY"`, `"PREPARING_REBALANCE"`, `"AWAITING_SYNC"` or `"STABLE"`? Is the commit accepted,
# `True` or `False`?**

# %% [markdown] lang="zh"
# ## 再平衡中间的一次提交
#
# 只有 *ann*，*bob* 来加入，*ann* 在 `on_partitions_revoked` 里提交。带着哪个世代？**这时组处于什么状态：`"EMPTY"`、
# `"PREPARING_REBALANCE"`、`"AWAITING_SYNC"` 还是 `"STABLE"`？提交被接受吗，`True` 还是 `False`？**

# %%
answer = None
predictions.STATE.check(answer)

# %%
answer = None
predictions.ACCEPTED.check(answer)

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
# *bob*'s process is paused, and twelve seconds pass in the broker; *ann* keeps running, and gets his partitions. **What
# is the response to his next heartbeat: `"NONE"`, `"REBALANCE_IN_PROGRESS"`, `"ILLEGAL_GENERATION"` or
# `"UNKNOWN_MEMBER_ID"`? And are the records that he has read and not committed `"lost"` or `"read again"`?**

# %% [markdown] lang="zh"
# ## 迟到的心跳
#
# *bob* 的进程停住了，broker 里过去了十二秒；*ann* 活着，得到了他的分区。**他的下一次心跳得到什么响应：`"NONE"`、
# `"REBALANCE_IN_PROGRESS"`、`"ILLEGAL_GENERATION"` 还是 `"UNKNOWN_MEMBER_ID"`？他读到却没有提交的记录会怎样：丢失
# （`"lost"`），还是再读一遍（`"read again"`）？**

# %%
answer = None
predictions.PAUSED.check(answer)

# %%
answer = None
predictions.RECORDS.check(answer)

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
# *ann*'s heartbeats are on time, but her own thread is busy. *bob* joins. Both have a session timeout of 45 s and a
# rebalance timeout of 30 s. What ends the wait of *bob*? **For how many seconds does he wait at most?**

# %% [markdown] lang="zh"
# 在这里，*ann* 一得到 *bob* 的分区，他就恢复了。也完全可能是一小时之后。消费组无法阻止他自以为拥有分区，但可以阻止他
# 提交。
#
# ## 活着却不加入的成员
#
# *ann* 的心跳都按时，但是她自己的线程正忙着。*bob* 来加入。两人的会话超时都是 45 秒，再平衡超时都是 30 秒。*bob* 的等待
# 因为什么结束？**他最多等几秒？**

# %%
answer = None
predictions.WAIT.check(answer)

# %%
run = late_join()
sequence_diagram(run)

# %% [markdown]
# ## Which timeout?
#
# *ann* has a session of ten seconds and a rebalance timeout of sixty, *bob* one of thirty and one of twenty. *ann*
# sends her last heartbeat after 16 seconds and does not join; *bob* joins at once, sends heartbeats and does not sync.
# **After how many seconds is ann removed, 20, 26 or 60? That lets bob's join succeed: after how many seconds from then
# is he removed, 10, 20 or 30?**

# %% [markdown] lang="zh"
# ## 是哪个超时？
#
# *ann* 的会话是十秒，再平衡超时是六十秒；*bob* 的是三十秒和二十秒。*ann* 在第 16 秒最后一次发送心跳，却不加入；*bob* 立
# 刻加入，发送心跳，却不同步。**几秒之后 ann 被移除，20、26 还是 60？这时 bob 的加入成功了：再过几秒他被移除，10、20 还
# 是 30？**

# %%
answer = None
predictions.ANN.check(answer)

# %%
answer = None
predictions.BOB.check(answer)

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
# - Let *bob* use version 4 of JoinGroup (`group.member("bob", version=4)`). What is the state of the group between
#   his two joins, and what does a DelayedJoin wait for that would be complete without him?
# - Let *ann* keep sending heartbeats in the last cell, every eight seconds. **After how many seconds does the wait
#   end?**

# %% [markdown] lang="zh"
# *ann* 停止发送心跳之后，因会话超时被移除：按她的再平衡超时，组还要再等半分钟。*bob* 则因再平衡超时被移除，因为他一直
# 没有来取自己的分配结果。
#
# ## 轮到你了
#
# - 让 *bob* 用版本 4 的 JoinGroup（`group.member("bob", version=4)`）。在他的两次加入之间，组处于什么状态？没有他时
#   DelayedJoin 本来已经完成，现在它在等什么？
# - 在最后一个单元格里，让 *ann* 每八秒发送一次心跳，一直发下去。**几秒之后等待结束？**

# %%
answer = None
predictions.WITH_HEARTBEATS.check(answer)
