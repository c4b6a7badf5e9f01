"""A hand-made run to draw: a request goes from a client to a handler, which appends, and back."""

from __future__ import annotations

from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun

NETWORK = "kafka-network-thread-0-PLAINTEXT-1"


def small_run(*, delay_ns: int = 0, handler: int = 3) -> RecordedRun:
    """Thirteen events of three threads, 100 ns apart; ``delay_ns`` passes before the handler takes the request."""
    worker = f"kafka-request-handler-{handler}"
    request = {"thing": "PRODUCE v9"}
    rows: list[tuple[str, Kind, str, str, int, int, str, dict[str, object]]] = [
        ("producer", Kind.PUT, "producer", "request", 1, 0, "", request | {"acks": 1}),
        (NETWORK, Kind.TAKE, "Processor", "request", 1, 0, "", request),
        (NETWORK, Kind.PUT, "RequestChannel", "queue", 2, 0, "", request),
        (worker, Kind.TAKE, "RequestChannel", "queue", 2, 0, "", request),
        (worker, Kind.CALL, "KafkaApis", "handle", 3, 0, "", {}),
        (worker, Kind.CALL, "Log", "append", 4, 3, "", {"records": "89 bytes"}),
        (worker, Kind.CALL, "Log", "check", 5, 4, "", {}),
        (worker, Kind.RETURN, "Log", "check", 5, 4, "", {}),
        (worker, Kind.FILE, "FileMessageSet", "append", 0, 4, "00000000000000000000.log", {"position": 0, "bytes": 89}),
        (worker, Kind.RETURN, "Log", "append", 4, 3, "", {"result": "offsets 0–0"}),
        (worker, Kind.PUT, "KafkaApis", "response", 6, 3, "", {"frame_bytes": 51}),
        (worker, Kind.RETURN, "KafkaApis", "handle", 3, 0, "", {}),
        ("producer", Kind.TAKE, "producer", "response", 6, 0, "", {"thing": "ProduceResponse"}),
    ]
    events = tuple(Event(100 * index + (delay_ns if index >= 3 else 0), *row) for index, row in enumerate(rows))
    actors = {"producer": "producer", NETWORK: "Processor", worker: "KafkaRequestHandler"}
    return RecordedRun(events, "A small run", "tests.support.recorded_runs:small_run", actors)
