"""Run scikit-learn's own tests of its manifold, linear and spectral methods on lowfold, and count why some fail.

    python tools/sklearn_tests.py [test_pca.py ...] [-- options of pytest]

The tests come with the installed scikit-learn and are not changed. Under its names stand classes with its constructors
that hand everything on to a method of lowfold. What tests private functions or another algorithm can never pass; the
rest of what fails is what somebody who comes from scikit-learn will meet. It takes half an hour in all.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sklearn
import sklearn_names as here
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin

import lowfold

Given = here.Given
FILES = (
    *(f"decomposition/tests/test_{name}.py" for name in ("pca", "incremental_pca", "truncated_svd", "kernel_pca")),
    *(f"decomposition/tests/test_{name}.py" for name in ("nmf", "fastica", "sparse_pca")),
    *(f"manifold/tests/test_{name}.py" for name in ("isomap", "locally_linear", "spectral_embedding", "t_sne")),
    *(f"manifold/tests/test_{name}.py" for name in ("mds", "classical_mds")),
    *("tests/test_random_projection.py", "cluster/tests/test_spectral.py"),
)


class StandIn(ClassNamePrefixFeaturesOutMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """scikit-learn's constructor, lowfold's method: whatever is asked of it is asked of the model."""

    _build: Callable[[Given], Any]

    def _built(self) -> Any:
        return type(self)._build(self.get_params(deep=False))

    def _data(self, X: Any) -> Any:
        return here.affinities(self.get_params(deep=False), X) if hasattr(self, "affinity") else X

    def _fitted(self, name: str, *args: Any, **options: Any) -> Any:
        self.__dict__["_model"] = self._built()
        return getattr(self._model, name)(*args, **options)

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit lowfold's model."""
        self._fitted("fit", self._data(X), y, **options)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit lowfold's model and return its embedding."""
        return self._fitted("fit_transform", self._data(X), y, **options)

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit lowfold's model and return its labels."""
        return self.fit(X).labels_

    def partial_fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """A block of rows more."""
        if "_model" not in self.__dict__:
            self.__dict__["_model"] = self._built()
        self._model.partial_fit(X)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__ and bool(self._model.__sklearn_is_fitted__())

    def __sklearn_tags__(self) -> Any:
        return self._built().__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self._get_param_names():
            raise AttributeError(name)
        model = self.__dict__["_model"] if "_model" in self.__dict__ else self._built()
        value = getattr(model, name)
        complete = name == "affinity_matrix_" and not str(self.affinity).endswith("nearest_neighbors")
        return value.toarray() if complete and hasattr(value, "toarray") else value


def stand_in(kind: Any, build: Callable[[Given], Any]) -> type:
    """A class with the constructor of `kind`."""
    signature = inspect.signature(kind.__init__)
    names = [name for name in signature.parameters if name != "self"]
    space: Given = {}
    lines = "".join(f"    self.{name} = {name}\n" for name in names)
    exec(f"def __init__{signature}:\n{lines}", space)
    made = type(kind.__name__, (StandIn,), {"__init__": space["__init__"], "_build": staticmethod(build)})
    made.__doc__, made.__module__ = kind.__doc__, __name__
    globals()[kind.__name__] = made  # where pickle looks
    return made


def spectral_embedding(adjacency: Any, **options: Any) -> Any:
    """scikit-learn's function."""
    return lowfold.LaplacianEigenmaps(
        options.get("n_components", 8),
        metric="precomputed_affinity",
        laplacian="random_walk" if options.get("norm_laplacian", True) else "unnormalized",
        solver=here.known(here.SOLVERS, options.get("eigen_solver")),
    ).fit_transform(adjacency)


def spectral_clustering(affinity: Any, **options: Any) -> Any:
    """scikit-learn's function."""
    return lowfold.SpectralClustering(
        **here.picked(options, "n_clusters", "n_init", "assign_labels", "random_state"),
        metric="precomputed_affinity",
        solver=here.known(here.SOLVERS, options.get("eigen_solver")),
    ).fit_predict(affinity)


def smacof(dissimilarities: Any, **options: Any) -> Any:
    """scikit-learn's function."""
    ordinal, init = not options.get("metric", True), options.get("init")
    kind: Any = lowfold.NonmetricMDS if ordinal else lowfold.MetricMDS
    model = kind(
        **here.picked(options, "n_components", "max_iter", "random_state", "n_jobs"),
        metric="precomputed",
        init="random" if init is None else init,
        n_init=options.get("n_init", 1) if init is None else 1,
        tol=max(options.get("eps", 1e-6), here.LEAST),
    ).fit(dissimilarities)
    normed = options.get("normalized_stress", "auto")
    stress = model.normalized_stress_ if normed is True or (normed == "auto" and ordinal) else model.stress_
    return (model.embedding_, stress, model.n_iter_)[: 3 if options.get("return_n_iter") else 2]


def trustworthiness(X: Any, X_embedded: Any, **options: Any) -> float:
    """scikit-learn's function."""
    return float(lowfold.quality.trustworthiness(X, X_embedded, **{"n_neighbors": 5, **options}))


CLASSES: dict[str, Callable[[Given], Any]] = {
    "Isomap": here.isomap,
    "LocallyLinearEmbedding": here.lle,
    "SpectralEmbedding": here.eigenmaps,
    "SpectralClustering": here.clustering,
    "MDS": here.mds,
    "ClassicalMDS": here.classical,
    "TSNE": here.tsne,
    "PCA": here.pca,
    "IncrementalPCA": here.streamed,
    "TruncatedSVD": here.truncated,
    "KernelPCA": here.kernel_pca,
    "NMF": here.nmf,
    "FastICA": here.ica,
    "SparsePCA": here.sparse_pca,
    "GaussianRandomProjection": here.projection,
    "SparseRandomProjection": here.projection,
}
FUNCTIONS = (spectral_embedding, spectral_clustering, smacof, trustworthiness)
PLACES = ("manifold", "manifold._mds", "decomposition", "random_projection", "cluster")


class Instead:
    """A plugin of pytest: test modules see lowfold where they import; lowfold itself still sees scikit-learn."""

    def __init__(self) -> None:
        self.causes: Counter[str] = Counter()
        self.files: Counter[tuple[str, str]] = Counter()
        self.modules = {place: import_module(f"sklearn.{place}") for place in PLACES}
        self.true = {(place, name): value for place, name, value in self._replaced()}
        made = {name: stand_in(value, CLASSES[name]) for (_, name), value in self.true.items() if name in CLASSES}
        self.ours = {**made, **{f.__name__: f for f in FUNCTIONS}}

    def _replaced(self) -> Iterator[tuple[str, str, Any]]:
        names = (*CLASSES, *(f.__name__ for f in FUNCTIONS))
        for place, module in self.modules.items():
            yield from ((place, name, getattr(module, name)) for name in names if hasattr(module, name))

    def _put(self, values: Callable[[str, str], Any]) -> None:
        for place, name in self.true:
            setattr(self.modules[place], name, values(place, name))

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Any:
        """Test modules are imported here, and only here the names stand for lowfold's."""
        self._put(lambda place, name: self.ours[name])
        try:
            return (yield)
        finally:
            copies = {id(module): self._copy(module) for module in self.modules.values()}
            self._put(lambda place, name: self.true[place, name])
            for module in list(sys.modules.values()):
                if getattr(module, "__name__", "").rpartition(".")[2].startswith("test_"):
                    self._see(module, copies)

    @staticmethod
    def _copy(module: ModuleType) -> ModuleType:
        copy = ModuleType(module.__name__)
        copy.__dict__.update(vars(module))
        return copy

    @staticmethod
    def _see(module: ModuleType, copies: dict[int, ModuleType]) -> None:
        for name, value in list(vars(module).items()):
            if id(value) in copies:
                setattr(module, name, copies[id(value)])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count by file, and failures by their words without numbers."""
        name = Path(report.location[0]).name
        if report.when == "call" or report.outcome != "passed":
            self.files[name, report.outcome] += 1
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            words = str(crash.message if crash else report.longrepr).strip().splitlines()[0]
            test = report.location[2].partition("[")[0]
            self.causes[f"{name} {test}: {re.sub(r'[0-9.e+-]*[0-9]', '#', words)[:160]}"] += 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The causes, most first, and the counts."""
        for cause, count in self.causes.most_common():
            terminalreporter.write_line(f"{count:5d}  {cause}")
        for name in sorted({name for name, _ in self.files}):
            counts = {outcome: n for (file, outcome), n in sorted(self.files.items()) if file == name}
            terminalreporter.write_line(f"{name}: {counts}")


def main() -> int:
    """Run the named test files, or all."""
    names = sys.argv[1:]
    cut = names.index("--") if "--" in names else len(names)
    root = Path(sklearn.__file__).parent
    chosen = [root / file for file in FILES if not names[:cut] or Path(file).name in names[:cut]]
    options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore", "-r", "N", "-n", "0", *names[cut + 1 :]]
    return int(pytest.main([f"--rootdir={root}", "-c", "/dev/null", *options, *map(str, chosen)], plugins=[Instead()]))


if __name__ == "__main__":
    sys.exit(main())
