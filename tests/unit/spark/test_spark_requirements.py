"""An import in a Python that cannot run the data source fails with an error that says what to do."""

import subprocess
import sys

import pytest

from tests.support.patience import patient_s

IMPORT = "from kafka_lite.spark.source import KafkaSource"


def import_fails(program, **environment):
    """The last line that Python prints."""
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=patient_s(60),
        env=environment,
    )
    assert result.returncode == 1
    return result.stderr.splitlines()[-1]


def test_a_missing_pyspark_is_reported():
    said = import_fails(f"import sys; sys.modules['pyspark'] = None; {IMPORT}")
    assert "format('kafka_lite') needs PySpark 4.0 or newer, and there is none here" in said
    assert f"{sys.executable} -m pip install 'pyspark[sql]>=4.0' confluent-kafka" in said


@pytest.mark.parametrize("version", ["3.5.6", "2.4.0.dev1"])
def test_an_old_pyspark_is_reported(version, tmp_path):
    package = tmp_path / "pyspark"
    package.mkdir()
    (package / "__init__.py").write_text(f"__version__ = {version!r}\n")
    said = import_fails(IMPORT, PYTHONPATH=str(tmp_path))
    assert f"needs PySpark 4.0 or newer, and this is {version}." in said
    assert "format('kafka')" in said


@pytest.mark.parametrize("package", ["numpy", "pyarrow", "confluent_kafka"])
def test_a_missing_companion_package_is_reported(package):
    program = (
        "import importlib.util as util; find = util.find_spec; "
        f"util.find_spec = lambda name, package=None: None if name == {package!r} else find(name, package); {IMPORT}"
    )
    said = import_fails(program)
    assert f"format('kafka_lite') needs {package} too, and {sys.executable} has none" in said
    assert "Install kafka_lite's extra spark" in said
    assert "PYSPARK_PYTHON" not in said
    in_a_worker = import_fails(program, PYTHON_WORKER_FACTORY_PORT="1")
    assert "set PYSPARK_PYTHON to the driver's Python before the session starts" in in_a_worker


@pytest.mark.parametrize("version", ["4.0.0", "4.1.1", "4.2.0", "4.10.1", "5.0.0.dev0"])
def test_newer_versions_are_accepted(version, monkeypatch):
    import pyspark

    from kafka_lite.spark.requirements import check_requirements

    monkeypatch.setattr(pyspark, "__version__", version)
    check_requirements()


@pytest.mark.parametrize(
    ("version", "writes_arrow", "limits"), [("4.0.1", False, False), ("4.1.1", True, False), ("4.2.0", True, True)]
)
def test_what_older_ones_lack(version, writes_arrow, limits, monkeypatch):
    import pyspark

    from kafka_lite.spark.requirements import ADMISSION_CONTROL, STREAM_ARROW_WRITER, pyspark_has

    monkeypatch.setattr(pyspark, "__version__", version)
    assert (pyspark_has(STREAM_ARROW_WRITER), pyspark_has(ADMISSION_CONTROL)) == (writes_arrow, limits)
