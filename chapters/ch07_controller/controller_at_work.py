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
# # Notebook: the controller at work
#
# *Book 7; its pages begin with [The controller](controller.md).*
#
# Three brokers in this process, with an embedded ZooKeeper. Broker 1 starts first, so it is the controller. Each run
# starts three new brokers, and takes a second or two. Before most of them there is a question: write your answer in the
# place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：看控制器怎样工作
#
# 本书第 7 章；正文从[控制器](controller.md)开始。
#
# 本进程里有三个 broker 和一个内嵌的 ZooKeeper。broker 1 最先启动，所以它是控制器。每次实录都启动三个新的 broker，用一两
# 秒。多数实录之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch07_controller.figures import controller_figures
from chapters.ch07_controller.figures import controller_predictions as predictions
from chapters.ch07_controller.figures.controller_runs import (
    controlled_shutdown,
    controller_dies,
    leader_dies,
    topic_creation,
    topic_deletion,
)
from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.state_machines import draw_states
from kafka_learn.recording.run_brokers import wait_until
from kafka_learn.recording.run_clusters import running_brokers
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller import partition_state_machine, replica_state_machine

# %% [markdown]
# ## The tables
#
# The states of a partition are NON_EXISTENT, NEW, ONLINE and OFFLINE. Those of a replica are the same, and
# DELETION_STARTED, DELETION_SUCCESSFUL and DELETION_INELIGIBLE. A topic is created, used, and deleted. Write the states
# with blanks between them, such as `"OFFLINE NEW"`: **through which states does its partition pass, between
# NON_EXISTENT at the beginning and NON_EXISTENT at the end?**

# %% [markdown] lang="zh"
# ## 状态表
#
# 分区的状态有 NON_EXISTENT、NEW、ONLINE 和 OFFLINE；副本的状态除了这些，还有 DELETION_STARTED、DELETION_SUCCESSFUL 和
# DELETION_INELIGIBLE。创建一个主题，使用它，再删除它。用空格隔开各个状态，例如 `"OFFLINE NEW"`：**从开头的 NON_EXISTENT
# 到末尾的 NON_EXISTENT，它的分区中间经过哪些状态？**

# %%
answer = None
predictions.PARTITION_STATES.check(answer)

# %% [markdown]
# **And through which states does a replica pass between ONLINE and NON_EXISTENT, if all goes well?**

# %% [markdown] lang="zh"
# **一切顺利的话，副本从 ONLINE 到 NON_EXISTENT，中间经过哪些状态？**

# %%
answer = None
predictions.REPLICA_STATES.check(answer)

# %%
draw_states(partition_state_machine.VALID_PREVIOUS_STATES)

# %%
draw_states(replica_state_machine.VALID_PREVIOUS_STATES)

# %% [markdown]
# ## A topic comes and goes
#
# The controller learns of a new topic from ZooKeeper, and tells the brokers with LeaderAndIsr. **In which state is the
# partition when the first of these requests is sent: `"NON_EXISTENT"`, `"NEW"`, `"ONLINE"` or `"OFFLINE"`?**

# %% [markdown] lang="zh"
# ## 创建和删除主题
#
# 控制器从 ZooKeeper 得知新的主题，用 LeaderAndIsr 通知各个 broker。**发出第一个这样的请求时，分区处于哪个状态：
# `"NON_EXISTENT"`、`"NEW"`、`"ONLINE"`，还是 `"OFFLINE"`？**

# %%
answer = None
predictions.TOLD.check(answer)

# %%
sequence_diagram(topic_creation())

# %% [markdown]
# The topic is deleted. Think of the states of its replicas. **How many StopReplica requests does each broker get?**

# %% [markdown] lang="zh"
# 删除这个主题。想想它的副本经过的状态。**每个 broker 收到几个 StopReplica 请求？**

# %%
answer = None
predictions.STOPS.check(answer)

# %%
sequence_diagram(topic_deletion())

# %% [markdown]
# ## Who leads?
#
# Cover the last three columns, and fill them in.

# %% [markdown] lang="zh"
# ## 谁当主副本？
#
# 盖住最后三列，自己填一填。

# %%
InBothLanguages(controller_figures.elections)

# %% [markdown]
# ## A leader dies
#
# The partition has its replicas on 2, 3 and 1. Broker 2 dies, and broker 3 leads. **How many times does broker 3 get
# LeaderAndIsr?**

# %% [markdown] lang="zh"
# ## 一个主副本崩溃
#
# 分区的副本在 2、3、1 上。broker 2 崩溃，broker 3 当上主副本。**broker 3 收到几次 LeaderAndIsr？**

# %%
answer = None
predictions.TOLD_TWICE.check(answer)

# %%
sequence_diagram(leader_dies())

# %% [markdown]
# ## The controller dies
#
# It led nothing, but it was in the ISR of the partition that broker 2 leads, with the leader epoch 0. The new
# controller tells all brokers what it finds in ZooKeeper. **Which leader epoch does the partition have in the end?**

# %% [markdown] lang="zh"
# ## 控制器崩溃
#
# 它不是任何分区的主副本，但有一个分区的 ISR 里有它，那个分区的主副本在 broker 2 上，主副本的纪元是 0。新控制器把它在
# ZooKeeper 里读到的告诉所有的 broker。**最后，这个分区的主副本纪元是多少？**

# %%
answer = None
predictions.EPOCH.check(answer)

# %%
sequence_diagram(controller_dies())

# %% [markdown]
# ## A broker stops
#
# Broker 2 leads one of two partitions, follows in the other, and stops in an orderly way. **How many partitions does it
# lead at the moment when its session in ZooKeeper ends?**

# %% [markdown] lang="zh"
# ## 一个 broker 停止
#
# 有两个分区，broker 2 是一个的主副本，另一个的备份副本。它正常停止。**它在 ZooKeeper 里的会话结束的那一刻，它是几个分区
# 的主副本？**

# %%
answer = None
predictions.LED.check(answer)

# %%
sequence_diagram(controlled_shutdown())

# %% [markdown]
# ## What each broker knows
#
# The metadata caches of three brokers, while leaders move. The replicas of demo-0 are on 3, 1 and 2, those of demo-1 on
# 1, 2 and 3, and all are in sync. Broker 3 dies. **Which broker leads demo-0 in the cache of broker 2?**

# %% [markdown] lang="zh"
# ## 各个 broker 知道什么
#
# 主副本移走时，看三个 broker 的元数据缓存。demo-0 的副本在 3、1、2 上，demo-1 的在 1、2、3 上，全都同步。broker 3 崩
# 溃。**在 broker 2 的缓存里，demo-0 的主副本是哪个 broker？**

# %%
answer = None
predictions.LEADER.check(answer)

# %%
with running_brokers() as brokers:
    brokers.create_topic((3, 1, 2), (1, 2, 3))

    def show(when):
        for number, server in brokers.servers.items():
            known = server.metadata_cache.get_partitions("demo")
            leaders = {index: (info.leader, list(info.isr)) for index, info in sorted(known.items())}
            alive = [broker.id for broker in server.metadata_cache.get_alive_brokers()]
            print(f"{when}  broker {number}: alive {alive}, leaders and ISRs {leaders}")

    show("before")
    brokers.stop(3)
    brokers.wait_until_led(1, TopicPartition("demo", 0))
    wait_until(lambda: all(len(s.metadata_cache.get_alive_brokers()) == 2 for s in brokers.servers.values()))
    show("after ")

# %% [markdown]
# ## Now you
#
# - The controller and the leader of a partition die at the same moment: `controller_dies(with_the_leader=True)`.
#   **Which of the two is replaced first, the `"controller"` or the `"leader"`, or is it `"both"` at once?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 控制器和某个分区的主副本同时崩溃：`controller_dies(with_the_leader=True)`。**哪一个先有人接替：控制器
#   （`"controller"`）、主副本（`"leader"`），还是同时（`"both"`）？**

# %%
answer = None
predictions.REPLACED.check(answer)

# %% [markdown]
# Start broker 3 again in the last run (`brokers.start(3)`), and wait until it is in both ISRs. It is the preferred
# replica of demo-0. **Which broker leads demo-0 then?**

# %% [markdown] lang="zh"
# 在最后一次运行里重新启动 broker 3（`brokers.start(3)`），等它回到两个 ISR 里。它是 demo-0 的优先副本。**这时 demo-0 的
# 主副本在哪个 broker 上？**

# %%
answer = None
predictions.RETURNED.check(answer)
