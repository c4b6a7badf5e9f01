"""The answers to the predictions on calls to a worker, given by one that is started for it. Book 8.3."""

from __future__ import annotations

import functools
import json
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chapters.ch08_pipelines.figures.predictions import LINES
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.run_brokers import wait_until
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.connect.runtime.new_connect import new_standalone_connect
from kafka_lite.testing.cluster import Cluster

Call = Callable[..., tuple[int, object]]
"""``call(method, path, body)``: the status of the response, and what its JSON contains."""
JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
BAD_REQUEST = 400


def worker_props(bootstrap_servers: str, folder: Path) -> dict[str, str]:
    """The configuration of a worker that stores offsets in a folder, often."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "rest.port": "0",
        "key.converter": STRING,
        "value.converter": STRING,
        "internal.key.converter": JSON,
        "internal.key.converter.schemas.enable": "false",
        "internal.value.converter": JSON,
        "internal.value.converter.schemas.enable": "false",
        "offset.storage.file.filename": str(folder / "connect.offsets"),
        "offset.flush.interval.ms": "100",
    }


def calls(source: Mapping[str, str]) -> tuple[tuple[str, str, object], ...]:
    """Six calls to a worker whose connector ``in`` has this configuration, and is paused: method, path and body."""
    return (
        ("GET", "/connectors/none", None),
        ("POST", "/connectors", {"name": "in", "config": source}),
        ("POST", "/connectors", {"name": "x", "config": {"connector.class": "FileStreamSource"}}),
        ("PUT", "/connectors/in/config", {**source, "name": "other"}),
        ("POST", "/connectors/in/restart", None),
        ("PUT", "/connectors/in/resume", None),
    )


def call(advertised_url: str, method: str, path: str, body: object = None) -> tuple[int, object]:
    """Send a request; return the status of the response and what its JSON contains."""
    data = None if body is None else json.dumps(body).encode()
    url = advertised_url.rstrip("/") + path
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return status, json.loads(text) if text else None


@contextmanager
def _worker() -> Iterator[tuple[Call, dict[str, str]]]:
    """A worker, and the configuration of a source connector for it."""
    with tempfile.TemporaryDirectory() as temporary, Cluster() as cluster:
        folder = Path(temporary)
        cluster.create_topic("lines")
        (folder / "in.txt").write_bytes(LINES)
        connect = new_standalone_connect(worker_props(cluster.bootstrap_servers, folder))
        connect.start()
        try:
            source = {"connector.class": "FileStreamSource", "file": str(folder / "in.txt"), "topic": "lines"}
            yield functools.partial(call, connect.rest.advertised_url), source
        finally:
            connect.stop()


@functools.cache
def statuses() -> tuple[int, ...]:
    """The status of a creation, then those of the six calls."""
    with quiet("kafka_lite"), _worker() as (ask, source):
        created, _ = ask("POST", "/connectors", {"name": "in", "config": source})
        ask("PUT", "/connectors/in/pause")
        wait_until(lambda: "PAUSED" in str(ask("GET", "/connectors/in/status")[1]))
        return (created, *(ask(*each)[0] for each in calls(source)))


CREATION = Prediction(
    lambda: statuses()[0],
    Words(
        "CREATED: the worker answers when the configuration is stored and the tasks are known, so they are in its "
        "answer.",
        "CREATED：配置已经保存，任务也已经知道，工作进程才响应，所以响应里有任务。",
    ),
    {
        200: Words("Something is there that was not there before.", "有了一样以前没有的东西。"),
        202: Words("The response comes when it has been done.", "做完了才响应。"),
        204: Words("There is something in the response.", "响应里有内容。"),
    },
)
FAILING = Prediction(
    lambda: sum(status >= BAD_REQUEST for status in statuses()[1:]),
    Words(
        "No such connector, a name that is taken, a configuration with errors, a name that differs from that of the "
        "URL. A paused connector can be restarted, and stays paused.",
        "没有这个连接器，名字已经用过，配置有错误，名字与 URL 里的不同。暂停的连接器可以重启，仍然是暂停的。",
    ),
    {
        5: Words("A paused connector can be restarted.", "暂停的连接器可以重启。"),
        3: Words("May a configuration have another name than its URL?", "配置里的名字可以与 URL 里的不同吗？"),
        2: Words("A worker checks configurations before it takes them.", "工作进程先检查配置，再接受。"),
        6: Words("A resume is a wish.", "恢复是一个愿望。"),
    },
)
TAKEN = Prediction(
    lambda: statuses()[2],
    Words(
        "CONFLICT: the request is well-formed, but what is there does not allow it. A PUT to its configuration would "
        "replace it.",
        "CONFLICT：请求本身没有错，但与已有的冲突。用 PUT 写它的配置，才会替换它。",
    ),
    {
        400: Words("There is nothing wrong with the request itself.", "请求本身没有错。"),
        404: Words("That would be so if something were missing.", "缺少什么，才会是它。"),
        201: Words("Only PUT replaces.", "只有 PUT 会替换。"),
        200: Words("Only PUT replaces.", "只有 PUT 会替换。"),
        500: Words("The worker has not failed.", "工作进程没有出错。"),
    },
)
