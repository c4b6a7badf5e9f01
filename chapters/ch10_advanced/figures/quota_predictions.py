"""The answers to the predictions of the notebook on quotas, computed by the broker's own classes. Book 10.1."""

from __future__ import annotations

from collections.abc import Iterable

from chapters.ch10_advanced.figures.quota_drawings import MB, WINDOWS, obedient_producer
from kafka_learn.check import Prediction, Words
from kafka_lite.common.errors import ApiError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.controller_mutation_quota_manager import ControllerMutationQuotaManager
from kafka_lite.server.quotas.default_quota_callback import DefaultQuotaCallback

TWO_LONG_SAMPLES = MetricConfig(samples=2, time_window_ms=5000)
LARGE_REQUEST = 12 * MB
QUOTAS = (KafkaQuotaEntity("alice"), KafkaQuotaEntity(client_id="app"))
CLIENTS = (("alice", "app"), ("alice", "report"), ("bob", "app"), ("carol", "app"))
"""Users with the client ids of their connections."""
TOPICS = (12, 12)
"""Partitions of topics that are created one after the other, with a quota of one partition per second."""


def free_requests(windows: MetricConfig) -> int:
    """How many requests a producer may send before the first delay."""
    return [each.throttle_time_ms > 0 for each in obedient_producer(windows=windows)].index(True)


def delay_of(request_bytes: int) -> int:
    """The delay after the first request, in ms."""
    return obedient_producer(request_bytes, seconds=0.01)[0].throttle_time_ms


def sensors(quotas: Iterable[KafkaQuotaEntity], clients: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The tags of each sensor, and the clients that share it."""
    callback = DefaultQuotaCallback()
    for entity in quotas:
        callback.update_quota(entity, 1)
    shared: dict[str, list[str]] = {}
    for user, client_id in clients:
        shared.setdefault(str(callback.quota_metric_tags(user, client_id)), []).append(f"{user}'s {client_id}")
    return shared


def admitted(topics: Iterable[int]) -> int:
    """How many topics with these numbers of partitions are created within a moment, at one partition per second."""
    time = MockTime()
    manager = ControllerMutationQuotaManager(WINDOWS, Metrics(time=time), time)
    manager.update_quota(KafkaQuotaEntity("admin"), 1)
    quota, count = manager.new_strict_quota_for("admin", "c"), 0
    for partitions in topics:
        try:
            quota.record(partitions)
            count += 1
        except ApiError:
            break
    return count


FREE = Prediction(
    lambda: free_requests(WINDOWS),
    Words(
        "The rate is the sum divided by at least ten seconds, and it may be equal to the quota: 9.9 MB are less than "
        "10 MB.",
        "速率是总和除以至少十秒，等于配额也可以：9.9 MB 还不到 10 MB。",
    ),
    {
        1: Words(
            "That would be so if the time since the first byte counted. Ten seconds count from the start.",
            "如果按第一个字节以来的时间计算，才会这样。从一开始就按十秒计算。",
        ),
        10: Words("How many times 900 kB fit into ten seconds' worth?", "十秒的量里能放下几个 900 kB？"),
        12: Words("Twelve requests are 10.8 MB.", "十二个请求是 10.8 MB。"),
    },
)
LARGE = Prediction(
    lambda: delay_of(LARGE_REQUEST),
    Words(
        "12 MB take 12 seconds at 1 MB/s, and ten of them are given.",
        "以 1 MB/s 计算，12 MB 需要 12 秒，其中十秒是白给的。",
    ),
    {
        0: Words("It has been sent, so it counts.", "它已经发过来了，所以要算。"),
        12_000: Words("Ten seconds' worth is free.", "十秒的量不算。"),
        1_000: Words("A window is no limit for a quota of bytes.", "对按字节的配额，窗口的长度不是上限。"),
    },
)
FREE_OF_LONG_SAMPLES = Prediction(
    lambda: free_requests(TWO_LONG_SAMPLES),
    Words(
        "One sample is always the current one, so the time counts as that of all the others: here one, of 5 s.",
        "总有一个样本是当前的，所以时间按其余的样本计算：这里只有一个，5 秒。",
    ),
    {
        11: Words(
            "Both rings are about ten seconds long. But how many samples are complete?",
            "两个环都是十秒左右。可是有几个样本是完整的？",
        ),
        10: Words("How many samples are complete?", "有几个样本是完整的？"),
    },
)
SHARED = Prediction(
    lambda: len(sensors(QUOTAS, CLIENTS)),
    Words(
        "A user's quota is stronger than that of a client id. So alice's connections share one sensor, and those of "
        "the others called app share the other.",
        "用户的配额比客户端 id 的强。所以 alice 的连接共用一个传感器，其他人名为 app 的连接共用另一个。",
    ),
    {
        4: Words("Those who share a quota share its sensor.", "共用配额的，也共用传感器。"),
        3: Words("Which level counts for alice's app?", "alice 的 app 用的是哪一级？"),
        1: Words("Neither bob nor carol is alice.", "bob 和 carol 都不是 alice。"),
    },
)
ADMITTED = Prediction(
    lambda: admitted(TOPICS),
    Words(
        "The bucket has tokens for eleven partitions. A topic that begins with a bucket that is not in debt is "
        "created, however large it is; the next one finds a debt.",
        "桶里有够十一个分区的令牌。只要桶没有欠债，主题不论多大都可以创建；接着来的那个遇到的是欠债的桶。",
    ),
    {
        2: Words("After the first topic, the bucket is in debt.", "第一个主题之后，桶就欠债了。"),
        0: Words("Then nobody could ever create a topic of this size.", "那样的话，谁也创建不了这么大的主题。"),
    },
)
