"""What the pages tell a reader to type is typed here, and prints what they say."""

import os
import sys
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.runnable import Session, steps
from kafka_lite.server.broker_process import free_port

PAGES = sorted(
    path.relative_to(PROJECT_ROOT).as_posix()
    for folder in ("docs", "chapters")
    for path in (PROJECT_ROOT / folder).rglob("*.md")
    if steps(path.read_text(encoding="utf-8"))
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "page",
    # A Chinese page has the commands of the English one, as is tested below.
    [pytest.param(page, marks=[pytest.mark.soak] if page.endswith(".zh.md") else []) for page in PAGES],
)
def test_a_page_does_what_it_says(page, tmp_path):
    # A reader's machine: nothing set, an empty home; only the ports are others than the page's 9092 and 2181.
    port, zookeeper_port = free_port(), free_port()
    environment = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT_ROOT),
    }
    overrides = f"--override listeners=PLAINTEXT://127.0.0.1:{port} --override zookeeper.embedded.port={zookeeper_port}"
    replacements = {
        "127.0.0.1:9092": f"127.0.0.1:{port}",
        "127.0.0.1:2181": f"127.0.0.1:{zookeeper_port}",
        "server-start": f"server-start {overrides}",
    }
    with Session(tmp_path, replacements, environment) as session:
        for step in steps((PROJECT_ROOT / page).read_text(encoding="utf-8")):
            session.run(step)


def test_the_quick_start_is_among_the_pages_in_both_languages():
    assert {"docs/quickstart.md", "docs/quickstart.zh.md"} <= set(PAGES)


@pytest.mark.parametrize("page", [page for page in PAGES if not page.endswith(".zh.md")])
def test_both_languages_run_the_same_commands(page):
    english, chinese = (
        [(step.kind, step.code if step.kind != "python" else "") for step in steps((PROJECT_ROOT / each).read_text())]
        for each in (page, page.replace(".md", ".zh.md"))
    )
    assert english == chinese
