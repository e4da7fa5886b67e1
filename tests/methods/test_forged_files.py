"""A file made by somebody else ends in our words or in finite numbers, whatever was changed in it."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.methods.forger import forgeries, npy, verdict, written
from tests.methods.test_files import NAMES, SEVERAL, fitted, points

import lowfold
from lowfold._core.errors import LowfoldError

QUICK = ("PCA", "LTSA", "NMF", "MultilinearPCA")


def failures(model: object, new: np.ndarray, folder: Path, *, scalars: bool) -> list[str]:
    file = folder / "model.lowfold"
    lowfold.save(file, model)
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        lowfold.load(file).transform(new)
        for words, forged in forgeries(file, scalars=scalars):
            answer = verdict(lowfold.load, forged, new, LowfoldError)
            if answer:
                found.append(f"{words}: {answer}")
    return found


@pytest.mark.parametrize("name", QUICK)
def test_changed_arrays(name: str, tmp_path: Path) -> None:
    assert failures(fitted(name, points(30)), points(5, seed=3), tmp_path, scalars=False) == []


def test_a_graph_whose_rows_are_out_of_order(tmp_path: Path) -> None:
    """Indices that are all 0 or 1 lie within the range, and hold no graph: distances would be infinite."""
    file = tmp_path / "model.lowfold"
    model = fitted("KernelIsomap", points(40))
    lowfold.save(file, model)
    indices = model.graph_.indices
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    graph = next(name for name, data in members.items() if data.endswith(indices.tobytes()))
    forged = written(file.with_suffix(".forged"), {**members, graph: npy(indices > 0)})
    with pytest.raises(LowfoldError, match="rows of the graph are not in order"):
        lowfold.load(forged)


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "DiffusionMaps", "MVU", "SpectralClustering"])
def test_a_gap_in_the_coordinates_would_reach_new_points(name: str, tmp_path: Path) -> None:
    file = tmp_path / "model.lowfold"
    model = fitted(name, points(30))
    lowfold.save(file, model)
    Y = model._trained.coordinates
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    changed = np.array(Y)
    changed[7] = np.nan
    arrays = {name: np.load(io.BytesIO(data)) for name, data in members.items() if name.endswith(".npy")}
    same = next(name for name, array in arrays.items() if np.array_equal(array, Y))
    with pytest.raises(LowfoldError, match="the coordinates are not finite"):
        lowfold.load(written(file.with_suffix(".forged"), {**members, same: npy(changed)}))


def test_points_outside_the_largest_piece_may_have_none(tmp_path: Path) -> None:
    X = np.vstack([points(40), points(12) + 50])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowfold.LaplacianEigenmaps(2, n_neighbors=6, on_disconnected="largest").fit(X)
    assert np.isnan(model.embedding_[40:]).all()
    lowfold.save(tmp_path / "model.lowfold", model)
    again = lowfold.load(tmp_path / "model.lowfold")
    assert np.array_equal(again.transform(X[:5]), model.transform(X[:5]))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_changed_members_of_every_method(name: str, tmp_path: Path) -> None:
    assert failures(fitted(name, points(40)), points(5, seed=3), tmp_path, scalars=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_changed_members_of_several_matrices(name: str, tmp_path: Path) -> None:
    D = np.linalg.norm(points(40)[:, None] - points(40)[None], axis=2)
    matrices = np.stack([D, 1.1 * D])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(lowfold, name)().fit(matrices)
    assert failures(model, matrices[:, :5], tmp_path, scalars=True) == []


@pytest.mark.slow
def test_changed_members_of_pieces(tmp_path: Path) -> None:
    X = np.vstack([points(40), points(40) + 50])
    model = fitted("LaplacianEigenmaps", X, on_disconnected="separate")
    assert failures(model, points(5, seed=3), tmp_path, scalars=True) == []


def rewritten(good: Path, change: object) -> Path:
    """The file with every array of floats changed."""
    with zipfile.ZipFile(good) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, data in members.items():
        if name.endswith(".npy"):
            array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            members[name] = npy(array.astype(change(array.dtype)))  # type: ignore[operator]
    return written(good.with_suffix(".other"), members)


@pytest.mark.parametrize("name", ["PCA", "Isomap", "MetricMDS"])
def test_a_file_of_another_machine_and_one_of_half_floats(name: str, tmp_path: Path) -> None:
    X, good = points(), tmp_path / "m.lowfold"
    model = fitted(name, X)
    lowfold.save(good, model)
    other = lowfold.load(rewritten(good, lambda dtype: dtype.newbyteorder(">")))
    assert np.array_equal(other.transform(X[:5] + 0.01), model.transform(X[:5] + 0.01))
    with pytest.raises(LowfoldError, match="holds float16, and models hold float32 and float64"):
        lowfold.load(rewritten(good, lambda dtype: np.float16 if dtype.kind == "f" else dtype))
