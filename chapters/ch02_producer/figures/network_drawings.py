"""Drawings of the network layer, made from a socket server with as many threads as Kafka has by default."""

from __future__ import annotations

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, PLAIN, Drawing, cell, new_graph, table
from kafka_lite.network.acceptor import Listener
from kafka_lite.network.socket_server import SocketServer, SocketServerConfig
from kafka_lite.server.kafka_config import KafkaConfig

THREADS_OF_KAFKA = {"num.network.threads": "3", "num.io.threads": "8"}

_WORDS = {
    "en": {
        "clients": "clients",
        "sockets": " sockets, in turn",
        "queue": "request queue\nroom for {}",
        "responses": "response queue\n{}",
        "any": " whichever is free",
        "own": " the one that owns\n the connection",
        "layer": "layer {}",
    },
    "zh": {
        "clients": "客户端",
        "sockets": " 套接字，轮流分配",
        "queue": "请求队列\n容量 {}",
        "responses": "响应队列\n{}",
        "any": " 谁空闲谁取",
        "own": " 连接所属的\n 处理器的队列",
        "layer": "第 {} 层",
    },
}


def three_layers(language: str) -> str:
    """Acceptor, processors, request handlers, and the queues between them, by the names of the threads."""
    words = _WORDS[language]
    config = KafkaConfig({"zookeeper.connect": "embedded", **THREADS_OF_KAFKA})
    server = SocketServer(
        SocketServerConfig(
            listeners=(Listener(host="127.0.0.1", port=0),),
            broker_id=0,
            num_network_threads=config.num_network_threads,
            queued_max_requests=config.queued_max_requests,
        )
    )
    server.startup()
    try:
        acceptors = [acceptor.name.rpartition("-")[0] for acceptor in server._acceptors.values()]
        processors = [processor.name for processor in server.processors]
    finally:
        server.shutdown()
    handlers = [f"kafka-request-handler-{number}" for number in range(config.num_io_threads)]
    graph = new_graph()
    graph.attr(nodesep="0.4", ranksep="0.45")
    graph.node("clients", table([[cell(words["clients"], fill=PLAIN)]]))
    graph.node("acceptor", _layer(1, "Acceptor", acceptors, ORANGE, words["layer"]))
    graph.node("processors", _layer(2, "Processor", processors, BLUE, words["layer"]))
    graph.node("requests", table([[cell(words["queue"].format(config.queued_max_requests), fill=PLAIN)]]))
    queues = [cell(words["responses"].format(number), fill=PLAIN) for number in range(len(processors))]
    graph.node("responses", table([queues]))
    graph.node("handlers", _layer(3, "KafkaRequestHandler", handlers, GREEN, words["layer"]))
    graph.edge("clients", "acceptor")
    graph.edge("acceptor", "processors", label=words["sockets"])
    graph.edge("processors", "requests")
    graph.edge("requests", "handlers", label=words["any"])
    graph.edge("processors", "responses", dir="back")
    graph.edge("responses", "handlers", dir="back", label=words["own"])
    alt = f"Three layers of threads: {', '.join(acceptors)}; {', '.join(processors)}; {', '.join(handlers)}."
    return Drawing(graph, alt).svg(language)


def _layer(number: int, thread_class: str, names: list[str], fill: str, word: str) -> str:
    """One cell for each thread; the common part of their names is only in the heading."""
    common = names[0].rstrip("0123456789") if len(names) > 1 else ""
    heading = f"{word.format(number)}: {thread_class}" + (f"\n{common}…" if common else "")
    cells = [cell(name.removeprefix(common), fill=fill) for name in names]
    return table([[cell(heading, border=0, columns=len(cells))], cells])
