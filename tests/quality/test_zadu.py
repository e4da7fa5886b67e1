"""The same numbers as ZADU, where both measure the same thing."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold import quality
from lowfold.quality._ranks import neighbor_ranks

pytestmark = [pytest.mark.extra("zadu"), pytest.mark.filterwarnings("ignore")]


def case(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [5, 20])
def test_ranks(seed: int, k: int) -> None:
    from zadu.measures import (
        local_continuity_meta_criteria,
        mean_relative_rank_error,
        trustworthiness_continuity,
    )

    X, Y = case(seed)
    n = len(X)
    ours = neighbor_ranks(X, Y, k)
    whole, local = trustworthiness_continuity.measure(X, Y, k=k, return_local=True)
    assert ours.trustworthiness().value == pytest.approx(whole["trustworthiness"], abs=1e-12)
    assert ours.continuity().value == pytest.approx(whole["continuity"], abs=1e-12)
    assert np.allclose(ours.trustworthiness().points, local["local_trustworthiness"])
    assert np.allclose(ours.continuity().points, local["local_continuity"])
    # ZADU gives 1 - error, over |n - 2a + 1| / a; reversed ranks have |n - 2a| / a, by which the error is 1.
    a = np.arange(1, k + 1)
    factor = (np.abs(n - 2 * a + 1) / a).sum() / (np.abs(n - 2 * a) / a).sum()
    theirs = mean_relative_rank_error.measure(X, Y, k=k)
    assert ours.mrre("embedding").value == pytest.approx((1 - theirs["mrre_false"]) * factor, abs=1e-12)
    assert ours.mrre("data").value == pytest.approx((1 - theirs["mrre_missing"]) * factor, abs=1e-12)
    found = local_continuity_meta_criteria.measure(X, Y, k=k, return_local=True)
    assert ours.lcmc().value == pytest.approx(found[0]["lcmc"], abs=1e-12)
    assert np.allclose(ours.lcmc().points, found[1]["local_lcmc"])


@pytest.mark.parametrize("seed", range(3))
def test_distances(seed: int) -> None:
    from zadu.measures import non_metric_stress, pearson_r, scale_normalized_stress, spearman_rho, stress

    X, Y = case(seed)
    found = quality.summary(X, Y)
    plain = quality.stress(X, Y).value
    assert plain == pytest.approx(stress.measure(X, Y)["stress"], rel=1e-9)
    theirs = {
        "stress": scale_normalized_stress.measure(X, Y)["scale_normalized_stress"],
        "nonmetric_stress": non_metric_stress.measure(X, Y)["non_metric_stress"],
        "pearson": pearson_r.measure(X, Y)["pearson_r"],
        "spearman": spearman_rho.measure(X, Y)["spearman_rho"],
    }
    for name, value in theirs.items():
        assert found[name].value == pytest.approx(value, rel=1e-7), name
