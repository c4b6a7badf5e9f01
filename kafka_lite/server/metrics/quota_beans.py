"""The beans of clients' quotas, and of the rates of new connections.

Kafka 0.10.2: core/.../server/ClientQuotaManager.scala (clientRateMetricName, throttleMetricName, delayQueueSensor)
· book 10.1
"""

from __future__ import annotations

from kafka_lite.server.metrics.bean_declaration import BeanDeclaration, server_bean

_QUEUE_EN, _QUEUE_ZH = "channels that are delayed now", "正被延迟的通道数"


def _of_clients(type_name: str, attributes: str, en: str, zh: str) -> list[BeanDeclaration]:
    """The beans of those that share a quota: clients of a client id, of a user, or of both."""
    return [
        server_bean(type_name, "", attributes, f"{en}, of a client id", f"{zh}（客户端 id）", "client-id"),
        server_bean(type_name, "", attributes, f"{en}, of a user", f"{zh}（用户）", "user"),
        server_bean(
            type_name, "", attributes, f"{en}, of a user's client id", f"{zh}（用户的客户端 id）", "user", "client-id"
        ),
    ]


def _connections(attributes: str, en: str, zh: str, *tags: str) -> BeanDeclaration:
    return server_bean("socket-server-metrics", "", attributes, en, zh, *tags)


QUOTA_BEANS: tuple[BeanDeclaration, ...] = (
    *_of_clients(
        "Produce",
        "byte-rate, throttle-time",
        "bytes per second of its requests, and the mean delay of those that were delayed, in ms; once there is a quota",
        "其请求每秒的字节数，以及被延迟的请求的平均延迟（毫秒），有配额后才出现",
    ),
    server_bean("Produce", "", "queue-size", _QUEUE_EN, _QUEUE_ZH),
    *_of_clients(
        "Fetch",
        "byte-rate, throttle-time",
        "bytes per second of its responses, and the mean delay of those that were delayed, in ms; once there is a "
        "quota",
        "其响应每秒的字节数，以及被延迟的响应的平均延迟（毫秒），有配额后才出现",
    ),
    server_bean("Fetch", "", "queue-size", _QUEUE_EN, _QUEUE_ZH),
    *_of_clients(
        "Request",
        "request-time, throttle-time",
        "percent of one thread that its requests take, and their mean delay in ms; once there is a quota",
        "其请求占用一个线程时间的百分比，以及平均延迟（毫秒），有配额后才出现",
    ),
    server_bean(
        "Request",
        "",
        "exempt-request-time, queue-size",
        f"percent of one thread that requests without a quota take, such as those of brokers; {_QUEUE_EN}",
        f"不受配额限制的请求（如 broker 之间的请求）占用一个线程时间的百分比；{_QUEUE_ZH}",
    ),
    *_of_clients(
        "ControllerMutation",
        "mutation-rate, tokens, throttle-time",
        "partitions created and deleted per second, tokens left in the bucket, mean delay in ms; once there is a quota",
        "每秒创建与删除的分区数、令牌桶中剩余的令牌数、平均延迟（毫秒），有配额后才出现",
    ),
    server_bean("ControllerMutation", "", "queue-size", _QUEUE_EN, _QUEUE_ZH),
    _connections(
        "broker-connection-accept-rate",
        "new connections per second, without those of a protected inter-broker listener",
        "每秒新建的连接数（不含受保护的内部监听器）",
    ),
    _connections(
        "connection-accept-rate, connection-accept-throttle-time, ip-connection-accept-throttle-time",
        "new connections per second of a listener, its mean delay in ms, and that of addresses",
        "一个监听器每秒新建的连接数、它的平均延迟（毫秒）以及各地址的平均延迟",
        "listener",
    ),
    _connections(
        "connection-accept-rate",
        "new connections per second of an address that has a rate",
        "有速率限制的地址每秒新建的连接数",
        "ip",
    ),
)
