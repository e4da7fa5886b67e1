"""One contract over the whole registry: what every method keeps, whatever it computes."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimator,
    check_global_output_transform_pandas,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
)
from tests.methods.contract_table import CONTRACT

import lowfold
from lowfold._core.errors import AccuracyWarning, DisconnectedWarning, LowfoldError
from lowfold._core.limits import check_limits
from lowfold.methods.registry import REGISTRY

NAMES = [entry.name for entry in REGISTRY if entry.name in CONTRACT and CONTRACT[entry.name].rows]


def make(name: str, **changes: object):
    """The class with the small-data parameters of the table."""
    return getattr(lowfold, name)(**{**CONTRACT[name].params, **changes})


def data(name: str, n: int = 60, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    """A noisy curved sheet in R^4, positive where the method needs it."""
    rng = np.random.default_rng(seed)
    u, v = rng.random(n) * 3, rng.random(n)
    X = np.column_stack([np.cos(u), np.sin(u), v, 0.1 * rng.random(n)]) + 2.0
    return X.astype(dtype)


def fit(name: str, X: np.ndarray, **changes: object):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        warnings.simplefilter("ignore", AccuracyWarning)
        return make(name, **changes).fit(X)


def defined(call):
    """Run `call`: a result, or an error in words that is also a ValueError; never anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lowfold._core.errors.LowfoldWarning)
        try:
            return call()
        except (LowfoldError, ValueError) as error:
            if len(str(error)) <= 20:
                pytest.fail(f"no words: {error!r}")
            return None


def test_the_table_is_the_registry() -> None:
    """A new method needs a row in tests/methods/contract_table.py."""
    assert sorted(CONTRACT) == sorted(entry.name for entry in REGISTRY)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix:UserWarning")
@pytest.mark.filterwarnings("ignore:.* does not inherit from `sklearn.base.BaseEstimator`:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
@pytest.mark.timeout(60)
def test_scikit_learn_agrees(name: str) -> None:
    expected = CONTRACT[name].expected_failed_checks
    assert len(expected) <= 2
    check_estimator(make(name) if CONTRACT[name].params else getattr(lowfold, name)(), expected_failed_checks=expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::lowfold._core.errors.LowfoldWarning")
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning")
@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_global_output_transform_pandas,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
        check_dataframe_column_names_consistency,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.extra("pandas")
def test_frames_and_names(name: str, check) -> None:
    if not hasattr(getattr(lowfold, name), "transform"):
        pytest.skip("not a transformer")
    check(name, make(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_limits_and_a_sentence(name: str) -> None:
    cls = getattr(lowfold, name)
    for parameter in inspect.signature(cls).parameters:
        assert parameter in cls.limits, f"{parameter} of {name} has no limits"
        with pytest.raises(ValueError, match=f"{parameter} of {name} must be"):
            check_limits(name, {parameter: object()}, cls.limits)
        with pytest.raises(ValueError, match=f"{parameter} of {name} must be .*; got"):
            make(name, **{parameter: object()}).fit(data(name))
        assert parameter in (cls.__doc__ or ""), f"{parameter} of {name} is not documented"


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_matters(name: str) -> None:
    """Changing each constructor parameter changes something in the fitted model."""
    cls, X = getattr(lowfold, name), data(name)
    base = state(fit(name, X))
    for parameter in inspect.signature(cls).parameters:
        if parameter in {"n_jobs", "verbose"}:
            continue
        if parameter == "search" and importlib.util.find_spec("faiss") is None:
            continue  # only the approximate search changes anything
        if parameter == "random_state" and parameter not in CONTRACT[name].other_values:
            continue  # every method takes one; this one is deterministic and says so
        changed = CONTRACT[name].other_values[parameter]
        if changed is None:
            continue  # its effect is shown by a test of its own, named in the table
        value, Z, extra = changed if isinstance(changed, tuple) else (changed, X, {})
        Z = X if Z is None else Z
        reference = base if Z is X and not extra else state(fit(name, Z, **extra))
        assert state(fit(name, Z, **{**extra, parameter: value})) != reference, f"{parameter} of {name} changes nothing"


def state(model: object) -> bytes:
    """Everything fitted, parameters left out."""
    fitted = {k: v for k, v in vars(model).items() if (k.endswith("_") or k.startswith("_")) and k != "_history"}
    return pickle.dumps({k: fitted[k] for k in sorted(fitted)})


@pytest.mark.parametrize("name", NAMES)
def test_float32_is_kept(name: str) -> None:
    X = data(name, dtype=np.float32)
    model = fit(name, X)
    assert model.embedding_.dtype == np.float32
    if CONTRACT[name].transforms:
        assert model.transform(X[:5] + np.float32(0.01)).dtype == np.float32
    if CONTRACT[name].inverts:
        assert model.inverse_transform(model.embedding_[:5]).dtype == np.float32
    reference = fit(name, X.astype(np.float64))
    if CONTRACT[name].stable:
        size = np.abs(reference.embedding_).max()
        gap = np.minimum(
            np.abs(model.embedding_ - reference.embedding_), np.abs(model.embedding_ + reference.embedding_)
        )
        assert gap.max() < 1e-2 * size


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_bits(name: str) -> None:
    if "n_jobs" not in inspect.signature(getattr(lowfold, name)).parameters:
        pytest.skip("has no n_jobs")
    X, new = data(name, 150 if name == "MVU" else 300), data(name, 20, seed=1)
    one, two = fit(name, X, n_jobs=1), fit(name, X, n_jobs=2)
    assert np.array_equal(one.embedding_, two.embedding_)
    if CONTRACT[name].transforms:
        assert np.array_equal(one.transform(new), two.transform(new))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_data_are_left_alone(name: str) -> None:
    X = data(name)
    before, model = X.copy(), make(name)
    parameters = {k: pickle.dumps(v) for k, v in model.get_params().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lowfold._core.errors.LowfoldWarning)
        model.fit(X)
    assert np.array_equal(X, before)
    assert {k: pickle.dumps(v) for k, v in model.get_params().items()} == parameters
    clone(model)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_caller_does_to_his_arrays_changes_no_model(name: str) -> None:
    X, new = data(name), data(name, 12, seed=3)
    model = make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lowfold._core.errors.LowfoldWarning)
        Y = model.fit_transform(X)
    kept, placed = model.embedding_.copy(), model.transform(new) if CONTRACT[name].transforms else None
    Y *= 100
    X *= 7
    assert np.array_equal(model.embedding_, kept)
    if placed is not None:
        assert np.array_equal(model.transform(new), placed)


@pytest.mark.parametrize("name", NAMES)
def test_awkward_arrays_give_the_same(name: str) -> None:
    X = np.round(data(name), 3)
    expected = fit(name, X).embedding_
    frozen = X.copy()
    frozen.flags.writeable = False
    strided = np.repeat(X, 2, axis=0)[::2]
    fortran = np.asfortranarray(X)
    for variant in (frozen, strided, fortran, X.tolist()):
        assert np.array_equal(fit(name, variant).embedding_, expected)
    whole = (X * 1000).astype(np.int64)
    assert np.array_equal(fit(name, whole).embedding_, fit(name, whole.astype(np.float64)).embedding_)


@pytest.mark.parametrize("name", NAMES)
def test_new_points(name: str) -> None:
    if not CONTRACT[name].transforms:
        pytest.skip(CONTRACT[name].why)
    X, new = data(name, 80), data(name, 12, seed=3)
    model = fit(name, X)
    back = model.transform(X)
    assert np.abs(back - model.embedding_).max() <= 1e-6 * max(np.abs(model.embedding_).max(), 1e-300)
    placed = model.transform(new)
    assert np.isfinite(placed).all()
    alone = np.vstack([model.transform(new[i : i + 1]) for i in range(len(new))])
    assert np.abs(alone - placed).max() <= 1e-9 * max(np.abs(placed).max(), 1e-300), "the batch matters"


@pytest.mark.parametrize("name", NAMES)
def test_the_way_back(name: str) -> None:
    if not CONTRACT[name].inverts:
        pytest.skip(CONTRACT[name].why)
    X = data(name, 80)
    for normalization in ("natural", "orthonormal", "unit"):
        model = fit(name, X, normalization=normalization)
        restored = model.inverse_transform(model.embedding_)
        assert restored.shape == X.shape
        error = np.linalg.norm(restored - X) / np.linalg.norm(X - X.mean(axis=0))
        assert error < CONTRACT[name].restores, f"{normalization}: {error:.3f}"
        with pytest.raises(ValueError, match="columns"):
            model.inverse_transform(np.zeros((3, 7)))


@pytest.mark.parametrize("name", NAMES)
def test_normalizations(name: str) -> None:
    if "normalization" not in inspect.signature(getattr(lowfold, name)).parameters:
        pytest.skip("has no normalization")
    X = data(name)
    natural = fit(name, X).embedding_
    unit = fit(name, X, normalization="unit").embedding_
    assert np.allclose(unit.std(axis=0), 1, rtol=1e-5)
    orthonormal = fit(name, X, normalization="orthonormal").embedding_
    assert np.allclose(orthonormal.T @ orthonormal, np.eye(orthonormal.shape[1]), atol=1e-5)
    fitted = np.linalg.lstsq(natural, orthonormal, rcond=None)[0]
    assert np.allclose(natural @ fitted, orthonormal, atol=1e-8), "not one linear map"


@pytest.mark.filterwarnings("ignore:MVU of 400 points")  # which takes a while, and says so
@pytest.mark.parametrize("name", NAMES)
def test_pickle_is_linear_in_the_points(name: str) -> None:
    small, large = (len(pickle.dumps(fit(name, data(name, n)))) for n in (100, 400))
    assert large < 6 * small + 20_000
    model = fit(name, data(name))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).embedding_, model.embedding_)


@pytest.mark.parametrize("name", NAMES)
def test_missing_and_infinite_values_are_refused(name: str) -> None:
    for bad in (np.nan, np.inf):
        X = data(name)
        X[3, 1] = bad
        if CONTRACT[name].accepts_nan and np.isnan(bad):
            assert np.isfinite(fit(name, X).embedding_).all()
            continue
        with pytest.raises(ValueError, match=r"NaN|infinity|inf|missing"):
            fit(name, X)
        if CONTRACT[name].transforms:
            with pytest.raises(ValueError, match=r"NaN|infinity|inf|missing"):
                fit(name, data(name)).transform(X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "case",
    [
        "two blobs",
        "duplicates",
        "all equal",
        "constant feature",
        "one row",
        "two rows",
        "three rows",
        "20 x 50",
        "collinear",
        "times 1e150",
        "times 1e-150",
        "lattice",
        "offset",
    ],
)
def test_hard_data_are_defined(name: str, case: str) -> None:
    X = hard(name, case)
    result = defined(lambda: make(name).fit_transform(X))
    if result is not None:
        assert result.shape[0] == len(X)
        assert np.isfinite(result).all()
        if CONTRACT[name].transforms:
            placed = defined(lambda: make(name).fit(X).transform(X[:2] * 1.001))
            assert placed is None or np.isfinite(placed).all()
    must = {"two blobs", "duplicates", "constant feature", "20 x 50", "offset"}
    assert result is not None or case not in must or case in CONTRACT[name].refuses, f"{name} cannot do {case}"


def hard(name: str, case: str) -> np.ndarray:
    rng = np.random.default_rng(5)
    X = data(name, 40)
    if case == "two blobs":
        return np.vstack([X[:20], X[20:] + 100])
    if case == "duplicates":
        return np.vstack([X, np.repeat(X[:1], 20, axis=0)])
    if case == "all equal":
        return np.ones((12, 3))
    if case == "constant feature":
        return np.column_stack([X, np.full(len(X), 7.0)])
    if case.endswith(("row", "rows")):
        return X[: {"one": 1, "two": 2, "three": 3}[case.split(maxsplit=1)[0]]]
    if case == "20 x 50":
        return rng.random((20, 50))
    if case == "collinear":
        return np.outer(np.arange(1.0, 31.0), [1.0, 2.0, 3.0])
    if case.startswith("times"):
        return X * float(case.split()[1])
    if case == "lattice":
        return np.array([[i, j, 0.0] for i in range(6) for j in range(6)])
    return X + 1e6


@pytest.mark.parametrize("name", NAMES)
def test_sizes_that_cannot_be_are_refused_in_words(name: str) -> None:
    X = data(name, 12)
    parameters = inspect.signature(getattr(lowfold, name)).parameters
    if "n_components" in parameters and name != "RandomProjection":  # which may have more, and says so
        with pytest.raises(ValueError, match="n_components"):
            fit(name, X, n_components=50)
    if "n_neighbors" in parameters:
        with pytest.raises(ValueError, match="n_neighbors"):
            fit(name, X, n_neighbors=12)


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows_are_taken_or_refused_in_words(name: str) -> None:
    X = scipy.sparse.csr_array(np.abs(data(name, 40)))
    if getattr(getattr(lowfold, name).reader, "sparse", False):
        assert np.isfinite(fit(name, X).embedding_).all()
        return
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
        fit(name, X)


@pytest.mark.parametrize("name", NAMES)
def test_disconnected_data_in_four_ways(name: str) -> None:
    parameters = inspect.signature(getattr(lowfold, name)).parameters
    if "on_disconnected" not in parameters:
        pytest.skip("has no graph")
    X = np.vstack([data(name, 40), data(name, 30, seed=1) + 50])
    with pytest.warns(DisconnectedWarning, match="2 components of 40, 30 points") as caught:
        joined = make(name).fit(X)
    assert len([w for w in caught if issubclass(w.category, DisconnectedWarning)]) == 1
    assert len(joined.bridges_) >= 1
    assert np.isfinite(joined.embedding_).all()
    with pytest.raises(ValueError, match="2 components"):
        make(name, on_disconnected="raise").fit(X)
    largest = fit(name, X, on_disconnected="largest")
    assert np.isfinite(largest.embedding_[:40]).all()
    assert np.isnan(largest.embedding_[40:]).all()
    assert np.bincount(largest.component_labels_).tolist() == [40, 30]
    separate = fit(name, X, on_disconnected="separate")
    assert np.isfinite(separate.embedding_).all()
    assert separate.embedding_[:40, 0].max() < separate.embedding_[40:, 0].min()
    near = X[[0, 45]] + 1e-3
    if CONTRACT[name].transforms:
        placed = separate.transform(near)
        assert placed[0, 0] < separate.embedding_[40:, 0].min()
        assert placed[1, 0] > separate.embedding_[:40, 0].max()


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_rebuilds_the_embedding(name: str) -> None:
    rebuild = CONTRACT[name].rebuild
    if rebuild is None:
        pytest.skip("has no kernel of one operator; see the table")
    model = fit(name, data(name, 80))
    again = rebuild(model, model.operator())
    Y = model.embedding_
    flip = np.where((again * Y).sum(axis=0) < 0, -1.0, 1.0)
    assert np.abs(again * flip - Y).max() < 1e-4 * np.abs(Y).max()


@pytest.mark.parametrize("name", NAMES)
def test_the_operator_has_one_name_in_every_method(name: str) -> None:
    model = fit(name, data(name, 40))
    op = model.operator()
    V = np.random.default_rng(0).normal(size=(op.n, 2))
    assert np.allclose(op.apply(V), op.dense() @ V, atol=1e-6 * np.abs(op.dense()).max())
    if "kernel" not in model.get_params():
        assert np.allclose(model.kernel().dense(), op.dense())


@pytest.mark.parametrize("name", NAMES)
def test_the_learned_metric(name: str) -> None:
    if not CONTRACT[name].transforms:
        pytest.skip(CONTRACT[name].why)
    X = data(name)
    model = fit(name, X)
    D = model.distances(X[:6])
    Y = model.transform(X[:6])
    assert np.allclose(D, np.linalg.norm(Y[:, None] - Y[None], axis=2), atol=1e-6 * max(D.max(), 1e-300))
    assert model.distances(X[:6], X[:2]).shape == (6, 2)
    with pytest.raises(ValueError, match="kind"):
        model.distances(X[:6], kind="nonsense")


def test_modules_are_named_like_their_methods() -> None:
    for entry in REGISTRY:
        module = importlib.import_module(f"lowfold.methods.{entry.module}")
        assert inspect.isclass(getattr(module, entry.name))
