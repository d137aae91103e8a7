"""Matrices of values from CSV files."""

import numpy as np
import pytest
from support.errors import message_of

from tieaware.inputs.tables.delimited import read_matrix


def test_columns_are_systems_and_rows_topics(tmp_path):
    (tmp_path / "ap.csv").write_text('a,"b,c"\n0.5,1\n0.25,1e-3\n\n')
    matrix = read_matrix(tmp_path / "ap.csv")
    assert matrix.systems == ("a", "b,c")
    np.testing.assert_array_equal(matrix.values, [[0.5, 0.25], [1.0, 0.001]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ap.csv:1: this line must name the systems, separated by commas, but is empty"),
        ("a,b\n", "ap.csv:2: there must be a line of values for each topic, but there is none"),
        ("a,a\n1,2\n", "ap.csv:1: two systems are named 'a'"),
        ("a,b\n1,2\n1\n", "ap.csv:3: has 1 values for 2 systems"),
        ("a,b\n1,x\n", "ap.csv:2: expected a finite number under b, found 'x'"),
        ("a,b\n1,nan\n", "ap.csv:2: expected a finite number under b, found 'nan'"),
        ("a,b\n1,\n", "ap.csv:2: expected a finite number under b, found ''"),
    ],
)
def test_errors_name_the_line(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ap.csv").write_text(text)
    assert message_of(read_matrix, "ap.csv") == message


def test_the_matrix_of_a_track(matrix):
    """103 systems and 50 topics, as NumPy reads them."""
    read = read_matrix(matrix)
    assert read.values.shape == (103, 50)
    np.testing.assert_array_equal(read.values.T, np.loadtxt(matrix, delimiter=",", skiprows=1))
    assert 0.0 <= read.values.min() <= read.values.max() <= 1.0
