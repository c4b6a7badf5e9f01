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
# # Notebook: a stream that is killed and comes back
#
# *Its page is [Where exactly once begins and ends](exactly-once.md).*
#
# A query writes a batch to its table, and its process is killed with `kill -9` before Spark can commit the batch.
# Before you run a cell that ends in a question, answer it. Starting Spark takes some seconds, and it is started twice.

# %% [markdown] lang="zh"
# # 笔记本：一个被杀掉之后又恢复的流
#
# **相应的正文是[恰好一次：从哪里开始，到哪里为止](exactly-once.md)。**
#
# 一个查询把一批写进表里；在 Spark 提交这一批之前，它的进程被 `kill -9` 杀掉。
# 单元格如果以问题结尾，请先回答，再运行下一个。启动 Spark 需要几秒钟，一共启动两次。

# %%
import tempfile
from pathlib import Path

from chapters.topics_as_tables.figures import copied_stream
from chapters.topics_as_tables.figures.recorded_stream import send
from kafka_lite.testing import Cluster
from pipeline.events import FLIGHTS
from pipeline.sinks import read_table

folder = Path(tempfile.mkdtemp())
cluster = Cluster().start()
cluster.create_topic(FLIGHTS.topic, configs={"retention.ms": "-1"})

# %% [markdown]
# ## Killed between its sink and its commit
#
# The query is a program of its own: it reads the topic and writes each batch to a table. With `kill=True` it sends
# itself SIGKILL in the sink, after the rows of the first batch are in the table. The driver is gone at once, and
# nothing is closed. **Which files does the checkpoint have, and which rows the table?**

# %% [markdown] lang="zh"
# ## 在输出端与提交之间被杀掉
#
# 这个查询是一个独立的程序：它读主题，把每一批写进表里；
# `kill=True` 时，第一批的行一进表，它就在输出端里给自己发 SIGKILL。
# 驱动进程立刻消失，什么都来不及关闭。**检查点里有哪些文件？表里有哪些行？**

# %%
send(cluster.bootstrap_servers, ["10:05", "10:20", "10:50"])
print("exit code:", copied_stream.run(cluster.bootstrap_servers, folder, kill=True))
print(read_table(copied_stream.table(folder)).to_string())

# %%
copied_stream.draw(folder)

# %% [markdown]
# ## The checkpoint, opened
#
# The last line of `offsets/0` says how far the batch reads. It was written before the batch ran, and that is why the
# batch will be the same when it runs again.

# %% [markdown] lang="zh"
# ## 打开检查点
#
# `offsets/0` 的最后一行说明这一批读到哪里。它在这一批运行之前就写好了，所以再次运行时，这一批还是同一批。

# %%
print((copied_stream.checkpoint(folder) / "offsets" / "0").read_text().splitlines()[-1])

# %% [markdown]
# ## It comes back
#
# Two more flights have come in the meantime. **How many rows does the table have, and in which batches?**

# %% [markdown] lang="zh"
# ## 恢复
#
# 这期间又来了两趟航班。**表里有几行，分别在哪些批次？**

# %%
send(cluster.bootstrap_servers, ["11:10", "11:30"])
print("exit code:", copied_stream.run(cluster.bootstrap_servers, folder))
print(read_table(copied_stream.table(folder)).to_string())

# %%
copied_stream.draw(folder)

# %%
cluster.stop()
