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
# # Notebook: joining a group
#
# *Book 5.1 and 5.3; its pages are [Joining a group](joining.md) and [The delayed join](delayed-join.md).*
#
# A broker and up to five real consumers run in this process, each in a thread of its own, and their requests are
# recorded from outside. The times were measured when this page was built, on a busy machine; run the notebook on yours.
# Before most steps there is a question: write your answer in the place of `None` and run the cell. It says whether you
# are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：加入消费组
#
# 本书 5.1 和 5.3；相应的正文是[消费者加入消费组](joining.md)和[延迟的加入组操作](delayed-join.md)。
#
# 一个 broker 和最多五个真实的消费者在本进程里运行，每个消费者有自己的线程，它们之间的通信从外部录制下来。时间是生成本页
# 时测得的，那台机器当时还在做别的事；请在自己的机器上运行。多数步骤之前有一个问题：把答案写在 `None` 的位置，运行单元
# 格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch05_coordinator.figures import joining_predictions as predictions
from chapters.ch05_coordinator.figures.group_figures import ownership
from chapters.ch05_coordinator.figures.group_runs import four_members_join, one_to_five, third_member_joins
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_learn.recording.recorded_run import Kind
from kafka_lite.clients.cluster import Cluster as ClusterView
from kafka_lite.clients.cluster import Node, PartitionInfo
from kafka_lite.consumer.assignors.partition_assignor import (
    Subscription,
    deserialize_subscription,
    serialize_subscription,
)
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.consumer.assignors.round_robin_assignor import RoundRobinAssignor
from kafka_lite.consumer.assignors.sticky_assignor import StickyAssignor
from kafka_lite.testing import Cluster

# %% [markdown]
# ## Four members join and sync
#
# *ann*, *bob*, *cid* and *dan* join an empty group one after the other. The broker waits for more members as long as
# new ones arrive: thirty seconds of its clock, which is moved forward. **Who is the leader, `"ann"`, `"bob"`, `"cid"`,
# `"dan"` or the `"broker"`? And how many JoinGroup responses are sent together at last?**

# %% [markdown] lang="zh"
# ## 四个成员加入和同步
#
# *ann*、*bob*、*cid* 和 *dan* 先后来到一个空的组。只要还有成员来，broker 就继续等：按它的时钟是三十秒，这个时钟会被拨
# 快。**谁是主消费者：`"ann"`、`"bob"`、`"cid"`、`"dan"`，还是 `"broker"`？最后一起发出的 JoinGroup 响应有几个？**

# %%
answer = None
predictions.LEADER.check(answer)

# %%
answer = None
predictions.AT_ONCE.check(answer)

# %%
run = four_members_join()
sequence_diagram(run)


# %%
def responses(run, what):
    """When each response to a request reached its member, and what it says."""
    for pair in run.hand_overs():
        if pair.put.what == f"{what} response" and pair.take is not None:
            print(f"{pair.take.time_ns / 1e6:8.2f} ms  {pair.take.who:4} {pair.take.detail['says']}")


responses(run, "JoinGroup")
responses(run, "SyncGroup")

# %% [markdown]
# The second JoinGroup of *ann* was answered after all the others had arrived. In all that time, no thread of the
# broker was waiting for it. **Which thread sent the response: a `"network thread"`, a `"request handler"`, or the
# `"reaper"`, which expires delayed operations?**

# %% [markdown] lang="zh"
# *ann* 的第二个 JoinGroup，要等其他人都来了才得到响应。这期间 broker 里没有线程在等它。**那么响应由哪个线程发出：网络线
# 程（`"network thread"`）、处理线程（`"request handler"`），还是使延迟的操作超时的清理线程（`"reaper"`）？**

# %%
answer = None
predictions.THREAD.check(answer)

# %%
parked = [
    pair for pair in run.hand_overs() if pair.put.what == "JoinGroup response" and "generation" in str(pair.take.detail)
]
print({pair.put.thread for pair in parked})

# %% [markdown]
# The reaper: a timeout completed the join, not the last member.
#
# ## Bytes of a subscription
#
# For the broker, a subscription is opaque bytes. For the leader, it is this:

# %% [markdown] lang="zh"
# 是清理线程：这次加入因超时而完成，而不是因为最后一个成员到来。
#
# ## 传送的是什么
#
# 在 broker 看来，订阅只是字节。主消费者看到的是这样：

# %%
said = serialize_subscription(Subscription(("flights", "weather")))
print(said)
print(deserialize_subscription(said))

# %% [markdown]
# ## One to five consumers
#
# Four partitions. *ann*, *bob*, *cid*, *dan* and *eve* join one after the other, and leave in the same order. The range
# assignor sorts members by their ids, which begin with the names. **Who has no partition when all five are there, or is
# it `"nobody"`? Who gets partition 0 when ann leaves?**

# %% [markdown] lang="zh"
# ## 一到五个消费者
#
# 四个分区。*ann*、*bob*、*cid*、*dan* 和 *eve* 一个接一个地来，又按同样的次序离开。range 分配器按编号给成员排序，而编号
# 以名字开头。**五个都在时谁没有分区，还是谁都有（`"nobody"`）？ann 离开时，分区 0 归谁？**

# %%
answer = None
predictions.IDLE.check(answer)

# %%
answer = None
predictions.HEIR.check(answer)

# %%
run = one_to_five()
ownership(run)

# %%
owned, generation = {}, 0
for event in run:
    if event.kind is Kind.NOTE and event.what.startswith("on_join_complete"):
        owned[event.who] = event.detail["partitions"]
    elif event.kind is Kind.STATE and event.detail["after"] == "PREPARING_REBALANCE":
        if owned:
            print(f"generation {generation}: {owned}")
        owned, generation = {}, generation + 1
print(f"generation {generation}: {owned}")

# %% [markdown]
# *ann* leaves, and *every* member gets another part, where one partition with a new owner would be enough. **How many
# of the four change their owner with the range assignor? And with the sticky one, which remembers what members own?**

# %% [markdown] lang="zh"
# *ann* 离开，**每个成员**分到的都变了，其实一个分区换所有者就够了。**用 range 分配器，四个分区中有几个换了所有者？用
# sticky，也就是记得成员拥有什么的那种呢？**

# %%
answer = None
predictions.MOVED_BY_RANGE.check(answer)

# %%
answer = None
predictions.MOVED_BY_STICKY.check(answer)

# %%
members = ["ann", "bob", "cid", "dan", "eve"]
view = ClusterView(
    [node := Node(0, "localhost", 9092)],
    [PartitionInfo("demo", number, node, (node,), (node,)) for number in range(4)],
)
for kind in (RangeAssignor, RoundRobinAssignor, StickyAssignor):
    assignors = {name: kind() for name in members}  # each member has one of its own
    owners = []
    for generation, present in enumerate((members, members[1:]), 1):
        said = {name: Subscription(("demo",), assignors[name].subscription_user_data(["demo"])) for name in present}
        assigned = assignors[present[0]].assign(view, said)
        for name, part in assigned.items():
            assignors[name].on_assignment(part, generation)
        owners.append({partition: name for name, part in assigned.items() for partition in part.partitions})
    before, after = owners
    moved = [partition for partition in before if before[partition] != after[partition]]
    print(f"{kind.name:10} {len(moved)} of 4 partitions have another owner after ann has left")

# %% [markdown]
# ## A third member
#
# *ann* and *bob* share the topic when *cid* joins. Their heartbeat interval is 60 ms. **The response to which request
# tells them: `"Fetch"`, `"Heartbeat"`, `"JoinGroup"` or `"OffsetCommit"`? For how many milliseconds do they keep
# reading, at most, if requests take no time?**

# %% [markdown] lang="zh"
# ## 第三个成员
#
# *ann* 和 *bob* 分担一个主题，这时 *cid* 加入。他们的心跳间隔是 60 ms。**他们从哪个请求的响应得知：`"Fetch"`、
# `"Heartbeat"`、`"JoinGroup"` 还是 `"OffsetCommit"`？如果请求不花时间，他们最多继续读多少毫秒？**

# %%
answer = None
predictions.NEWS.check(answer)

# %%
answer = None
predictions.READING.check(answer)

# %%
run = third_member_joins()
sequence_diagram(run)

# %%
begun = next(event.time_ns for event in run if event.kind is Kind.STATE)
for event in run:
    if event.kind is Kind.NOTE and event.what.startswith("on_join_") and event.time_ns > begun:
        print(f"{(event.time_ns - begun) / 1e6:7.2f} ms  {event.who}: {event.what}")

# %% [markdown]
# Nearly all of this time is waiting for the next heartbeats (every 60 ms here). Only a few milliseconds pass from the
# last revocation to the first assignment.
#
# ## By hand
#
# What would a real consumer not do? These members do nothing by themselves. Those with a parked request are in
# brackets. *ann*, *bob*, *ann* and *bob* join, *ann* syncs, *bob* syncs; then *bob* joins, *ann* joins, *bob* sends a
# heartbeat, *bob* leaves. *ann* is the leader. **How many of these ten calls start a rebalance?**

# %% [markdown] lang="zh"
# 几乎全是在等待心跳（这里是每 60 ms 一次）。从最后一个成员放弃分区，到第一个成员接管，只有几毫秒。
#
# ## 手工操作
#
# 真实的消费者不会这样做；这里的成员完全由我们手工操作。请求被搁置的成员，写在方括号里。*ann*、*bob*、*ann*、*bob* 加
# 入，*ann* 同步，*bob* 同步；然后 *bob* 加入，*ann* 加入，*bob* 发送心跳，*bob* 离开。*ann* 是主消费者。**这十次调用
# 中，有几次会开始一次再平衡？**

# %%
answer = None
predictions.STARTED.check(answer)

# %%
with Cluster() as cluster:
    group = GroupByHand(cluster)
    ann, bob = group.member("ann"), group.member("bob")
    for request in (
        ann.join, bob.join, ann.join, bob.join, lambda: ann.sync({ann: b"0 1", bob: b"2 3"}), bob.sync, bob.join,
        ann.join, bob.heartbeat, bob.leave,
    ):  # fmt: skip
        member = request()
        print(f"{member!s:40} {group}")

# %% [markdown]
# ## Now you
#
# - Let `one_to_five` use `partition.assignment.strategy=sticky` (`Reader` in
#   `chapters/ch05_coordinator/figures/group_runs.py` accepts configuration keys), and compare the colours.
# - Give the members a heartbeat interval of 300 ms and predict the gaps.
# - By hand, let *ann* join, then *bob*; then send the SyncGroup of *ann*, who has not joined again. **What does it get:
#   `"its assignment"`, `"REBALANCE_IN_PROGRESS"`, `"ILLEGAL_GENERATION"` or `"UNKNOWN_MEMBER_ID"`?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 让 `one_to_five` 使用 `partition.assignment.strategy=sticky`（`Reader` 在
#   `chapters/ch05_coordinator/figures/group_runs.py` 里，接受配置的键），比较颜色。
# - 让成员的心跳间隔为 300 ms，预测那些空隙。
# - 手工操作：*ann* 加入，*bob* 加入，*ann* 没有再次加入，就发送她的 SyncGroup。**会得到什么响应：分配结果
#   （`"its assignment"`）、`"REBALANCE_IN_PROGRESS"`、`"ILLEGAL_GENERATION"` 还是 `"UNKNOWN_MEMBER_ID"`？**

# %%
answer = None
predictions.EARLY_SYNC.check(answer)
