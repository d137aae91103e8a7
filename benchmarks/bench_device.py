"""Scores on a device, counted there, against the maximum of the same tensor, and against a copy to the host.

Needs torch, and a device in TIEAWARE_DEVICE, such as cuda. TIEAWARE_DEVICE=cpu counts tensors in the memory of the host
as if it were a device; the rows then have no targets.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import tieaware
from benchmarks.workloads import assert_reference, labels
from tieaware.checks import device_tensors

torch = pytest.importorskip("torch", reason="torch is not installed")

DEVICE = os.environ.get("TIEAWARE_DEVICE")
SECTION = "Scores on a device"
MEASURES = ("AP", "RR@10", "nDCG@10", "R@1000")


@pytest.mark.parametrize(
    ("n_lists", "length", "relevant", "most"), [(200, 100_000, 10, 4.0), (8_000, 40, 4, None)], ids=["long", "short"]
)
@pytest.mark.parametrize("to", ["torch.max", "a copy to the host"])
def test_scores(compare, small, monkeypatch, to, n_lists, length, relevant, most):
    monkeypatch.setattr(device_tensors, "FORCED", True)
    if DEVICE is None and not small:
        pytest.skip("no device is named: set TIEAWARE_DEVICE")
    # The host compares slowly, so it gets fewer lists.
    n_lists = max(2, n_lists // 100) if small else n_lists // 20 if DEVICE == "cpu" else n_lists
    judged = labels(n_lists, length, relevant)
    tensor = torch.rand((n_lists, length), generator=torch.Generator().manual_seed(2010)).to(DEVICE or "cpu")
    evaluator = tieaware.Evaluator(judged, MEASURES)
    is_device = tensor.device.type != "cpu"

    def count() -> np.ndarray:
        return evaluator(tensor)

    def maximum() -> float:
        return tensor.max().item()

    def copied() -> np.ndarray:
        # On the host, the copy is for free, so this is the usual evaluation.
        return evaluator(tensor.cpu().numpy())

    def check() -> None:
        assert count().tobytes() == copied().tobytes()
        assert_reference(count(), tensor.cpu().numpy(), judged, MEASURES, lists=[0])

    targets = {"torch.max": most, "a copy to the host": 0.1 if most else None}
    where = torch.cuda.get_device_name(tensor.device) if tensor.device.type == "cuda" else tensor.device.type
    compare(
        SECTION, f"{n_lists:,} lists of {length:,}, {relevant} relevant, {where}", check=check, contender=count,
        baseline=maximum if to == "torch.max" else copied, to=to, at_most=targets[to] if is_device else None,
        budget=3.0,
    )  # fmt: skip
