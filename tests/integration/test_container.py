"""The Containerfile, where no container can run: its image is what docs/install.md says, and its commands work here."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import confluent_kafka
import pytest

from kafka_lite.server.broker_process import ServerProcess, free_port
from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]
VOLUME, PORT = "/var/lib/kafka-lite", "9092"
PAGES = [ROOT / "docs" / name for name in ("install.md", "install.zh.md")]


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Containerfile, its lines joined."""

    name: str
    text: str

    def command(self) -> list[str]:
        """The command in JSON that it ends with."""
        command: list[str] = json.loads(self.text[self.text.index("[") :])
        return command


def instructions() -> list[Instruction]:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    split = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return [Instruction(name, rest) for name, rest in split]


def only(name: str) -> Instruction:
    (found,) = [each for each in instructions() if each.name == name]
    return found


def here(command: list[str], folder: Path, port: int) -> list[str]:
    """A command of the image with this environment's program, a folder of the test's and a free port."""
    replaced = [part.replace(VOLUME, str(folder)).replace(f":{PORT}", f":{port}") for part in command]
    return [str(Path(sys.executable).with_name(replaced[0])), *replaced[1:]]


def test_the_instructions_are_those_that_the_builders_know() -> None:
    known = {"FROM", "RUN", "USER", "WORKDIR", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert {each.name for each in instructions()} <= known
    assert instructions()[0].name == "FROM"


def test_the_image_is_made_of_the_plain_wheel_and_nothing_else_of_the_project() -> None:
    (install,) = [each.text for each in instructions() if "pip install" in each.text]
    assert install.endswith("/dist/kafka_lite-*-py3-none-any.whl")
    sent = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert sent == ["*", "!dist/*-py3-none-any.whl"]
    version = re.fullmatch(r"docker.io/library/python:(3\.\d+)-slim", only("FROM").text)
    assert version is not None
    assert f"Programming Language :: Python :: {version[1]}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_broker_does_not_run_as_root_and_owns_its_volume() -> None:
    uid = only("USER").text
    assert int(uid) > 0
    (user,) = [each.text for each in instructions() if "useradd" in each.text]
    assert f"--uid {uid} " in user
    assert f"--create-home --home-dir {VOLUME} " in user
    names = [each.name for each in instructions()]
    assert names.index("USER") < names.index("VOLUME") < names.index("CMD")
    assert only("VOLUME").text == only("WORKDIR").text == VOLUME


def test_the_commands_of_the_image_run_a_healthy_broker_that_keeps_everything_in_the_volume(tmp_path: Path) -> None:
    folder, port = tmp_path / "volume", free_port()
    folder.mkdir()
    check = here(only("HEALTHCHECK").command(), folder, port)
    start = here(only("ENTRYPOINT").command() + only("CMD").command(), folder, port)

    def health() -> int:
        return subprocess.run(check, capture_output=True, timeout=patient_s(60), check=False).returncode

    assert health() != 0
    with ServerProcess([*start, "--override", "zookeeper.embedded.port=0"], port, tmp_path / "log") as broker:
        assert health() == 0
        producer = confluent_kafka.Producer({"bootstrap.servers": f"127.0.0.1:{port}"})
        producer.produce("t", b"v")
        assert producer.flush(patient_s(60)) == 0
        assert (folder / "kafka-logs" / "t-0").is_dir()
        assert {path.name for path in folder.iterdir()} == {"kafka-logs", "kafka-logs-zookeeper"}
        broker.process.send_signal(signal.SIGTERM)
        assert broker.process.wait(patient_s(60)) in (0, 128 + signal.SIGTERM)
    assert health() != 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_publishes_the_port_on_loopback_only(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    published = re.findall(r"(?:--publish|-p) (\S+)", text)
    assert published
    assert all(each.startswith("127.0.0.1:") for each in published)
    assert f":{VOLUME}" in text
