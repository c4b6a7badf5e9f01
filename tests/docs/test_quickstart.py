"""The commands of the pages are run here, and print what the pages show."""

import os
import re
import sys
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.runnable import Session, steps
from kafka_lite.server.broker_process import free_port
from tests.support.patience import patient_s
from tests.support.ports import consecutive_ports

PAGES = sorted(
    path.relative_to(PROJECT_ROOT).as_posix()
    for folder in ("docs", "chapters")
    for path in (PROJECT_ROOT / folder).rglob("*.md")
    if steps(path.read_text(encoding="utf-8"))
)


WAITING_PAGES = ("docs/quickstart-cluster.md", "docs/quickstart-groups.md", "docs/mutual-tls.md", "docs/security.md")


def _needs_a_run(page):
    """Not a Chinese page without programs: it has the commands and the output of the English one; see below."""
    text = (PROJECT_ROOT / page).read_text(encoding="utf-8")
    return not page.endswith(".zh.md") or any(step.kind == "python" for step in steps(text))


def _marks(page):
    """``make test`` runs what a newcomer types, ``make soak`` the experiments of the chapters, too.

    The pages on groups and on several brokers take longest: they wait until a member or a broker is missed. The
    programs of Chinese pages are those of the English ones with other words: they run every night.
    """
    if _is_quick(page):
        return []
    return [pytest.mark.soak, *([pytest.mark.nightly] if page.endswith(".zh.md") else [])]


def _is_quick(page):
    return re.fullmatch(r"docs/[a-z-]+\.md", page) and page not in WAITING_PAGES


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=_marks(page)) for page in PAGES if _needs_a_run(page)],
)
def test_the_commands_of_a_page_print_what_it_shows(page, tmp_path):
    # A reader's machine: no variables, an empty home; only the ports differ from the page's 9092 to 9094 and 2181.
    text = (PROJECT_ROOT / page).read_text(encoding="utf-8")
    zookeeper_port = free_port()
    port = consecutive_ports(3)
    environment = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT_ROOT),
    }
    replacements = {f"127.0.0.1:{9092 + number}": f"127.0.0.1:{port + number}" for number in range(3)}
    replacements["127.0.0.1:2181"] = f"127.0.0.1:{zookeeper_port}"
    # A member learns of a rebalance from the response to its next heartbeat, after up to three seconds.
    replacements["client.id="] = "heartbeat.interval.ms=300 --consumer-property client.id="
    if "cluster-start" in text:  # its brokers' ports are in the files that it writes
        replacements["cluster-start"] = f"cluster-start --port {port} --zookeeper-port {zookeeper_port}"
    elif "zookeeper-server-start" in text:  # its brokers' ports are in their commands
        replacements["clientPort=2181"] = f"clientPort={zookeeper_port} --override clientPortAddress=127.0.0.1"
        replacements |= _ports_with_tls(port)
    else:
        listener = f"--override listeners=PLAINTEXT://127.0.0.1:{port}"
        replacements["server-start"] = f"server-start {listener} --override zookeeper.embedded.port={zookeeper_port}"
    with Session(tmp_path, replacements, environment, patient_s) as session:
        for step in steps(text):
            session.run(step)


def _ports_with_tls(port):
    """The page on security has a broker and a ZooKeeper whose certificates name localhost."""
    secure_port = free_port()
    addresses = {f"{host}:2182": f"{host}:{secure_port}" for host in ("localhost", "127.0.0.1")}
    return {
        "localhost:9094": f"localhost:{port + 2}",
        "secureClientPort=2182": f"secureClientPort={secure_port}",
        **addresses,
    }


def test_the_quick_start_is_among_the_pages_in_both_languages():
    assert {"docs/quickstart.md", "docs/quickstart.zh.md"} <= set(PAGES)


@pytest.mark.parametrize("page", [page for page in PAGES if not page.endswith(".zh.md")])
def test_both_languages_run_the_same_commands_and_show_the_same_output(page):
    english, chinese = (
        [
            (step.kind, *((step.code, step.expected) if step.kind != "python" else ()))
            for step in steps((PROJECT_ROOT / each).read_text(encoding="utf-8"))
        ]
        for each in (page, page.replace(".md", ".zh.md"))
    )
    assert english == chinese
