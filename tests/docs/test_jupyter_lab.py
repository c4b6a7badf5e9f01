"""`make notebook` for real: JupyterLab starts, opens a chapter's notebook, and its kernel runs every cell."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
import websocket

from kafka_learn.jupyter_notebooks import lab_command, write_for_clone
from kafka_learn.notebooks import PROJECT_ROOT
from tests.support.eventually import eventually

TOKEN = "a-token"
SCRIPT = PROJECT_ROOT / "chapters" / "ch06_storage" / "timing_wheels.py"
CELL_LIMIT_S = 60


class Server:
    """A running JupyterLab, used through the HTTP API that its pages in a browser use."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.url = str(facts["url"]).rstrip("/")

    def is_listening(self) -> bool:
        address = urlsplit(self.url)
        try:
            socket.create_connection((address.hostname, address.port), CELL_LIMIT_S).close()
        except ConnectionRefusedError:
            return False
        return True

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}{path}", data, {"Authorization": f"token {TOKEN}"})
        with urlopen(request, timeout=CELL_LIMIT_S) as response:
            text = response.read().decode()
        return json.loads(text) if response.headers["Content-Type"].startswith("application/json") else text

    def run(self, kernel: str, cells: list[str]) -> list[dict[str, Any]]:
        """Run cells one after the other; returns their outputs. Raises AssertionError if one raises."""
        url = f"{self.url.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels?token={TOKEN}"
        channel = websocket.create_connection(url, timeout=CELL_LIMIT_S)
        try:
            return [output for cell in cells for output in self._run(channel, cell)]
        finally:
            channel.close()

    def _run(self, channel: websocket.WebSocket, cell: str) -> Iterator[dict[str, Any]]:
        number = uuid.uuid4().hex
        header = {"msg_id": number, "msg_type": "execute_request", "username": "", "session": "test", "version": "5.3"}
        content = {"code": cell, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        channel.send(json.dumps(message))
        while True:
            received = json.loads(channel.recv())
            if received.get("parent_header", {}).get("msg_id") != number:
                continue
            kind, content = received["header"]["msg_type"], received["content"]
            assert kind != "error", "\n".join(content["traceback"])
            if kind in ("display_data", "execute_result", "stream"):
                yield content
            if kind == "status" and content["execution_state"] == "idle":
                return


@pytest.fixture
def chapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script and its notebook. The notebook is newer, which keeps jupytext from opening a pair."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "clone" / "chapters" / SCRIPT.parent.name
    folder.mkdir(parents=True)
    script = Path(shutil.copy(SCRIPT, folder))
    os.utime(script, (0, 0))
    write_for_clone(script, "en")
    return folder


@pytest.fixture
def server(chapter: Path, tmp_path: Path) -> Iterator[Server]:
    options = ["--no-browser", "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
    command, environment = lab_command(None, options, chapter.parents[1])
    runtime = tmp_path / "runtime"
    environment |= {"JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:

        def facts() -> dict[str, Any] | None:
            assert process.poll() is None, (tmp_path / "lab.log").read_text()
            written = list(runtime.glob("jpserver-*.json"))
            text = written[0].read_text() if written else ""
            return json.loads(text) if text.rstrip().endswith("}") else None

        server = Server(eventually(facts, "JupyterLab writes its address"))
        eventually(server.is_listening, "JupyterLab listens: it writes its address before")
        yield server
    finally:
        process.terminate()
        process.wait(CELL_LIMIT_S)


@pytest.mark.soak  # ten seconds of JupyterLab
def test_jupyterlab_opens_a_notebook_and_runs_it(server: Server, chapter: Path) -> None:
    assert "<title>JupyterLab" in server.ask("/lab/tree/chapters")

    path = f"chapters/{chapter.name}/timing_wheels.ipynb"
    opened = server.ask(f"/api/contents/{path}?type=notebook")
    cells = [cell["source"] for cell in opened["content"]["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5

    session = server.ask("/api/sessions", {"path": path, "name": "", "type": "notebook", "kernel": {"name": "python3"}})
    outputs = server.run(session["kernel"]["id"], cells)
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert [output for output in outputs if output.get("name") == "stderr"] == []
