"""A fixture that starts Spark. Without pyspark, tests that use it are skipped; `make test-spark` runs them."""

import os
import sys
from importlib.util import find_spec

import pytest


@pytest.fixture(scope="session")
def spark():
    """Start Spark with two threads in one process. A failed task is repeated once."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: `make test-spark` tries it")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "1g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "2", "spark.driver.host": "127.0.0.1",
        # Use only Java's fast compiler. No test runs long enough to profit from the optimising compiler.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2,2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    # Log less, because tests that make workers fail would print long tracebacks.
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
