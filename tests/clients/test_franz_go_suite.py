"""franz-go's own tests, by SASL_SSL with SCRAM, on a broker of ours that has ACLs.

They come with the module, and are built by Go from its cache. Chains of groups with each assignor and chains of
transactions check every record; the suite's own log is left out.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.security.cluster_security import ADMIN, ClusterSecurity
from tests.clients.test_clients_of_other_languages import PROGRAMS, prepare
from tests.support.patience import patient_s

TIMEOUT_S = 240
RECORDS = 5_000
"""How many go through each chain."""
EXPECTED_PASSES = 200
DIALS_ITSELF = "TestIssue769"
"""It makes its connections itself, without TLS; franz-go refuses to do that with a configuration of TLS."""
pytestmark = [pytest.mark.jvm, pytest.mark.nightly, pytest.mark.timeout(2 * TIMEOUT_S)]


def test_franz_gos_own_tests_pass_on_a_secured_broker(tmp_path: Path) -> None:
    program, authority = tmp_path / "kgo.test", tmp_path / "ca.pem"
    package = "github.com/twmb/franz-go/pkg/kgo"
    prepare("go", "test", "-c", "-o", str(program), package, folder=PROGRAMS / "franz_go_secured")
    security = ClusterSecurity("SASL_SSL", "SCRAM-SHA-512", acls=True)
    with Cluster({"group.initial.rebalance.delay.ms": "0"}, security=security) as cluster:
        authority.write_text(cluster.client_configs()["ssl.truststore.certificates"])
        own = {
            "KGO_SEEDS": cluster.bootstrap_servers, "KGO_TEST_RF": "1", "KGO_TEST_RECORDS": str(RECORDS),
            "KGO_TEST_TLS": f"ca:{authority}", "KGO_LOG_LEVEL": "none",
            "KGO_TEST_SCRAM": f"{ADMIN}:{security.passwords[ADMIN]}:512",
        }  # fmt: skip
        run = subprocess.run(
            [program, "-test.v", "-test.skip", DIALS_ITSELF, "-test.timeout", f"{patient_s(TIMEOUT_S):.0f}s"],
            env=os.environ | own, capture_output=True, text=True, check=False,
        )  # fmt: skip
    passed = len(re.findall(r"--- PASS", run.stdout))
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    print(f"franz-go's suite: {passed} passed")
    assert passed >= EXPECTED_PASSES, run.stdout[-8000:]
