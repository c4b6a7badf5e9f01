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
# # Notebook: two workers share the work
#
# *Book 8.3.4; its page is [Herder](herder.md).*
#
# Two workers of one group start in this process, beside a broker. Each of them has a REST interface, and it does not
# matter which one you ask. Before you run a cell that ends in a question, answer it.

# %% [markdown] lang="zh"
# # 笔记本：两个工作进程分担工作
#
# 本书 8.3.4；相应的正文是[Herder](herder.md)。
#
# 同一个组的两个工作进程在本进程里启动，旁边有一个 broker。它们各有一个 REST 接口，问哪一个都一样。
# 单元格如果以问题结尾，请先回答，再运行。

# %%
import json
import logging
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from chapters.ch08_pipelines.figures import predictions
from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.connect.runtime.distributed import membership
from kafka_lite.testing import Cluster, ConnectCluster

logging.disable(logging.CRITICAL)
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
cluster = Cluster({"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1000}).start()
cluster.create_topic("lines", 2)
STRING = "org.apache.kafka.connect.storage.StringConverter"
PROPS = {"key.converter": STRING, "value.converter": STRING, "session.timeout.ms": 1500}
connect = ConnectCluster(cluster, workers=2, props=PROPS).start()
one, two = connect.workers
[worker.url for worker in (one, two)]

# %% [markdown]
# `call` is curl with less to type, and with one thing more: the worker that is asked. While the group divides its work,
# a request may be answered 409: ask again.

# %% [markdown] lang="zh"
# `call` 就是少打几个字的 curl，只多一个参数：问哪个工作进程。组正在分配工作时，请求可能得到 409：再问一次。


# %%
def call(worker, method, path, body=None):
    """Send a request to a worker; return the status of the response and what its JSON contains."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        worker.url.rstrip("/") + path, data, {"Content-Type": "application/json"}, method=method
    )
    try:
        with urllib.request.urlopen(request) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return status, json.loads(text) if text else None


def settled(worker, method, path, body=None):
    """Ask until the group has divided its work."""
    while (answer := call(worker, method, path, body))[0] == 409:
        time.sleep(0.05)
    return answer


def owners(worker, name, running):
    """Wait until so many of a connector and its tasks run; return which worker runs what."""
    while True:
        status, found = call(worker, "GET", f"/connectors/{name}/status")
        parts = [("connector", found["connector"])] if status == 200 else []
        parts += [(f"task {task['id']}", task) for task in found["tasks"]] if parts else []
        alive = {each.id: number for number, each in enumerate((one, two), 1) if each.is_running}
        runs = {part: alive[each["worker_id"]] for part, each in parts if is_running(each, alive)}
        if len(runs) == running:
            return {part: f"worker {number}" for part, number in runs.items()}
        time.sleep(0.05)


def is_running(each, alive):
    """Whether a part runs on a worker that is alive."""
    return each["state"] == "RUNNING" and each["worker_id"] in alive


[settled(worker, "GET", "/connectors") for worker in (one, two)]

# %% [markdown]
# ## A connector with two tasks
#
# A sink with `tasks.max` 2 comes into the group. How many times does the group rebalance until its tasks run?

# %% [markdown] lang="zh"
# ## 一个有两个任务的连接器
#
# 组里来了一个接收端，`tasks.max` 是 2。到它的任务运行为止，组要再平衡几次？

# %%
answer = None
predictions.CREATED.check(answer)

# %% [markdown]
# The group has three things to run then, the connector and two tasks, and two members. How many of the three does the
# worker get that gets more?

# %% [markdown] lang="zh"
# 这时组有三样东西要运行：连接器和两个任务；成员有两个。分得多的那个工作进程，得到三样中的几样？

# %%
answer = None
predictions.LARGER_SHARE.check(answer)

# %%
before = one.herder.generation
sink = {"connector.class": "FileStreamSink", "file": str(folder / "out.txt"), "topics": "lines", "tasks.max": "2"}
status, answer = settled(two, "POST", "/connectors", {"name": "out", "config": sink})
print(status, answer["name"], answer["tasks"])
print(owners(one, "out", running=3))
print(f"generation {before}, then {one.herder.generation}")

# %% [markdown]
# Each rebalance has led both workers through these states:

# %% [markdown] lang="zh"
# 每次再平衡，两个工作进程都经历这些状态：

# %%
draw_states(membership.VALID_PREVIOUS_STATES)

# %% [markdown]
# Only the leader writes configurations. If worker 2 does not lead, it has passed the request on. Here is what the
# leader wrote. Every worker reads this topic, and decides by itself what each record means for it.

# %% [markdown] lang="zh"
# 只有主工作进程写配置。工作进程 2 如果不是主，就已经把请求转了出去。下面是主工作进程写的。
# 每个工作进程都读这个主题，自己判断每条记录对它意味着什么。

# %%
for record in cluster.records("connect-configs"):
    print(record.offset, record.key.decode(), (record.value or b"null").decode()[:72])

# %% [markdown]
# ## Records flow
#
# A source reads a file, whichever worker runs it.

# %% [markdown] lang="zh"
# ## 消息流动起来
#
# 源端读一个文件，由哪个工作进程运行都行。

# %%
(folder / "in.txt").write_text("one\ntwo\n")
source = {"connector.class": "FileStreamSource", "file": str(folder / "in.txt"), "topic": "lines"}
print(settled(one, "PUT", "/connectors/in/config", source)[0])
print("in ", owners(two, "in", running=2))
print("out", owners(two, "out", running=3))


def copied():
    """The lines that the sink has written."""
    return sorted((folder / "out.txt").read_text().split()) if (folder / "out.txt").exists() else []


while set(copied()) != {"one", "two"}:
    time.sleep(0.05)
copied()

# %% [markdown]
# ## A wish, and an order
#
# A pause may be written by any worker, and everybody who runs a part of the connector reads it. How many rebalances
# does it take?

# %% [markdown] lang="zh"
# ## 愿望与命令
#
# 暂停可以由任何一个工作进程写下，凡是运行这个连接器一部分的，都会读到。这要再平衡几次？

# %%
answer = None
predictions.PAUSED_IN_A_GROUP.check(answer)

# %%
before = one.herder.generation
for verb in ("pause", "resume"):
    print(call(two, "PUT", f"/connectors/out/{verb}")[0], verb)
print(owners(one, "out", running=3), one.herder.generation - before)

# %% [markdown]
# A restart is an order to the owner. With `includeTasks` (KIP-745) it is one to all owners: the leader writes it into
# the config topic, and answers what is about to be restarted. Nothing moves.

# %% [markdown] lang="zh"
# 重启是给所有者的命令。加上 `includeTasks`（KIP-745），就是给全部所有者的：主工作进程把它写入配置主题，
# 并在响应里说明要重启什么。什么都不移动。

# %%
status, answer = settled(two, "POST", "/connectors/out/restart?includeTasks=true")
print(status, answer["connector"]["state"], [task["state"] for task in answer["tasks"]])
print(cluster.records("connect-configs")[-1].key.decode())
print(owners(one, "out", running=3), one.herder.generation - before)

# %% [markdown]
# ## A worker is killed
#
# Worker 2 dies and tells nobody. After its session, worker 1 runs all five: two connectors and three tasks.

# %% [markdown] lang="zh"
# ## 一个工作进程被杀死
#
# 工作进程 2 死了，没有告诉任何人。会话过期后，全部五样都由工作进程 1 运行：两个连接器和三个任务。

# %%
two.kill()
with (folder / "in.txt").open("a") as more:
    more.write("three\n")
print("in ", owners(one, "in", running=2))
print("out", owners(one, "out", running=3))
while "three" not in copied():
    time.sleep(0.05)
copied()

# %% [markdown]
# All lines are there. One that comes twice would be no mistake: what worker 2 had copied after its last commit is
# copied again.

# %% [markdown] lang="zh"
# 所有的行都在。有一行出现两次也不算错：工作进程 2 在最后一次提交之后复制的，会再复制一遍。

# %%
connect.stop()
cluster.stop()
temporary.cleanup()
