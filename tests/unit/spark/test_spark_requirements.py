"""An import in a Python that cannot run the data source: the error says what to do."""

import subprocess
import sys

import pytest

IMPORT = "from kafka_lite.spark.source import KafkaSource"


def import_fails(program, **environment):
    """The last line of what Python says."""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert result.returncode == 1
    return result.stderr.splitlines()[-1]


def test_without_pyspark():
    said = import_fails(f"import sys; sys.modules['pyspark'] = None; {IMPORT}")
    assert "format('kafka_lite') needs PySpark 4.2 or newer, and there is none here" in said
    assert f"{sys.executable} -m pip install 'pyspark[sql]>=4.2' confluent-kafka" in said


@pytest.mark.parametrize("version", ["3.5.6", "4.1.1", "2.4.0.dev1"])
def test_with_a_pyspark_that_is_too_old(version, tmp_path):
    package = tmp_path / "pyspark"
    package.mkdir()
    (package / "__init__.py").write_text(f"__version__ = {version!r}\n")
    said = import_fails(IMPORT, PYTHONPATH=str(tmp_path))
    assert f"needs PySpark 4.2 or newer, and this is {version}." in said
    assert "format('kafka')" in said


@pytest.mark.parametrize("package", ["pyarrow", "confluent_kafka"])
def test_without_a_package_beside_it(package):
    program = (
        "import importlib.util as util; find = util.find_spec; "
        f"util.find_spec = lambda name, package=None: None if name == {package!r} else find(name, package); {IMPORT}"
    )
    assert f"format('kafka_lite') needs {package} too. Install kafka_lite's extra spark" in import_fails(program)


@pytest.mark.parametrize("version", ["4.2.0", "4.10.1", "5.0.0.dev0"])
def test_newer_ones_will_do(version, monkeypatch):
    import pyspark

    from kafka_lite.spark.requirements import check_requirements

    monkeypatch.setattr(pyspark, "__version__", version)
    check_requirements()
