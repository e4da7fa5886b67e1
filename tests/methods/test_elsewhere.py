"""Names of other libraries lead to the right ones here."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import re
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import lowfold
from lowfold._core.errors import InvalidInput, InvalidType
from lowfold.methods._elsewhere import ALSO_KNOWN_AS, ATTRIBUTES, MODULES, PEERS, SCIKIT_LEARN
from lowfold.methods._elsewhere_parameters import BY_PLACE, OF_VALUES, PARAMETERS, PARAMETERS_OF_PEERS, VALUES
from lowfold.methods.registry import BY_NAME, find
from lowfold.quality._score import Score


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("hlle", "HessianLLE"),
        ("mle", "ModifiedLLE"),
        ("mds", "MetricMDS"),
        ("sammon", "MetricMDS"),
        ("dm", "DiffusionMaps"),
        ("SpectralEmbedding", "LaplacianEigenmaps"),
        ("LocallyLinearEmbedding", "LLE"),
        ("t-sne", "TSNE"),
    ],
)
def test_names_that_people_know_find_the_method(name: str, method: str) -> None:
    assert find(name).name == method


def test_every_other_name_is_of_a_method_and_of_one_only() -> None:
    others = [name for names in ALSO_KNOWN_AS.values() for name in names]
    assert set(ALSO_KNOWN_AS) <= set(BY_NAME)
    assert len(others) == len(set(others))


def test_what_is_not_here_is_answered_with_compare() -> None:
    with pytest.raises(InvalidInput, match="compare"):
        find("umap")
    for name in ("UMAP", "umap", "PHATE"):
        with pytest.raises(ImportError, match=f"no {name}; .*compare"):
            getattr(lowfold, name)


def test_modules_of_what_is_not_here_are_answered_too() -> None:
    for name in ("umap", "umap_", "phate", "parametric_umap"):
        with pytest.raises(ImportError, match="measures it beside lowfold's own"):
            importlib.import_module(f"lowfold.{name}")
    with pytest.raises(ImportError, match=r"no umap; .*compare"):
        from lowfold import umap_  # noqa: F401


def test_a_constructor_of_another_library_is_answered_on_the_class_and_on_a_model() -> None:
    for asked in (lowfold.DiffusionMaps, lowfold.DiffusionMaps()):
        assert not hasattr(asked, "from_sklearn")
        with pytest.raises(AttributeError, match=r"constructor itself, lowfold\.DiffusionMaps"):
            _ = asked.from_sklearn


def test_its_modules_are_answered_with_where_the_names_are() -> None:
    for name in ("manifold", "decomposition", "cluster", "random_projection"):
        with pytest.raises(ImportError, match="stand in lowfold itself"):
            importlib.import_module(f"lowfold.{name}")
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module("lowfold.no_such_module")


def test_arguments_of_fit_that_are_not_here_are_answered() -> None:
    X = np.random.default_rng(0).random(size=(20, 3))
    with pytest.raises(TypeError, match=r"NMF.fit_transform\(\) .* 'W': .*random_state"):
        lowfold.NMF(2).fit_transform(X, W=X[:, :2])
    with pytest.raises(TypeError, match=r"PCA.fit\(\) .* 'sample_weight': .*np.repeat"):
        lowfold.PCA(2).fit(X, sample_weight=X[:, 0])
    with pytest.raises(TypeError, match="constructor"):
        lowfold.PCA(2).fit_transform(X, whiten=True)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.arange(10.0), r"X.reshape\(-1, 1\) for 10 points"),
        (np.zeros((4, 3, 2)), "MultilinearPCA"),
        ([["a", "b"], ["c", "d"]], "text \\('a'\\)"),
        ((row for row in [[1.0, 2.0], [3.0, 4.0]]), r"got generator; it gives its rows once: pass np.array\(list\(X\)"),
        (map(list, [[1.0, 2.0], [3.0, 4.0]]), "got map; it gives its rows once"),
        ({"a": [1.0, 2.0]}, r"got dict; pass pandas.DataFrame\(X\)"),
        (load_iris(), "got Bunch; pass X.data"),
    ],
)
def test_what_is_no_table_of_numbers_is_answered(X: object, words: str) -> None:
    with pytest.raises((InvalidInput, InvalidType), match=words):
        lowfold.PCA(1).fit(X)


def test_values_of_scikit_learn_are_answered() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InvalidInput, match="metric=False is NonmetricMDS"):
        lowfold.MetricMDS(2, metric=False).fit(X)
    with pytest.raises(InvalidInput, match="method='auto'"):
        lowfold.TSNE(2, method="barnes_hut").fit(X)
    limits = {name: limit for entry in BY_NAME for name, limit in getattr(lowfold, entry).limits.items()}
    for (name, value), advice in VALUES.items():
        assert name in limits, name
        for word in re.split(r"[ ,;:]+", advice):
            told, equals, new = word.partition("=")
            if equals and told == name and new.startswith("'"):
                allowed = [getattr(lowfold, entry).limits.get(name, ()) for entry in BY_NAME]
                assert any(limit.allows(new.strip("'")) for every in allowed for limit in every), (value, advice)


@pytest.mark.parametrize("name", sorted(SCIKIT_LEARN))
def test_names_of_scikit_learn_answer_with_the_name_to_use(name: str) -> None:
    with pytest.raises(ImportError, match=f"scikit-learn's {name} is lowfold"):
        getattr(lowfold, name)
    with pytest.raises(ImportError, match=f"scikit-learn's {name} is lowfold"):
        exec(f"from lowfold import {name}")
    target = SCIKIT_LEARN[name].split(maxsplit=1)[0].strip(";,").removeprefix("lowfold.")
    assert hasattr(lowfold, target.partition(".")[0].partition("(")[0])


@pytest.mark.parametrize(
    ("method", "parameter", "words"),
    [
        ("Isomap", "eigen_solver", "solver="),
        ("Isomap", "path_method", "paths="),
        ("LaplacianEigenmaps", "affinity", "precomputed_affinity"),
        ("LaplacianEigenmaps", "gamma", "scale=1/gamma"),
        ("MetricMDS", "dissimilarity", "metric='precomputed'"),
        ("TSNE", "n_iter", "max_iter="),
        ("TSNE", "angle", "method='fft'"),
        ("PCA", "svd_solver", "solver="),
        ("PCA", "whiten", "normalization='unit'"),
        ("KernelPCA", "fit_inverse_transform", "preimage='ridge'"),
        ("PCA", "batch_size", "partial_fit"),
        ("SparsePCA", "method", "nothing: coordinates"),
        ("SpectralClustering", "n_components", "as many eigenvectors as clusters"),
    ],
)
def test_parameters_of_scikit_learn_are_answered(method: str, parameter: str, words: str) -> None:
    with pytest.raises(TypeError, match=f"for {parameter} use .*{words}".replace("(", "[(]")):
        getattr(lowfold, method)(**{parameter: 1})


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        ("LaplacianEigenmaps", {"affinity": "nearest_neighbors"}, "for affinity use nothing: it is the default;"),
        ("SpectralClustering", {"affinity": "precomputed"}, "for affinity use metric='precomputed_affinity';"),
        ("Isomap", {"path_method": "FW", "eigen_solver": "auto"}, "use paths='floyd_warshall'; .* it is the default;"),
        ("LLE", {"method": "hessian"}, "for method use the class HessianLLE;"),
        ("MetricMDS", {"metric_mds": False}, "for metric_mds use the class NonmetricMDS;"),
        ("PCA", {"svd_solver": "full"}, "for svd_solver use solver='svd';"),
        ("PCA", {"whiten": False}, "for whiten use nothing: it is the default;"),
        ("PCA", {"whiten": np.array([1])}, "for whiten use normalization='unit';"),
        ("ICA", {"whiten": False}, "for whiten use nothing: components have unit variance;"),
    ],
)
def test_the_value_that_came_says_what_to_write(method: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        getattr(lowfold, method)(**given)
    with pytest.raises(InvalidInput, match=words.rstrip(";")):
        getattr(lowfold, method)().set_params(**given)


@pytest.mark.parametrize("key", OF_VALUES)
def test_answers_of_values_name_values_that_are_taken(key: str) -> None:
    name = key.partition("=")[0]
    only, _, parameter = name.rpartition(".")
    known = {**PARAMETERS, **PARAMETERS_OF_PEERS}
    assert name in known or parameter in known
    for ours, value in re.findall(r"(\w+)='(\w+)'", OF_VALUES[key]):
        limits = [getattr(lowfold, entry).limits.get(ours, ()) for entry in ([only] if only else BY_NAME)]
        assert any(limit.allows(value) for several in limits for limit in several), value


def test_answers_may_call_functions_with_arguments_of_their_own() -> None:
    for kind in (lowfold.LaplacianEigenmaps, lowfold.SpectralClustering):
        with pytest.raises(TypeError, match=r"for affinity use metric='precomputed_affinity' .* rbf_kernel\(X, gamma="):
            kind(2, affinity="rbf")


def test_values_of_known_parameters_are_answered_with_the_unknown_ones() -> None:
    with pytest.raises(TypeError, match=r"for dissimilarity use metric='precomputed'; .*metric=False is NonmetricMDS"):
        lowfold.MetricMDS(2, metric=False, dissimilarity="precomputed")
    with pytest.raises(TypeError, match=r"for angle use nothing: .*; its parameters"):
        lowfold.TSNE(2, method="exact", angle=0.5)


@pytest.mark.parametrize("name", BY_PLACE)
def test_what_scikit_learn_took_by_place_is_taken_by_name_or_answered(name: str) -> None:
    kind = getattr(lowfold, name)
    for parameter in BY_PLACE[name]:
        if parameter not in kind.parameters:
            with pytest.raises(TypeError, match=f"for {parameter} use "):
                kind(**{parameter: 1})


@pytest.mark.parametrize("name", PEERS)
def test_names_of_peers_answer_with_what_is_here(name: str) -> None:
    with pytest.raises(ImportError, match=r"'s .* (is|are) ") as told:
        getattr(lowfold, name)
    for folder, word in re.findall(r"lowfold\.(?:(\w+)\.)?(\w+)", str(told.value)):
        assert hasattr(getattr(lowfold, folder) if folder else lowfold, word)


def test_a_model_without_a_fit_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'embedding_'; the model is not fitted"):
        _ = lowfold.TSNE(2).embedding_
    with pytest.raises(TypeError, match=r"TSNE\.fit\(\) missing 1 required positional argument: 'X'"):
        lowfold.TSNE(2).fit()
    with pytest.raises(TypeError, match="TSNE is a model: its coordinates are embedding_"):
        lowfold.TSNE(2)[:, 0]
    with pytest.raises(TypeError, match="'affinities': pass the matrix as X"):
        lowfold.TSNE(2).fit(affinities=np.eye(3))


def test_a_number_of_neighbours_given_by_place_is_told() -> None:
    with pytest.raises(TypeError, match=r"multiple values.*only n_components is given by place"):
        lowfold.LLE(12, n_components=2)


def test_negative_values_are_told_with_a_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"its smallest is -1; .*X - X.min\(axis=0\).*PCA"):
        lowfold.NMF(1).fit(np.array([[1.0, -1.0], [2.0, 3.0], [4.0, 1.0]]))


def test_attributes_and_places_of_scikit_learn_are_answered() -> None:
    model = lowfold.Isomap(2)
    with pytest.raises(AttributeError, match="'Isomap' object has no attribute 'nbrs_'; neighbours are in graph_"):
        _ = model.nbrs_
    with pytest.raises(AttributeError, match=r"'Isomap' object has no attribute 'nothing'$"):
        _ = model.nothing
    with pytest.raises(TypeError, match=r"only n_components is given by place.*: .* n_neighbors=10, n_components=2;"):
        lowfold.Isomap(10, 2)


def test_advice_names_parameters_that_exist() -> None:
    ours = {name for entry in BY_NAME for name in getattr(lowfold, entry).parameters}
    for advice in (*PARAMETERS.values(), *PARAMETERS_OF_PEERS.values()):
        for word in advice.replace("(", " ").replace(",", " ").split():
            if "=" in word and not word.startswith("="):
                assert word.partition("=")[0] in ours, advice


def test_verbose_is_a_number_too(capfd: pytest.CaptureFixture[str]) -> None:
    lowfold.PCA(1, verbose=1).fit(np.random.default_rng(0).normal(size=(20, 3)))
    assert "principal axes" in capfd.readouterr().err
    with pytest.raises(ValueError, match="verbose of PCA must be"):
        lowfold.PCA(1, verbose=-1).fit(np.eye(3))


def test_a_score_is_a_float() -> None:
    t = Score("trustworthiness", 0.75, 1.0, np.array([0.5, 1.0]))
    assert 1 - t == 0.25
    assert f"{t:.3f}" == "0.750"
    assert np.mean([t, t]) == 0.75
    assert max(t, 0.5) is t
    for twin in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert (twin.name, twin.value, twin.perfect) == ("trustworthiness", 0.75, 1.0)
        assert np.array_equal(twin.points, t.points)


def test_set_params_answers_as_the_constructor_does() -> None:
    with pytest.raises(ValueError, match="for whiten use normalization='unit'"):
        lowfold.PCA(2).set_params(whiten=True)


def test_gaps_and_text_are_told_with_a_way_out() -> None:
    X = np.random.default_rng(0).normal(size=(10, 3))
    X[4, 1] = np.nan
    with pytest.raises(InvalidInput, match="EMPCA fits rows with gaps"):
        lowfold.PCA(2).fit(X)
    assert lowfold.EMPCA(2).fit(X).embedding_.shape == (10, 2)
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match="no numbers: 'kind'"):
        lowfold.PCA(2).fit(pd.DataFrame({"kind": ["a", "b", "c"], "size": [1.0, 2.0, 3.0]}))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HLLE", "HessianLLE"),
        ("cmdscale", "ClassicalMDS"),
        ("SammonMapping", "MetricMDS"),
        ("DiffusionMap", "Diffusion"),
    ],
)
def test_other_names_are_answered_where_they_are_imported(name: str, words: str) -> None:
    with pytest.raises(ImportError, match=f"{name} is lowfold.{words}"):
        getattr(lowfold, name)


def test_data_sets_of_scikit_learn_are_answered() -> None:
    with pytest.raises(ImportError, match=r"make_swiss_roll is lowfold\.datasets\.swiss_roll"):
        from lowfold.datasets import make_swiss_roll  # noqa: F401
    with pytest.raises(ImportError, match=r"import it from sklearn\.datasets"):
        from lowfold.datasets import load_iris  # noqa: F401
    assert not hasattr(lowfold.datasets, "rolls")


def test_the_matrix_of_distances_is_answered() -> None:
    with pytest.raises(ImportError, match=r"lowfold\.metrics\.pairwise\(X"):
        from lowfold.metrics import pairwise_distances  # noqa: F401
    assert not hasattr(lowfold.metrics, "nothing")


def test_misspelt_values_are_answered_with_the_nearest() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    for metric, words in (("euclidian", "did you mean 'euclidean'"), ("l2", "write metric='euclidean'")):
        with pytest.raises(InvalidInput, match=words):
            lowfold.Isomap(2, metric=metric).fit(X)
    with pytest.raises(InvalidInput, match=r"got 'xyz'$"):
        lowfold.Isomap(2, symmetrize="xyz").fit(X)
    with pytest.raises(TypeError, match="for epsilon use scale="):
        lowfold.DiffusionMaps(2, epsilon=1.0)


def test_whole_numbers_beyond_float64_are_no_limits() -> None:
    with pytest.raises(InvalidInput, match="tol of PCA must be"):
        lowfold.PCA(1, tol=10**400).fit(np.eye(4))


THERE = {
    "PCA": ("decomposition.PCA", "decomposition.IncrementalPCA", "decomposition.TruncatedSVD"),
    "EMPCA": ("decomposition.FactorAnalysis",),
    "KernelPCA": ("decomposition.KernelPCA",),
    "SparsePCA": ("decomposition.SparsePCA", "decomposition.MiniBatchSparsePCA"),
    "ICA": ("decomposition.FastICA",),
    "NMF": ("decomposition.NMF", "decomposition.MiniBatchNMF"),
    "MetricMDS": ("manifold.MDS",),
    "NonmetricMDS": ("manifold.MDS",),
    "Isomap": ("manifold.Isomap",),
    "LLE": ("manifold.LocallyLinearEmbedding",),
    "ModifiedLLE": ("manifold.LocallyLinearEmbedding",),
    "HessianLLE": ("manifold.LocallyLinearEmbedding",),
    "LTSA": ("manifold.LocallyLinearEmbedding",),
    "LaplacianEigenmaps": ("manifold.SpectralEmbedding",),
    "TSNE": ("manifold.TSNE",),
    "RandomProjection": ("random_projection.GaussianRandomProjection", "random_projection.SparseRandomProjection"),
    "SpectralClustering": ("cluster.SpectralClustering",),
}


def _there(place: str) -> type:
    module, _, name = place.partition(".")
    return getattr(importlib.import_module(f"sklearn.{module}"), name)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", THERE)
def test_every_parameter_of_its_twin_is_taken_or_answered(name: str) -> None:
    ours = getattr(lowfold, name)
    for kind in map(_there, THERE[name]):
        for parameter in inspect.signature(kind).parameters.keys() - ours.parameters.keys():
            with pytest.raises(TypeError, match=f"for {parameter} use ") as told:
                ours(**{parameter: 1})
            advice = str(told.value).partition(f"for {parameter} use ")[2].partition("; its parameters")[0]
            assert set(re.findall(r"(\w+)=", advice)) <= set(ours.parameters), advice
            assert all(hasattr(ours, word) for word in re.findall(r"(\w+)\(\w+\)", advice) if word != "f"), advice


@pytest.mark.parametrize("name", THERE)
def test_every_attribute_of_its_twin_is_there_or_answered(name: str) -> None:
    model = getattr(lowfold, name)(2).fit(np.abs(np.random.default_rng(0).normal(size=(40, 4))))
    for kind in map(_there, THERE[name]):
        documented = re.findall(r"^    (\w+_) :", kind.__doc__ or "", re.MULTILINE)
        methods = [word for word in dir(kind) if not word.startswith("_") and not word.endswith("_request")]
        for word in {*documented, *methods} - {"feature_names_in_"}:
            assert hasattr(model, word) or word in ATTRIBUTES, word


@pytest.mark.parametrize("module", ["manifold", "decomposition", "random_projection"])
def test_every_name_of_its_modules_is_here_or_answered(module: str) -> None:
    for name in importlib.import_module(f"sklearn.{module}").__all__:
        assert name in BY_NAME or name in SCIKIT_LEARN, name


def test_what_stays_in_scikit_learn_is_answered() -> None:
    with pytest.raises(ImportError, match=r"no KMeans: import it from sklearn\.cluster as before"):
        from lowfold import KMeans  # noqa: F401
    for name in MODULES:
        with pytest.raises(ImportError, match=f"import from sklearn.{name} as before"):
            importlib.import_module(f"lowfold.{name}")
        importlib.import_module(f"sklearn.{name}")


@pytest.mark.parametrize(
    ("method", "parameter", "words"),
    [
        ("DiffusionMaps", "k", "n_neighbors="),
        ("DiffusionMaps", "time_exponent", "t="),
        ("DiffusionMaps", "weight_fxn", "target="),
        ("DiffusionMaps", "sigma", "scale_from_sigma"),
        ("TSNE", "initialization", "init="),
        ("TSNE", "negative_gradient_method", "method="),
        ("TSNE", "NumDimensions", "n_components="),
        ("HessianLLE", "num_neighbors", "n_neighbors="),
        ("LaplacianEigenmaps", "diffusion_maps", "the class"),
        ("Isomap", "epsilon", "radius="),
    ],
)
def test_parameters_of_peers_are_answered(method: str, parameter: str, words: str) -> None:
    with pytest.raises(TypeError, match=f"for {parameter} use .*{words}"):
        getattr(lowfold, method)(**{parameter: 1})


def test_no_answer_names_a_parameter_that_the_class_does_not_have() -> None:
    with pytest.raises(TypeError, match="'n_iter'; its parameters"):
        lowfold.RandomProjection(2, n_iter=3)


@pytest.mark.extra("pandas")
def test_columns_of_pandas_that_are_no_numbers_or_have_gaps_are_told() -> None:
    import pandas as pd

    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "n": pd.array([1, 2, None, 4], dtype="Int64")})
    with pytest.raises(InvalidInput, match="1 of 8 values, the first in row 2, column 1"):
        lowfold.PCA(1).fit(table)
    table["kind"] = pd.Categorical(["x", "y", "x", "y"])
    with pytest.raises(InvalidInput, match="X has columns that are no numbers: 'kind'; leave them out"):
        lowfold.PCA(1).fit(table)


@pytest.mark.parametrize("kind", [">f4", "<f4", ">f8"])
def test_numbers_of_another_machine_keep_their_precision(kind: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    Y = lowfold.PCA(2).fit_transform(X.astype(kind))
    assert Y.dtype == np.dtype(kind).newbyteorder("=")
    assert np.allclose(np.abs(Y), np.abs(lowfold.PCA(2).fit_transform(X)), atol=1e-5)


def test_misspelt_parameters_are_answered_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="for n_conponents use n_components=;"):
        lowfold.PCA(n_conponents=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'; its parameters"):
        lowfold.PCA(nothing=2)
