"""scikit-learn's protocol, which estimators keep without its base classes: its answers are the ones to compare with."""

from __future__ import annotations

import pickle
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.decomposition
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone, is_clusterer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_clusterer_compute_labels_predict, check_clustering

import lowfold
from lowfold._core.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(60, 4))


def frame(columns: str = "abcd", rows: slice = slice(None)) -> Any:
    """X as a table, its columns in the order that is asked for."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list("abcd"))[list(columns)][rows]


@pytest.fixture
def config() -> Iterator[Callable[..., None]]:
    """scikit-learn's settings for one test."""
    before = sklearn.get_config()
    yield sklearn.set_config
    sklearn.set_config(**before)


PLAIN = """
import sys, warnings
import numpy as np
import lowfold
warnings.simplefilter("ignore")
X = np.abs(np.random.default_rng(0).normal(size=(60, 4)))
for name in sys.argv[1:]:
    model = getattr(lowfold, name)()
    model.fit(X)
    model.transform(X + 0.01)
    repr(model)
    assert "sklearn" not in sys.modules, name
"""


LIGHT = """
import sys, warnings
import numpy as np
import lowfold
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(60, 4))
for name in sys.argv[1:]:
    getattr(lowfold, name)(2).fit(X)
    for unused in ("scipy.special", "scipy.io", "lowfold.datasets"):
        assert unused not in sys.modules, (name, unused)
"""


def test_a_fit_of_a_plain_array_loads_only_what_it_uses() -> None:
    names = ["PCA", "ClassicalMDS", "Isomap", "LTSA", "LaplacianEigenmaps", "DiffusionMaps", "MVU", "TSNE"]
    subprocess.run([sys.executable, "-c", LIGHT, *names], check=True, timeout=60)


def test_a_fit_of_a_plain_array_does_not_load_scikit_learn() -> None:
    names = ["PCA", "RobustPCA", "NMF", "ClassicalMDS", "Isomap", "LTSA", "LaplacianEigenmaps", "RandomProjection"]
    subprocess.run([sys.executable, "-c", PLAIN, *names], check=True, timeout=60)


# Text and views -------------------------------------------------------------------------------------------------------


def test_the_text_has_what_was_changed_or_everything(config: Callable[..., None]) -> None:
    model = lowfold.PCA(3, random_state=1)
    assert repr(model) == "PCA(n_components=3, random_state=1)"
    config(print_changed_only=False)
    assert repr(model).startswith("PCA(n_components=3, n_jobs=None, normalization='natural', random_state=1, solver=")


def test_an_array_is_told_by_its_shape() -> None:
    assert repr(lowfold.MetricMDS(init=np.zeros((50, 2)))) == "MetricMDS(init=<array (50, 2), float64>)"
    assert len(repr(lowfold.MetricMDS(init=np.zeros((50, 2)).tolist()))) < 90


def test_views_follow_the_setting(config: Callable[..., None]) -> None:
    model = lowfold.PCA()
    assert sorted(model._repr_mimebundle_(include=None)) == ["text/html", "text/plain"]
    assert "PCA" in make_pipeline(StandardScaler(), model)._repr_html_()
    config(display="text")
    assert not hasattr(model, "_repr_html_")
    assert sorted(model._repr_mimebundle_()) == ["text/plain"]


def test_a_view_of_a_fitted_model_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(self: Any) -> None:
        pytest.fail("the distances along the graph were computed for a view")

    model = lowfold.Isomap(n_neighbors=8).fit(X)
    monkeypatch.setattr(lowfold.Isomap, "dist_matrix_", property(computed))
    assert "Isomap" in model._repr_html_()
    assert "dist_matrix_" in dir(model)


def test_fitted_attributes_are_offered_once_there_are_some() -> None:
    model = lowfold.PCA()
    assert not {"explained_variance_", "n_components_"} & set(dir(model))
    assert {"explained_variance_", "n_components_", "embedding_"} <= set(dir(model.fit(X)))


# Parameters -----------------------------------------------------------------------------------------------------------


def test_an_unknown_parameter_changes_nothing_and_is_named() -> None:
    model = lowfold.PCA()
    with pytest.raises(InvalidInput, match="Invalid parameter 'foo' for estimator PCA"):
        make_pipeline(model).set_params(pca__n_components=3, pca__foo=1)
    with pytest.raises(InvalidInput, match="Invalid parameter 'foo'"):
        model.set_params(solver="dense", foo=1)
    with pytest.raises(InvalidInput, match="solver of PCA has no parameters of its own"):
        model.set_params(solver__foo=1)
    assert model.solver == "auto"


class Doubled(lowfold.PCA):
    """A constructor written by hand, as classes of scikit-learn have it, and one parameter more."""

    def __init__(self, n_components: int = 3, times: float = 2.0) -> None:
        super().__init__(n_components)
        self.times = times

    def transform(self, X: Any) -> Any:
        return super().transform(X) * self.times


class Again(Doubled):
    """The constructor of its base."""


@pytest.mark.parametrize("cls", [Doubled, Again])
def test_a_subclass_may_write_its_constructor(cls: Any) -> None:
    model = cls(times=3.0)
    assert model.get_params() == {"n_components": 3, "times": 3.0}
    assert repr(model) == f"{cls.__name__}(times=3.0)"
    fitted = clone(model).set_params(n_components=2).fit(X)
    np.testing.assert_allclose(fitted.transform(X), 3 * lowfold.PCA(2).fit_transform(X))
    with pytest.raises(InvalidInput, match="n_components of"):
        cls(n_components=-1).fit(X)


@pytest.mark.parametrize("bases", [(TransformerMixin, lowfold.PCA), (lowfold.PCA, BaseEstimator)])
def test_scikit_learns_classes_may_stand_beside_ours(bases: tuple[type, ...]) -> None:
    cls: Any = types.new_class("Mine", bases)
    model = clone(cls(2)).fit(X)
    assert model.get_feature_names_out().tolist() == ["mine0", "mine1"]
    assert model.__sklearn_tags__().transformer_tags is not None


def test_a_mixin_says_what_it_is() -> None:
    cls: Any = types.new_class("Mine", (ClusterMixin, lowfold.Isomap))
    assert is_clusterer(cls())
    assert is_clusterer(lowfold.SpectralClustering())
    assert not is_clusterer(lowfold.Isomap())


# Tables and names -----------------------------------------------------------------------------------------------------

ASKED: dict[str, Callable[[Any], Any]] = {
    "other order": lambda model: model.fit(frame()).transform(frame("bacd")),
    "too few": lambda model: model.fit(frame()).transform(frame("abc")),
    "names, then none": lambda model: model.fit(frame()).transform(X),
    "none, then names": lambda model: model.fit(X).transform(frame()),
    "names let go": lambda model: hasattr(model.fit(frame()).fit(X), "feature_names_in_"),
    "names of another fit": lambda model: model.fit(frame()).get_feature_names_out(list("abce")),
    "names before": lambda model: model.get_feature_names_out(),
    "names out": lambda model: model.fit(frame()).get_feature_names_out(list("abcd")).tolist(),
    "rows keep theirs": lambda model: (
        model.set_output(transform="pandas").fit(frame()).transform(frame(rows=slice(5, 9))).index.tolist()
    ),
    "kind unknown": lambda model: model.set_output(transform="tables").fit_transform(X),
    "kind kept": lambda model: clone(model.set_output(transform="pandas").set_output()).fit_transform(X).shape,
    "pipeline": lambda model: (
        make_pipeline(StandardScaler(), model).set_output(transform="pandas").fit_transform(frame()).columns.tolist()
    ),
    "union": lambda model: FeatureUnion([("a", model)]).fit(frame()).get_feature_names_out().tolist(),
}


def answer(ask: Callable[[Any], Any], model: Any) -> tuple[Any, list[str]]:
    """What comes of it: the value or the first words of the refusal; and the warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            told = ask(model)
        except (ValueError, AttributeError) as error:
            told = str(error).rstrip(".")[:48]
    return told.shape if isinstance(told, np.ndarray) else told, [str(warning.message) for warning in given]


@pytest.mark.extra("pandas")
@pytest.mark.parametrize("asked", ASKED)
def test_tables_and_names_are_treated_as_by_scikit_learns_pca(asked: str) -> None:
    ours, theirs = lowfold.PCA(2), sklearn.decomposition.PCA(2)
    assert answer(ASKED[asked], ours) == answer(ASKED[asked], theirs)


# Routing, clusters, files ---------------------------------------------------------------------------------------------


def test_a_start_is_handed_on_where_routing_asks_for_it(config: Callable[..., None]) -> None:
    config(enable_metadata_routing=True)
    start, rows = X[:, :2], StandardScaler().fit_transform(X)
    plain = lowfold.MetricMDS(max_iter=1)
    with pytest.raises(ValueError, match="not explicitly set as requested"):
        make_pipeline(StandardScaler(), clone(plain)).fit(X, init=start)
    asking = clone(clone(plain).set_fit_request(init=True))
    made = make_pipeline(StandardScaler(), asking).fit(X, init=start)[-1]
    np.testing.assert_array_equal(made.embedding_, plain.fit(rows, init=start).embedding_)
    make_pipeline(StandardScaler(), lowfold.PCA(2)).fit(X)


@pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")
@pytest.mark.parametrize("check", [check_clusterer_compute_labels_predict, check_clustering])
def test_clusters_keep_scikit_learns_rules(check: Callable[..., None]) -> None:
    """Its checks of clusterers are for heirs of its class alone, and have to be called."""
    check("SpectralClustering", lowfold.SpectralClustering(random_state=0))


def test_fit_predict_says_what_it_does_not_take() -> None:
    with pytest.raises(TypeError, match="points count alike"):
        lowfold.SpectralClustering(2).fit_predict(X, sample_weight=np.ones(60))


def test_settings_are_asked_of_a_module_that_is_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", types.ModuleType("sklearn"))
    assert repr(lowfold.PCA(3)) == "PCA(n_components=3)"
    assert isinstance(lowfold.PCA(2).fit(X).transform(X), np.ndarray)


def test_a_pickle_keeps_the_output_that_was_asked_for() -> None:
    model = pickle.loads(pickle.dumps(lowfold.PCA(2).set_output(transform="default").fit(X)))
    assert model.transform(X).shape == (60, 2)
    assert model._sklearn_output_config == {"transform": "default"}
