"""The wheels of `make wheel` work without the rest of the project: in a fresh environment, outside the clone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from packaging.metadata import Metadata

from kafka_lite import __version__
from kafka_lite.common.process.app_info_parser import UNKNOWN, commit_of
from kafka_lite.server.broker_process import BrokerProcess
from scripts.compile_hot_modules import compiled_wheel, is_current
from scripts.wheel import PROJECT, build_wheel, missing_for_compiling, uv
from tests.support.patience import patient_s

BUILD_LIMIT_S = 1800
HOT_MODULES = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"][
    "targets"
]["wheel"]["hooks"]["custom"]["compiled"]
WHERE_THE_MODULES_ARE = """
import importlib, json, sys
print(json.dumps({name: importlib.import_module(name).__file__ for name in sys.argv[1:]}))
"""


@dataclass(frozen=True)
class Installation:
    """A virtual environment with a wheel and its dependencies, and an empty working directory."""

    build: str
    wheel: Path
    environment: Path
    folder: Path

    def run(self, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run one of its programs, as a user without a clone would."""
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        program = str(self.environment / "bin" / command[0])
        return subprocess.run(
            [program, *command[1:]], cwd=self.folder, env=variables, input=given, capture_output=True, text=True
        )


def wheel_of(build: str, target: Path) -> Path:
    if build == "plain":
        return build_wheel(target)
    if missing := missing_for_compiling():
        pytest.skip(missing)
    if not is_current() and "CI" not in os.environ:
        pytest.skip("`make wheel` has not been run on this source, and takes minutes")
    return compiled_wheel()


@pytest.fixture(scope="module", params=["plain", "compiled"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    wheel = wheel_of(request.param, tmp_path_factory.mktemp("dist"))
    environment = tmp_path_factory.mktemp("environment") / "venv"
    uv("venv", "--quiet", "--python", sys.executable, str(environment))
    uv("pip", "install", "--quiet", "--python", str(environment), str(wheel))
    return Installation(request.param, wheel, environment, tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def broker(installed: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    start = ("env", "-u", "PYTHONPATH", str(installed.environment / "bin" / "kafka-lite"), "server-start")
    with BrokerProcess(
        tmp_path_factory.mktemp("broker"), {"zookeeper.embedded.port": "0"}, start_command=start
    ) as process:
        yield process


pytestmark = pytest.mark.timeout(BUILD_LIMIT_S)  # a compilation may be part of it


def test_a_wheel_is_named_after_release_and_build(installed: Installation) -> None:
    tags = {"plain": r"py3-none-any", "compiled": rf"{sys.implementation.name[:1]}p3\d+-cp3\d+t?-\w+"}
    assert re.fullmatch(rf"kafka_lite-{re.escape(__version__)}-{tags[installed.build]}\.whl", installed.wheel.name)


def test_the_version_has_release_commit_and_build(installed: Installation) -> None:
    commit = commit_of(PROJECT)
    told = "" if commit == UNKNOWN else f"commit {commit}, "
    said = installed.run("kafka-lite", "--version")
    assert (said.returncode, said.stdout, said.stderr) == (
        0,
        f"kafka-lite {__version__} ({told}{installed.build})\n",
        "",
    )


def test_only_a_few_packages_are_installed_with_it(installed: Installation) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("uv")), "pip", "list", "--format=json", "--python", installed.environment],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {package["name"] for package in json.loads(done.stdout)} == {
        *("kafka-lite", "cramjam", "crc32c", "kazoo", "lz4", "platformdirs", "rich", "xxhash", "zstandard"),
        *("markdown-it-py", "mdurl", "pygments"),  # dependencies of rich
    }


def test_the_hot_modules_of_a_compiled_wheel_are_extension_modules(installed: Installation) -> None:
    names = [path.removesuffix(".py").replace("/", ".") for path in HOT_MODULES]
    done = installed.run("python", "-c", WHERE_THE_MODULES_ARE, *names)
    assert done.stderr == ""
    files = json.loads(done.stdout)
    suffix = {"plain": ".py", "compiled": ".so"}[installed.build]
    assert [name for name, file in files.items() if not file.endswith(suffix)] == []
    assert all(Path(file).is_relative_to(installed.environment) for file in files.values())


def test_a_wheel_has_the_package_and_nothing_else(installed: Installation) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        folders = {name.partition("/")[0] for name in archive.namelist()}
    library = {name for name in folders if re.search(r"__mypyc\..*\.so$", name)}
    assert folders - library == {"kafka_lite", "pyspark_kafka_lite", f"kafka_lite-{__version__}.dist-info"}
    assert len(library) == (installed.build == "compiled")


def test_its_metadata_are_what_pypi_accepts(installed: Installation) -> None:
    """What ``twine check`` and PyPI look at; the validation is that of PyPI itself."""
    with zipfile.ZipFile(installed.wheel) as archive:
        text = archive.read(f"kafka_lite-{__version__}.dist-info/METADATA").decode()
    metadata = Metadata.from_email(text, validate=True)
    assert (metadata.name, str(metadata.version), metadata.license_expression) == (
        "kafka-lite",
        __version__,
        "Apache-2.0",
    )
    assert metadata.summary is not None
    assert len(metadata.summary) <= 512
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description is not None
    assert metadata.description.startswith("# ")
    assert metadata.license_files == ["LICENSE"]
    assert [each for each in metadata.requires_dist or [] if each.url] == [], "PyPI refuses dependencies by address"
    assert set(metadata.provides_extra or []) >= {"spark", "streams", "simulation"}


def test_the_brokers_first_line_says_which_build_runs(installed: Installation, broker: BrokerProcess) -> None:
    build = {"plain": "plain Python. For the faster", "compiled": "compiled. For plain Python:"}[installed.build]
    assert f"kafka_lite {__version__}, {build}" in broker.log().splitlines()[0]


def test_real_clients_and_its_own_tools_read_each_others_records(
    installed: Installation, broker: BrokerProcess
) -> None:
    server = ("--bootstrap-server", broker.bootstrap_servers)
    created = installed.run("kafka-lite", "topics", *server, "--create", "--topic", "t", "--partitions", "1")
    assert (created.returncode, created.stdout) == (0, "Created topic t.\n")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "compression.type": "lz4"})
    producer.produce("t", b"from librdkafka")
    assert producer.flush(patient_s(60)) == 0
    produced = installed.run(
        "kafka-lite", "console-producer", "--broker-list", broker.bootstrap_servers, "--topic", "t", given="from ours\n"
    )
    assert (produced.returncode, produced.stderr) == (0, "")

    read = installed.run(
        "kafka-lite", "console-consumer", *server, "--topic", "t", "--from-beginning", "--max-messages", "2"
    )
    assert read.stdout == "from librdkafka\nfrom ours\n"
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["t"])
    try:
        messages = consumer.consume(2, timeout=patient_s(60))
        assert [message.value() for message in messages] == [b"from librdkafka", b"from ours"]
    finally:
        consumer.close()


def test_labs_without_a_clone_say_that_they_need_one(installed: Installation) -> None:
    said = installed.run("kafka-lite", "labs", "list")
    assert said.returncode != 0
    assert "Clone the project, run `make setup` in it" in said.stderr
    assert "Traceback" not in said.stderr
