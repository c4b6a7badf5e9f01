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
# # Notebook: quotas by hand
#
# *Book 10.1; its page is [Client quotas](quotas.md).*
#
# First the broker's `ClientQuotaManager` alone, with a clock that jumps; then a broker on which we set quotas, and
# whose throttle times we draw. Each section asks for a prediction: write your answer in the place of `None` and run
# the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：亲手设置配额
#
# 本书 10.1；相应的正文是[客户端配额](quotas.md)。
#
# 先是 broker 的 `ClientQuotaManager`，单独一个，时钟可以跳；然后是一个 broker，我们在上面设置配额，画出它的限流时
# 间。每一节都请你先预测：用答案替换 `None`，再运行单元格，它会说对不对，为什么。

# %%
import time
from collections import Counter

from chapters.ch10_advanced.figures import quota_predictions as predictions
from chapters.ch10_advanced.figures.quota_drawings import draw_sent, draw_throttle_times, obedient_producer
from kafka_lite.metrics.stats import MetricConfig

SIZE = 900_000
SAMPLES, SECONDS = 11, 1

# %% [markdown]
# ## A burst is free
#
# The quota is 1 MB/s, and the producer sends requests of 900 kB as fast as it may. The ring has 11 samples of 1 s.
# **How many requests does it send before the first delay?**

# %% [markdown] lang="zh"
# ## 开头的一批不受限
#
# 配额是 1 MB/s，生产者的每个请求 900 kB，能发就发。环里有 11 个 1 秒的样本。**第一次延迟之前，它能发几个请求？**

# %%
answer = None
predictions.FREE.check(answer)

# %%
sent = obedient_producer(SIZE, MetricConfig(SAMPLES, SECONDS * 1000))
draw_throttle_times([each.throttle_time_ms for each in sent[:20]])

# %% [markdown]
# Each delay is longer than the one before it, until the burst leaves the ring and another one is free:

# %% [markdown] lang="zh"
# 延迟一次比一次长，直到最初的那一批离开环，于是又可以白发一批：

# %%
draw_sent({f"{SAMPLES} × {SECONDS} s": sent}, SIZE)

# %% [markdown]
# ## One large request
#
# Another producer begins with a single request of 12 MB. **For how many milliseconds is it delayed?**

# %% [markdown] lang="zh"
# ## 一个大请求
#
# 另一个生产者一开始就发一个 12 MB 的请求。**它被延迟多少毫秒？**

# %%
answer = None
predictions.LARGE.check(answer)

# %%
for megabytes in (5, 10, 11, 12, 20):
    print(f"{megabytes:2} MB: {predictions.delay_of(megabytes * 1_000_000):6,} ms")

# %% [markdown]
# ## Other samples
#
# `quota.window.num=2` and `quota.window.size.seconds=5`: the ring has 2 samples of 5 s. **How many requests of 900 kB
# are free now?**

# %% [markdown] lang="zh"
# ## 换一种样本
#
# `quota.window.num=2`，`quota.window.size.seconds=5`：环里是 2 个 5 秒的样本。**现在有几个 900 kB 的请求不受限？**

# %%
answer = None
predictions.FREE_OF_LONG_SAMPLES.check(answer)

# %%
few = obedient_producer(SIZE, predictions.TWO_LONG_SAMPLES)
draw_sent({"11 × 1 s": sent, "2 × 5 s": few}, SIZE)

# %% [markdown]
# The mean is the quota in both cases. Long samples make long delays and long bursts: a sample leaves the ring as a
# whole.
#
# ## Who shares a quota
#
# The user alice has a quota, and so has the client id app. Four connections: alice's app, alice's report, bob's app,
# carol's app. **How many sensors are there?**

# %% [markdown] lang="zh"
# 两种情况的平均值都是配额。样本越长，延迟和不受限的一批也越长：样本总是整个地离开环。
#
# ## 谁共用一个配额
#
# 用户 alice 有配额，客户端 id app 也有配额。四个连接：alice 的 app、alice 的 report、bob 的 app、carol 的 app。
# **一共有几个传感器？**

# %%
answer = None
predictions.SHARED.check(answer)

# %%
predictions.sensors(predictions.QUOTAS, predictions.CLIENTS)

# %% [markdown]
# ## A broker
#
# Now a broker of our own, whose ring is short, 3 samples of 1 s, so that we need not wait for long. The quota is set
# with `kafka-lite configs`, as you would do it:

# %% [markdown] lang="zh"
# ## 一个 broker
#
# 现在是我们自己的 broker。它的环很短，3 个 1 秒的样本，这样不用等很久。配额用 `kafka-lite configs` 来设置，和你平时做
# 的一样：

# %%
from kafka_lite.testing import Cluster
from kafka_lite.tools.main import main

RATE = 200_000
cluster = Cluster({"quota.window.num": "3"}).start()
cluster.create_topic("demo")
broker = ("--bootstrap-server", cluster.bootstrap_servers)
main(["configs", *broker, "--alter", "--client", "slow", "--add-config", f"producer_byte_rate={RATE}"])
main(["configs", *broker, "--describe", "--entity-type", "clients"])

# %% [markdown]
# Records of 100 kB, one after the other, at 200 kB/s. confluent-kafka says how long the broker has delayed it
# (`throttle_cb`). Here, the time of the machine counts, and so do the bytes of headers:

# %% [markdown] lang="zh"
# 记录每条 100 kB，一条接一条，配额 200 kB/s。confluent-kafka 会说 broker 让它延迟了多久（`throttle_cb`）。这里的时间
# 是机器的，头部的字节也计算在内：

# %%
from confluent_kafka import Producer


def delays_of(client_id, requests):
    """The throttle time of each request in ms, as the client hears it."""
    heard = [0.0]
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "client.id": client_id,
            "log_level": 0,
            "throttle_cb": lambda event: heard.append(event.throttle_time * 1000),
        }
    )
    delays = []
    for _ in range(requests):
        heard.clear()
        producer.produce("demo", b"x" * 100_000)
        producer.flush()
        producer.poll(0)
        delays.append(max(heard, default=0.0))
    return delays


delays = delays_of("slow", 9)
draw_throttle_times(delays)

# %% [markdown]
# Two seconds' worth is free: four records. Another client has no quota and no delay:

# %% [markdown] lang="zh"
# 两秒的量不受限：四条记录。另一个客户端没有配额，也没有延迟：

# %%
print(Counter(delays_of("fast", 9)))
assert not any(delays[:3])
assert any(delays)

# %% [markdown]
# The broker has the same numbers as beans, with the tags of the sensor:

# %% [markdown] lang="zh"
# broker 的 MBean 里也是这些数字，标签就是传感器的标签：

# %%
for name, metric in sorted(cluster.server.metrics.metrics.metrics.items(), key=lambda item: item[0].tags):
    if name.group == "Produce" and name.tags:
        print(f"{name.bean('kafka.server')} {name.name:13} {metric.value:,.0f}")

# %% [markdown]
# ## Creating topics
#
# A user may create one partition per second, and creates two topics of 12 partitions at once. **How many of them are
# created?**

# %% [markdown] lang="zh"
# ## 创建主题
#
# 一个用户每秒可以创建一个分区，他一次创建两个各有 12 个分区的主题。**创建了几个？**

# %%
answer = None
predictions.ADMITTED.check(answer)

# %%
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest

main(["configs", *broker, "--alter", "--user-defaults", "--add-config", "controller_mutation_rate=1"])
quota = cluster.server.quotas.clients.controller_mutation
while quota.quota("ANONYMOUS", "any").bound != 1:
    time.sleep(0.01)  # until the broker has read it


def create(name, version):
    """Create two topics of 12 partitions, and print what becomes of them."""
    topics = [CreatableTopic(name=f"{name}-{n}", num_partitions=12, replication_factor=1) for n in range(2)]
    host, port = cluster.bootstrap_servers.split(":")
    with BlockingChannel(host, int(port), client_id=name, read_timeout_ms=60_000) as channel:
        response = channel.exchange(CreateTopicsRequest(topics=topics, timeout_ms=30_000), version)
    for topic in response.topics:
        print(f"v{version} {topic.name}: {Errors.for_code(topic.error_code).name:26} {response.throttle_time_ms} ms")


create("wide", version=7)

# %% [markdown]
# The older versions of the request do not know this error. So their clients get everything and are delayed, here
# until the debt is paid:

# %% [markdown] lang="zh"
# 请求的旧版本不认识这个错误，所以旧客户端什么都得到，只是被延迟，在这里一直到债务还清：

# %%
main(["configs", *broker, "--alter", "--user-defaults", "--add-config", "controller_mutation_rate=10"])
while quota.quota("ANONYMOUS", "any").bound != 10:
    time.sleep(0.01)
create("old", version=5)
cluster.stop()

# %% [markdown]
# ## Now you
#
# - Give `SIZE` the value 5,000,000, and predict the first delays.
# - Give the broker a quota for the user `ANONYMOUS` as well. Which of the two counts for `slow`?
# - Then write it yourself: [the lab on quotas](../../labs/ch10-quota.md).

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 把 `SIZE` 改成 5,000,000，预测最初的几次延迟。
# - 再给用户 `ANONYMOUS` 也设一个配额。对 `slow` 来说，两个当中哪一个生效？
# - 然后自己写出来：[配额的实验](../../labs/ch10-quota.md)。
