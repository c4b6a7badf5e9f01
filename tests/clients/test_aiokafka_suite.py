"""aiokafka's own tests of SASL and ACLs, with our broker: PLAIN, SCRAM, Kerberos, and what a user may not do.

They are in no package of aiokafka's: ``tests/data/suites`` has them from its repository, unchanged.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.kerberos import require_kerberos
from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "tests" / "data" / "suites"
TIMEOUT_S = 120
EXPECTED = "17 passed, 1 skipped"
"""The one that is skipped wants a broker before 1.0, which hid topics that a user may not describe."""


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")


@pytest.mark.soak
@pytest.mark.timeout(2 * TIMEOUT_S)
def test_aiokafkas_own_tests_of_sasl_and_acls_pass(tmp_path: Path) -> None:
    require_kerberos()
    unpack(SUITES / "aiokafka-0.14.0-tests.tar.gz", tmp_path)
    # Outside our own pytest configuration: aiokafka's warnings must not become errors.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "aiokafka_tests",
        "-q",
        "--rootdir",
        ".",
        "-c",
        os.devnull,
        "-W",
        "ignore",
    ]
    command += ["-p", "tests.support.aiokafka_suite_plugin", "-p", "no:xdist", "-p", "no:cacheprovider", "--tb=short"]
    command += ["--docker-image", "aiolibs/kafka:2.12_2.8.1", "--no-pull", "--timeout", "100"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    limit_s = patient_s(TIMEOUT_S)
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=limit_s, check=False
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert EXPECTED in run.stdout, run.stdout[-2000:]
