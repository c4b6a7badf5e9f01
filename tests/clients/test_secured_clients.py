"""Clients of Python, Go and JavaScript on secured listeners: the right credentials, and each way to be wrong.

What comes of it is compared with Kafka 3.9.1 in tests/jvm/test_secured_clients_beside_kafka.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.clients.test_clients_of_other_languages import CACHE, KAFKAJS, PROGRAMS, go_program, prepare
from tests.support.secured_clients import (
    Attempt,
    aiokafka,
    all_in_threads,
    kafka_python,
    librdkafka,
    of_program,
)
from tests.support.secured_listeners import HOST, NAMES, attempts, create_users, right, settings, succeeded

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(300),
    # kafka-python leaves the sockets of refused connections open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]
Client = Callable[[Sequence[Attempt]], list[str]]


@pytest.fixture(scope="module")
def ours() -> Iterator[dict[str, int]]:
    with Cluster(settings(dict.fromkeys(("PLAINTEXT", *NAMES), 0))) as cluster:
        ports = {name: cluster.server.bound_port(name) for name in ("PLAINTEXT", *NAMES)}
        create_users(f"{HOST}:{ports['PLAINTEXT']}")
        yield ports


def of_go(name: str, folder: Path) -> Client:
    program = go_program(name, folder)
    return lambda rows: of_program([program], rows)


def of_kafkajs() -> Client:
    if not (CACHE / KAFKAJS / "node_modules").exists():
        prepare("npm", "install", "--no-save", "--prefix", str(CACHE / KAFKAJS), KAFKAJS, folder=CACHE / KAFKAJS)
    node = os.environ | {"NODE_PATH": str(CACHE / KAFKAJS / "node_modules")}
    return lambda rows: of_program(["node", str(PROGRAMS / "kafkajs_secured.js")], rows, node)


def client(name: str, folder: Path) -> Client:
    """All attempts at once, by a client."""
    if name in ("franz-go", "sarama", "kafka-go"):
        return of_go(f"{name.replace('-', '_')}_secured", folder)
    if name == "kafkajs":
        return of_kafkajs()
    of_python: dict[str, Callable[[Attempt], str]] = {
        "librdkafka": librdkafka,
        "kafka-python": lambda each: kafka_python(each, folder),
        "aiokafka": lambda each: aiokafka(each, folder),
    }
    return lambda rows: all_in_threads(of_python[name], rows)


PYTHONS = ("librdkafka", "kafka-python", "aiokafka")
OTHERS = ("franz-go", "sarama", "kafka-go", "kafkajs")


REFUSED = "franz-go"


Outcomes = Callable[[str], dict[str, str]]
AT_ONCE = 2


@pytest.fixture(scope="module")
def outcomes(
    ours: dict[str, int], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Outcomes]:
    """What comes of each attempt of a client, by name.

    A session that ends, and a refusal which the client does not believe, are seconds of waiting. So the clients of all
    tests to run stay for their sessions at the same time, and two of them make their other attempts meanwhile.
    """
    rows = attempts(ours)
    staying, short = [each for each in rows if each.session_ms], [each for each in rows if not each.session_ms]
    items = [item for item in request.session.items if item.path == request.path]
    names = [name for name in (*PYTHONS, *OTHERS) if any(name == named(item) for item in items)]
    with ThreadPoolExecutor(len(names)) as waiting, ThreadPoolExecutor(AT_ONCE) as busy:
        made = {name: client(name, tmp_path_factory.mktemp(name)) for name in names}
        stays = {name: waiting.submit(attempt_all, staying) for name, attempt_all in made.items()}
        others = {name: busy.submit(attempt_all, short) for name, attempt_all in made.items()}

        def found(name: str) -> dict[str, str]:
            results = [*others[name].result(), *stays[name].result()]
            return dict(zip((each.name for each in (*short, *staying)), results, strict=True))

        yield found


def named(item: pytest.Item) -> str:
    """The client of a test."""
    spec = getattr(item, "callspec", None)
    return REFUSED if spec is None else str(spec.params["name"])


@pytest.mark.parametrize("name", [*PYTHONS, *(pytest.param(each, marks=pytest.mark.jvm) for each in OTHERS)])
def test_the_right_ones_get_in(outcomes: Outcomes, name: str) -> None:
    found = outcomes(name)
    assert succeeded(name, found) == right(name), found


@pytest.mark.jvm
def test_a_client_that_is_refused_hears_why(outcomes: Outcomes) -> None:
    found = outcomes(REFUSED)
    scram = "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-N"
    for row, why in (
        ("mutual tls nobody", "alert about the certificate"),
        ("mutual tls foreign", "alert about the certificate"),
        ("mutual tls expired", "alert about the certificate"),
        ("mechanism not enabled", "UNSUPPORTED_SASL_MECHANISM"),
        ("PLAIN wrong password", "Authentication failed: Invalid username or password"),
        ("PLAIN unknown user", "Authentication failed: Invalid username or password"),
        ("SCRAM-SHA-256 wrong password", scram),
        ("SCRAM-SHA-256 unknown user", scram),
        ("SCRAM-SHA-512 revoked user", scram),
    ):
        assert found[row].startswith(why), row
