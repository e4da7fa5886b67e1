"""Plans are true: the measured peak of every method is within 0.7 to 1.3 of its plan, where its arrays count."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lowfold

SCRIPT = Path(__file__).with_name("peak_of_fit.py")

# method -> parameters, n, D, kind of data: 300 MB or more where that does not take minutes
SIZES: list[tuple[str, dict[str, object], int, int, str]] = [
    ("PCA", {}, 100_000, 500, "cube"),
    ("EMPCA", {"max_iter": 20, "tol": 0.5}, 100_000, 400, "cube"),
    ("RobustPCA", {}, 20_000, 400, "cube"),
    ("MultilinearPCA", {}, 3_000, 64, "images"),
    ("RandomProjection", {"n_components": 100}, 100_000, 500, "cube"),
    ("LPP", {}, 100_000, 100, "cube"),
    ("KernelLPP", {}, 3_000, 10, "roll"),
    ("NPE", {}, 100_000, 100, "roll"),
    ("LinearLTSA", {}, 100_000, 100, "roll"),
    ("ICA", {"n_components": 10}, 100_000, 300, "cube"),
    ("NMF", {"n_components": 10, "max_iter": 50}, 50_000, 400, "cube"),
    ("SparsePCA", {"max_iter": 20}, 20_000, 300, "cube"),
    ("KernelPCA", {}, 12_000, 10, "roll"),
    ("NonlinearPCA", {}, 100_000, 20, "cube"),
    ("ClassicalMDS", {}, 7_000, 5, "roll"),
    ("MetricMDS", {"max_iter": 5}, 9_000, 5, "roll"),
    ("NonmetricMDS", {"max_iter": 5}, 4_000, 5, "roll"),
    ("WeightedMDS", {"max_iter": 5}, 1_600, 6, "stack"),
    ("ReplicatedMDS", {}, 2_000, 6, "stack"),
    ("Isomap", {}, 10_000, 3, "cube"),
    ("Isomap", {}, 50_000, 3, "roll"),
    ("LandmarkIsomap", {}, 100_000, 3, "roll"),
    ("ConformalIsomap", {}, 10_000, 3, "cube"),
    ("KernelIsomap", {}, 9_000, 3, "roll"),
    ("LocallyLinearIsomap", {}, 10_000, 3, "cube"),
    ("LLE", {}, 150_000, 3, "roll"),
    ("ModifiedLLE", {}, 150_000, 3, "roll"),
    ("SupervisedLLE", {}, 100_000, 3, "roll"),
    ("LTSA", {}, 150_000, 3, "roll"),
    ("HessianLLE", {}, 150_000, 3, "roll"),
    ("LaplacianEigenmaps", {}, 300_000, 3, "roll"),
    ("DiffusionMaps", {}, 300_000, 3, "roll"),
    ("DiffusionMaps", {"threshold": 0.0}, 6_000, 3, "roll"),
    ("VectorDiffusionMaps", {}, 60_000, 3, "roll"),
    ("MVU", {"solver": "interior", "max_iter": 8}, 400, 3, "roll"),
    ("LandmarkMVU", {"landmarks": 80}, 3_000, 3, "roll"),
    ("SNE", {"max_iter": 5}, 9_000, 10, "cube"),
    ("SymmetricSNE", {"max_iter": 5}, 9_000, 10, "cube"),
    ("TSNE", {"max_iter": 5}, 100_000, 10, "cube"),
    ("TSNE", {"max_iter": 5, "method": "exact"}, 9_000, 10, "cube"),
    ("DiffusionMaps", {"landmarks": 5_000}, 300_000, 3, "roll"),
    ("LTSA", {"landmarks": 5_000}, 500_000, 3, "roll"),
    ("LTSA", {}, 30_000, 40, "cube"),
    ("SpectralClustering", {}, 200_000, 3, "roll"),
]


def test_the_table_is_the_registry() -> None:
    assert {name for name, *_ in SIZES} == {entry.name for entry in lowfold.REGISTRY}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read as Linux tells them")
@pytest.mark.parametrize(("name", "params", "n", "D", "kind"), SIZES, ids=[f"{row[0]}-{row[2]}" for row in SIZES])
def test_peak_over_plan(name: str, params: dict[str, object], n: int, D: int, kind: str) -> None:
    command = [sys.executable, str(SCRIPT), name, json.dumps(params), str(n), str(D), kind]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert 0.7 < found["peak"] / found["plan"] < 1.3, found
