"""kafka-python's own integration tests, from its source distribution, with our broker.

They run as with a broker of 3.2, which the client infers from its APIs, and as with one of 0.10.2, to which it sends
other requests; and once more by SASL_SSL with ACLs, together with the suite's tests of SASL and TLS. Tests that do not
apply are listed, with reasons, in ``tests/support/kafka_python_suite_plugin.py``.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 240
FAILED = 1
"""pytest's exit code when tests have failed, and nothing else went wrong."""
SUITE = ["test_admin_integration.py", "test_consumer_integration.py", "test_producer_integration.py"]
SECURITY = ["test_sasl_integration.py", "test_ssl_integration.py"]
SECURED_PASSES = 55
BROKER = {
    "num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",  # one of its tests has members with a session timeout of 3 s
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder ``test`` of the source distribution of the installed kafka-python."""
    directory = tmp_path_factory.mktemp("kafka-python")
    version = importlib.metadata.version("kafka-python")
    (package,) = [
        each for each in tomllib.loads((ROOT / "uv.lock").read_text())["package"] if each["name"] == "kafka-python"
    ]
    assert package["version"] == version, "uv.lock has another kafka-python than the one that is installed"
    requirement = directory / "requirements.txt"
    requirement.write_text(f"kafka-python=={version} --hash={package['sdist']['hash']}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "kafka-python"]
    command += ["--dest", str(directory), "--require-hashes", "-r", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(TIMEOUT_S), check=False)
    if done.returncode:
        if os.environ.get("CI"):
            pytest.fail(f"cannot download kafka-python's source distribution: {done.stderr}")
        pytest.skip(f"cannot download kafka-python's source distribution: {done.stderr[-300:]}")
    (archive,) = directory.glob("kafka_python-*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(directory, filter="data")
    return directory / archive.name.removesuffix(".tar.gz") / "test"


@pytest.mark.soak
@pytest.mark.timeout(2 * TIMEOUT_S + 20)
@pytest.mark.parametrize(
    ("kafka_version", "expected_passes"),
    [pytest.param("3.2", 40, marks=pytest.mark.nightly), ("0.10.2", 24)],  # the secured run has those of 3.2
)
def test_kafka_pythons_own_integration_tests_pass(
    suite: Path, tmp_path: Path, kafka_version: str, expected_passes: int
) -> None:
    with Cluster(BROKER) as cluster:
        uri = {"KAFKA_URI": f"kafka://{cluster.bootstrap_servers}"}
        passed = run_suite(suite, tmp_path, SUITE, [], uri | {"KAFKA_VERSION": kafka_version})
    print(f"kafka-python's suite, {kafka_version}: {passed} passed")
    assert passed >= expected_passes


@pytest.mark.soak
@pytest.mark.timeout(2 * TIMEOUT_S + 20)
def test_they_pass_on_secured_brokers_as_do_those_of_sasl_and_tls(suite: Path, tmp_path: Path) -> None:
    plugin = ["-p", "tests.support.kafka_python_secured_plugin"]
    passed = run_suite(suite, tmp_path, [*SUITE, *SECURITY], plugin, {"KAFKA_VERSION": "3.2"})
    print(f"kafka-python's suite, secured: {passed} passed")
    assert passed >= SECURED_PASSES


def run_suite(suite: Path, directory: Path, files: list[str], options: list[str], variables: dict[str, str]) -> int:
    """Run the tests of those files, and once more those that failed; returns the number of passed tests."""
    # Outside our own pytest configuration: kafka-python's warnings must not become errors.
    command = [sys.executable, "-m", "pytest", *(str(suite / "integration" / name) for name in files), "-q"]
    command += ["--rootdir", str(suite), "-c", os.devnull, "-o", f"cache_dir={directory / 'cache'}", "-W", "ignore"]
    command += ["-p", "tests.support.kafka_python_suite_plugin", *options, "-p", "no:xdist", "--tb=short"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")} | {
        "PYTHONPATH": str(ROOT),
        "KAFKA_PYTHON_TESTS": str(suite),
        "KAFKA_ROOT": str(directory),  # the path of Kafka; the folder only has to exist
    }
    passed, run = passes([*command, "--timeout", "100"], directory, environment | variables)
    if run.returncode == FAILED:
        # Retry what failed: the suite has time limits of its own, which a busy machine may exceed.
        print(run.stdout[-8000:])
        more, run = passes([*command, "--timeout", "100", "--last-failed"], directory, environment | variables)
        passed += more
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    return passed


def passes(
    command: list[str], directory: Path, environment: dict[str, str]
) -> tuple[int, subprocess.CompletedProcess[str]]:
    """Run all or part of the suite; returns the number of passed tests and the output."""
    report = directory / "report.xml"
    run = subprocess.run(
        [*command, f"--junitxml={report}"], cwd=directory, env=environment, capture_output=True, text=True,
        timeout=patient_s(TIMEOUT_S), check=False,
    )  # fmt: skip
    totals = ElementTree.parse(report).getroot()[0].attrib
    return int(totals["tests"]) - sum(int(totals[each]) for each in ("skipped", "failures", "errors")), run
