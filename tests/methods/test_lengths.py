"""normalization="lengths": alignment methods in the units of the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import lowfold
from lowfold.errors import InvalidInput
from lowfold.methods._normalize import length_map


@pytest.mark.parametrize("seed", [11, 12, 13])
@pytest.mark.parametrize(("method", "options"), [("LTSA", {}), ("HessianLLE", {}), ("LTSA", {"landmarks": 200})])
def test_distances_along_a_roll_are_kept(method: str, options: dict[str, int], seed: int) -> None:
    roll = lowfold.datasets.swiss_roll(1000, random_state=seed)
    model = getattr(lowfold, method)(2, normalization="lengths", on_shortcut="remove", **options).fit(roll.X)
    ratio = pdist(model.embedding_) / pdist(roll.coordinates)
    assert np.abs(np.percentile(ratio, [5, 50, 95]) - 1).max() < 0.03
    assert model.embedding_[:, 0].std() > model.embedding_[:, 1].std()  # the longest axis first, and no other direction
    assert abs(np.corrcoef(model.embedding_.T)[0, 1]) < 1e-8


def test_it_is_one_linear_map_and_new_points_follow_it(tmp_path: object) -> None:
    X = lowfold.datasets.s_curve(400, random_state=3).X
    new = lowfold.datasets.s_curve(30, random_state=4).X
    plain, scaled = (lowfold.LTSA(2, normalization=name).fit(X) for name in ("natural", "lengths"))
    T = np.linalg.lstsq(plain.embedding_, scaled.embedding_, rcond=None)[0]
    np.testing.assert_allclose(plain.embedding_ @ T, scaled.embedding_, atol=1e-10)
    np.testing.assert_allclose(plain.transform(new) @ T, scaled.transform(new), atol=1e-9)
    back = scaled.inverse_transform(scaled.embedding_[:20])
    np.testing.assert_allclose(back, plain.inverse_transform(plain.embedding_[:20]), atol=1e-8)
    file = f"{tmp_path}/model.lowfold"
    lowfold.save(file, scaled)
    np.testing.assert_array_equal(lowfold.load(file).transform(new), scaled.transform(new))


def test_a_repeated_coordinate_has_no_length() -> None:
    t = np.random.default_rng(5).random(200)
    graph = lowfold.graph.find_neighbors(t[:, None], n_neighbors=8).union()
    with pytest.raises(InvalidInput, match="1 of 2 directions no length"):
        length_map(np.column_stack([t, 3 * t]), graph)


def test_pieces_left_out_have_no_part() -> None:
    sheet = lowfold.datasets.s_curve(500, random_state=6)
    X = np.vstack([sheet.X, 1000 + np.random.default_rng(0).normal(size=(20, 3))])
    with pytest.warns(lowfold.errors.DisconnectedWarning):
        model = lowfold.LTSA(2, normalization="lengths", on_disconnected="largest", n_neighbors=10).fit(X)
    ratio = pdist(model.embedding_[:500]) / pdist(sheet.coordinates)
    assert abs(np.median(ratio) - 1) < 0.05
    assert np.isnan(model.embedding_[500:]).all()
