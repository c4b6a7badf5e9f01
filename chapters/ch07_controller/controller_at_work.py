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
# starts three new brokers, and takes a second or two. Before you run a cell that ends in a question, answer it.

# %% [markdown] lang="zh"
# # 笔记本：看控制器怎样工作
#
# 本书第 7 章；正文从[控制器](controller.md)开始。
#
# 本进程里有三个 broker 和一个内嵌的 ZooKeeper。broker 1 最先启动，所以它是控制器。每次实录都启动三个新的 broker，用一
# 两秒。凡是以问题结尾的单元格，先写下答案，再往下运行。

# %%
from chapters.ch07_controller.figures import controller_figures
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
# **Which arrows does a partition follow from its creation to its deletion? And a replica whose broker dies in
# between?**

# %% [markdown] lang="zh"
# ## 状态表
#
# **从创建到删除，一个分区走过哪些箭头？如果一个副本的 broker 中途崩溃，这个副本又走过哪些？**

# %%
draw_states(partition_state_machine.VALID_PREVIOUS_STATES)

# %%
draw_states(replica_state_machine.VALID_PREVIOUS_STATES)

# %% [markdown]
# ## A topic comes and goes
#
# **In which step is the first request sent, and what has been written to ZooKeeper by then?**

# %% [markdown] lang="zh"
# ## 创建和删除主题
#
# **第一个请求在哪一步发出？到那时 ZooKeeper 里已经写了什么？**

# %%
sequence_diagram(topic_creation())

# %% [markdown]
# **Why do the brokers get StopReplica twice?**

# %% [markdown] lang="zh"
# **每个 broker 为什么收到两次 StopReplica？**

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
# **How many requests does each broker get, and which one could be left out?**

# %% [markdown] lang="zh"
# ## 一个主副本崩溃
#
# **每个 broker 收到几个请求？其中哪一个可以省掉？**

# %%
sequence_diagram(leader_dies())

# %% [markdown]
# ## The controller dies
#
# It led nothing. **What does the new controller write, and what does it only repeat?**

# %% [markdown] lang="zh"
# ## 控制器崩溃
#
# 它不是任何分区的主副本。**新控制器写了什么？哪些只是重复？**

# %%
sequence_diagram(controller_dies())

# %% [markdown]
# ## A broker stops
#
# **When is the last moment in which broker 2 leads something?**

# %% [markdown] lang="zh"
# ## 一个 broker 停止
#
# **broker 2 最后一次当主副本是在什么时候？**

# %%
sequence_diagram(controlled_shutdown())

# %% [markdown]
# ## What each broker knows
#
# The metadata caches of three brokers, while leaders move. **Which brokers does each of them show after broker 3 has
# gone?**

# %% [markdown] lang="zh"
# ## 各个 broker 知道什么
#
# 主副本移走时，看三个 broker 的元数据缓存。**broker 3 停止之后，各个缓存里有哪些 broker？**

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
# - Start broker 3 again in the last cell (`brokers.start(3)`), and wait until it is in both ISRs. Does it lead again?
# - Stop the controller and the leader of a partition at the same moment. Which of the two is replaced first, and why?

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 在最后一个单元格里重新启动 broker 3（`brokers.start(3)`），等它回到两个 ISR 里。它又当上主副本了吗？
# - 让控制器和某个分区的主副本同时停止。哪一个先有人接替？为什么？
