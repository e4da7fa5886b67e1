"""What a fit leaves behind of itself, and who may watch it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import DisconnectedWarning, Stopped
from lowfold._core.run import Run
from lowfold._core.watch import History, bar

X = np.random.default_rng(0).normal(size=(60, 3))


def test_the_history_has_stages_in_order_with_their_seconds() -> None:
    model = lowfold.Isomap(2).fit(X)
    names = [name for name, _ in model._history["stages"]]
    assert names[:2] == ["neighbours", "geodesics"]
    assert any(name.startswith("eigenvectors") for name in names)
    assert 0 < sum(took for _, took in model._history["stages"]) <= model._history["seconds"]
    assert model._history["warnings"] == []


def test_warnings_are_remembered_and_still_given() -> None:
    two = np.vstack([X, X + 100])
    with pytest.warns(DisconnectedWarning, match="2 components"):
        model = lowfold.Isomap(2, n_neighbors=5).fit(two)
    assert len(model._history["warnings"]) == 1
    assert "2 components" in model._history["warnings"][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(model.fit(two)._history["warnings"]) == 1


def test_a_notebook_shows_what_happened() -> None:
    model = lowfold.Isomap(2)
    assert "what happened" not in model._repr_html_()
    model.fit(X)
    html = model._repr_mimebundle_()["text/html"]
    for word in ("what happened", "geodesics", "residual", "solver", "60 points in 2 dimensions"):
        assert word in html
    assert model._repr_html_() == html or "what happened" in model._repr_html_()


def test_stages_tell_every_watch_and_end_in_order() -> None:
    history = History()
    run = Run(watch=(history, history))
    heard = []
    with run.stage("outer") as progress:
        progress(0.5)
        with run.stage("inner"):
            heard.append(len(history.stages))
    assert [name for name, _ in history.stages] == ["inner", "inner", "outer", "outer"]
    assert heard == [0]


def test_a_bar_goes_to_standard_error_and_one_inside_another_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("first") as progress:
        progress(0.5)
        with bar("second") as inner:
            inner(1.0)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "first" in shown.err
    assert "second" not in shown.err
    lowfold.Isomap(2, verbose=True).fit(X)
    assert "geodesics" in capsys.readouterr().err


class Recorder:
    """A callback in scikit-learn's protocol."""

    max_propagation_depth = None

    def __init__(self, stop_at: str = "") -> None:
        self.stop_at = stop_at
        self.begun: list[str] = []
        self.down = 0

    def setup(self, estimator: object, context: object) -> None:
        pass

    def teardown(self, estimator: object, context: object) -> None:
        self.down += 1

    def on_fit_task_begin(self, estimator: object, context: object, **_: object) -> None:
        self.begun.append(context.task_name)  # type: ignore[attr-defined]

    def on_fit_task_end(self, estimator: object, context: object, **_: object) -> bool:
        return context.task_name == self.stop_at  # type: ignore[attr-defined]


@pytest.mark.extra("sklearn.callback")
@pytest.mark.parametrize("name", ["Isomap", "PCA", "LTSA", "MetricMDS", "SymmetricSNE", "KernelPCA"])
def test_callbacks_hear_the_stages_of_every_kind_of_method(name: str) -> None:
    seen = Recorder()
    model = getattr(lowfold, name)(2).set_callbacks(seen).fit(X)
    stages = [stage for stage, _ in model._history["stages"]]
    assert seen.begun[0] == "fit"
    assert set(stages) <= set(seen.begun)
    assert seen.down == 1


STOPPED = {
    "Isomap": "geodesics",
    "LTSA": "local tangents",
    "MetricMDS": "stress",
    "MVU": "unfolding",
    "NMF": "nonnegative parts",
    "SparsePCA": "sparse components",
    "TSNE": "descent",
}


@pytest.mark.extra("sklearn.callback")
@pytest.mark.parametrize("name", STOPPED)
def test_a_callback_stops_a_fit_and_leaves_it_unfitted(name: str) -> None:
    seen = Recorder(stop_at=STOPPED[name])
    model = getattr(lowfold, name)(2).set_callbacks(seen)
    with pytest.raises(Stopped, match=f"'{STOPPED[name]}' of {name}"):
        model.fit(np.abs(X))
    assert not hasattr(model, "embedding_")
    assert seen.down == 1
    assert model.set_callbacks().fit(np.abs(X)).embedding_.shape == (60, 2)


@pytest.mark.extra("sklearn.callback")
@pytest.mark.parametrize("given", [{"beta_loss": "kullback-leibler"}, {"alpha_W": 0.01}])
def test_every_loss_of_nmf_can_be_stopped(given: dict[str, Any]) -> None:
    model = lowfold.NMF(2, **given).set_callbacks(Recorder(stop_at="nonnegative parts"))
    with pytest.raises(Stopped, match="'nonnegative parts' of NMF"):
        model.fit(np.abs(X))
    assert not hasattr(model, "embedding_")


@pytest.mark.extra("sklearn.callback")
def test_callbacks_reach_a_method_inside_a_pipeline() -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    seen = Recorder()
    make_pipeline(StandardScaler(), lowfold.Isomap(2)).set_callbacks(seen).fit(X)
    assert {"neighbours", "geodesics"} <= set(seen.begun)
