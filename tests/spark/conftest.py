"""A session of Spark, of which `make test-spark` has one: without pyspark, the tests that need it are skipped."""

import os
import sys
from importlib.util import find_spec

import pytest


@pytest.fixture(scope="session")
def spark():
    """Two threads of one process, which try again what has failed."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: `make test-spark` tries it")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "1g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "2", "spark.driver.host": "127.0.0.1",
        # Java's quick compiler alone: nothing here runs long enough to repay the other.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2,2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    # What is to fail here need not be told at length.
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
