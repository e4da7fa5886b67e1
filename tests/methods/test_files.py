"""save and load: bit for bit over the registry, and every bad file refused in one sentence."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.methods.contract_table import CONTRACT, Case

import lowfold
from lowfold._core.errors import FileProblem, InvalidInput, LowfoldWarning
from lowfold.methods.files import CLASSES, TEXT


def case(name: str) -> Case:
    return CONTRACT.get(name, Case({}))


SEVERAL = [entry.name for entry in lowfold.REGISTRY if "points" not in entry.inputs]
NAMES = [entry.name for entry in lowfold.REGISTRY if entry.name not in SEVERAL]


def points(n: int = 60, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u, v = rng.random(n) * 3, rng.random(n)
    return (np.column_stack([np.cos(u), np.sin(u), v, 0.1 * rng.random(n)]) + 2.0).astype(dtype)


def labels(n: int = 60) -> np.ndarray:
    return np.arange(n) % 3


def fitted(name: str, X: np.ndarray, **changes: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        return getattr(lowfold, name)(**{**case(name).params, **changes}).fit(X, labels(len(X)))


def outcome(call: Any) -> Any:
    """The result, or the words of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        try:
            return call()
        except InvalidInput as error:
            return str(error)


def same(a: Any, b: Any) -> bool:
    return a == b if isinstance(a, str) else a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)


def equal(a: Any, b: Any) -> bool:
    """Whether two values hold the same numbers and words, part by part."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if hasattr(a, "__dict__"):
        return equal(vars(a), vars(b))
    return bool(a == b)


@pytest.mark.parametrize("name", SEVERAL)
def test_methods_of_several_matrices_come_back(name: str, tmp_path: Path) -> None:
    D = np.linalg.norm(points(20)[:, None] - points(20)[None], axis=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        model = getattr(lowfold, name)(**case(name).params).fit(np.stack([D, 1.1 * D]))
    lowfold.save(tmp_path / "m", model)
    back = lowfold.load(tmp_path / "m")
    assert vars(back).keys() - {"_history"} == vars(model).keys() - {"_history"}
    assert same(back.embedding_, model.embedding_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_every_method_comes_back_bit_for_bit(name: str, dtype: type, tmp_path: Path) -> None:
    X, new = points(dtype=dtype), points(9, seed=1, dtype=dtype)
    model = fitted(name, X)
    lowfold.save(tmp_path / "model.lowfold", model)
    Y = model.embedding_[:5] * 1.01
    for back in (lowfold.load(tmp_path / "model.lowfold"), pickle.loads(pickle.dumps(model))):
        assert back.get_params().keys() == model.get_params().keys()
        assert vars(back).keys() - {"_history"} == vars(model).keys() - {"_history"}
        assert same(back.embedding_, model.embedding_)
        assert same(outcome(lambda back=back: back.transform(new)), outcome(lambda: model.transform(new)))
        assert same(outcome(lambda back=back: back.inverse_transform(Y)), outcome(lambda: model.inverse_transform(Y)))


def test_every_extension_is_listed() -> None:
    """A class that places or restores points, in any file of lowfold.methods, has its line in CLASSES."""
    folder = Path(lowfold.__file__).parent / "methods"
    found = {
        node.name: ".".join(("lowfold.methods", *path.relative_to(folder).with_suffix("").parts))
        for path in folder.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and not any(ast.unparse(base) in ("Protocol", "ABC") for base in node.bases)
        and any(isinstance(part, ast.FunctionDef) and part.name in ("place", "restore") for part in node.body)
    }
    missing = {name: module for name, module in found.items() if CLASSES.get(name) != module}
    assert not missing, f"add to CLASSES in lowfold/methods/files.py: {missing}"
    assert list(CLASSES) == sorted(CLASSES)


@pytest.mark.parametrize("mode", ["separate", "largest"])
def test_pieces_come_back(mode: str, tmp_path: Path) -> None:
    X = np.concatenate([points(40), points(30, seed=2) + 100, points(2, seed=3) + 300])
    model = fitted("Isomap", X, n_neighbors=4, on_disconnected=mode)
    lowfold.save(tmp_path / "m", model)
    new = np.concatenate([points(5, seed=5), points(5, seed=6) + 100])
    assert same(lowfold.load(tmp_path / "m").transform(new), model.transform(new))


@pytest.mark.parametrize(
    ("metric", "params"),
    [("mahalanobis", None), ("minkowski", {"p": np.inf}), ("cosine", None), ("fourier", {"n_terms": 2})],
)
def test_metrics_come_back(metric: str, params: Any, tmp_path: Path) -> None:
    model = fitted("Isomap", points(), metric=metric, metric_params=params)
    lowfold.save(tmp_path / "m", model)
    new = points(7, seed=4)
    assert same(lowfold.load(tmp_path / "m").transform(new), model.transform(new))


def test_precomputed_and_feature_names(tmp_path: Path) -> None:
    X = points()
    D = np.linalg.norm(X[:, None] - X[None, :], axis=2)
    model = fitted("ClassicalMDS", D, metric="precomputed")
    lowfold.save(tmp_path / "m", model)
    assert same(lowfold.load(tmp_path / "m").transform(D[:4]), model.embedding_[:4])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X / X.std(axis=0), columns=list("abcd"))
    model = lowfold.PCA().fit(frame)
    lowfold.save(tmp_path / "n", model)
    assert lowfold.load(tmp_path / "n").feature_names_in_.tolist() == list("abcd")


def test_same_model_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        lowfold.save(tmp_path / name, fitted("Isomap", points()))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_never_overwrites_unless_told(tmp_path: Path) -> None:
    model = lowfold.PCA().fit(points())
    target = tmp_path / "m"
    target.write_text("precious")
    with pytest.raises(FileProblem, match="exists"):
        lowfold.save(target, model)
    assert target.read_text() == "precious"
    lowfold.save(target, model, overwrite=True)
    assert lowfold.load(target).get_params() == model.get_params()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_devices_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileProblem, match="no ordinary file"):
        lowfold.save(tmp_path / "pipe", lowfold.PCA().fit(points()), overwrite=True)
    assert (tmp_path / "pipe").is_fifo()


def test_a_failed_save_leaves_nothing(tmp_path: Path) -> None:
    model = lowfold.PCA().fit(points())
    model.mean_ = np.array([object()])
    with pytest.raises(InvalidInput, match="mean_ is an array of Python objects"):
        lowfold.save(tmp_path / "m", model)
    with pytest.raises(FileProblem, match="cannot be written"):
        lowfold.save(tmp_path / "no" / "m", lowfold.PCA().fit(points()))
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_data_is_refused_in_words(tmp_path: Path) -> None:
    X = points()
    near = fitted("Isomap", X, metric=lambda x, y: float(np.abs(x - y).sum()))
    with pytest.raises(InvalidInput, match=r"metric is a function.*pickle"):
        lowfold.save(tmp_path / "m", near)
    with pytest.raises(InvalidInput, match="own methods"):
        lowfold.save(tmp_path / "m", object())
    with pytest.raises(InvalidInput, match="call fit first"):
        lowfold.save(tmp_path / "m", lowfold.PCA())
    model = lowfold.PCA().fit(X)
    model.random_state = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="random generator"):
        lowfold.save(tmp_path / "m", model)

    class Mine(lowfold.PCA):
        pass

    with pytest.raises(InvalidInput, match="own methods"):
        lowfold.save(tmp_path / "m", Mine().fit(X))


# Bad files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    lowfold.save(tmp_path / "good", fitted("Isomap", points(), n_neighbors=5))
    return tmp_path / "good"


def rewritten(good: Path, change: Any = None, arrays: dict[str, bytes] | None = None, **options: Any) -> Path:
    """The file again, with its text passed through `change` and some members replaced."""
    bad = good.with_name("bad")
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(bad, "w", **options) as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == TEXT and change is not None:
                content = json.loads(data)
                changed = change(content)
                data = json.dumps(content if changed is None else changed).encode()
            new.writestr(info.filename, (arrays or {}).get(info.filename, data))
    return bad


def header(shape: str, descr: str = "<f8") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def put(*keys: Any, value: Any) -> Any:
    def change(content: Any) -> None:
        node = content
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("format", value=99), "newer format"),
        (put("format", value="x"), "lacks the format"),
        (put("class", value="os.system"), "os.system"),
        (put("class", value=["PCA"]), "PCA"),
        (put("fitted", "_extend", "object", value="Popen"), "Popen"),
        (put("fitted", "_extend", "object", value=["Popen"]), "."),
        (put("fitted", "_extend", value={"eval": "1+1"}), "does not know"),
        (put("fitted", "transform", value=1), "no fitted attribute"),
        (put("fitted", "limits", value=1), "no fitted attribute"),
        (put("fitted", "__class__", value=1), "no fitted attribute"),
        (put("fitted", "_extend", value=None), "do not belong together"),
        (put("fitted", "_trained", value=3), "do not belong together"),
        (put("parameters", "colour", value=1), "no parameter 'colour'"),
        (put("parameters", "n_components", value=-1), "n_components"),
        (put("fitted", "embedding_", value={"array": 10**9}), "no item"),
        (put("fitted", "embedding_", value={"array": "../x"}), "where a number should stand"),
        (put("fitted", "_trained", "fields", "radius", value={"tuple": 3}), "not a readable model"),
        (put("fitted", "_trained", "fields", "extra", value=3), "not a readable model"),
        (lambda content: [1, 2], "lacks"),
        (lambda content: {}, "lacks"),
    ],
)
def test_hostile_text(saved: Path, change: Any, words: str) -> None:
    with pytest.raises(FileProblem, match=words) as caught:
        lowfold.load(rewritten(saved, change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        header("(1000000000, 1000000000)"),
        header("(-3, 2)"),
        header("(3, 2)"),
        header("(2,)", "|O"),
        b"",
        b"garbage",
        header("(2,)") + b"\0" * 16,
    ],
    ids=["huge", "negative", "missing bytes", "objects", "empty", "garbage", "other size"],
)
def test_hostile_arrays(saved: Path, data: bytes) -> None:
    with zipfile.ZipFile(saved) as archive:
        content = json.loads(archive.read(TEXT))
    number = content["fitted"]["_trained"]["fields"]["coordinates"]["array"]
    with pytest.raises(FileProblem):
        lowfold.load(rewritten(saved, arrays={f"{number}.npy": data}))


def test_an_empty_matrix_of_components_is_refused(tmp_path: Path) -> None:
    lowfold.save(tmp_path / "good", fitted("NMF", points()))
    with zipfile.ZipFile(tmp_path / "good") as archive:
        number = json.loads(archive.read(TEXT))["fitted"]["_extend"]["fields"]["H"]["array"]
    with pytest.raises(FileProblem, match="must be a matrix with entries"):
        lowfold.load(rewritten(tmp_path / "good", arrays={f"{number}.npy": header("(0, 4)")}))


def test_a_graph_that_points_outside_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        number = json.loads(archive.read(TEXT))["fitted"]["graph_"]["fields"]["indices"]["array"]
        with archive.open(f"{number}.npy") as stream:
            indices = np.lib.format.read_array(stream)
    indices = indices.copy()
    indices[0] = 10**6
    with (saved.parent / "x.npy").open("wb") as stream:
        np.save(stream, indices)
    with pytest.raises(FileProblem, match="indices must lie in"):
        lowfold.load(rewritten(saved, arrays={f"{number}.npy": (saved.parent / "x.npy").read_bytes()}))


def test_packed_members_are_refused(saved: Path) -> None:
    with pytest.raises(FileProblem, match="packed"):
        lowfold.load(rewritten(saved, compression=zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files(saved: Path, seed: int) -> None:
    """Cut short or with flipped bytes: the model as it was, or one sentence; never another exception."""
    rng = np.random.default_rng(seed)
    data, model = saved.read_bytes(), lowfold.load(saved)
    bad = saved.with_name("bad")
    read = 0
    for _ in range(40):
        if rng.random() < 0.3:
            changed = data[: rng.integers(0, len(data))]
        else:
            array = bytearray(data)
            for place in rng.integers(0, len(data), size=rng.integers(1, 6)):
                array[place] = rng.integers(0, 256)
            changed = bytes(array)
        bad.write_bytes(changed)
        with contextlib.suppress(FileProblem):
            back = lowfold.load(bad)
            assert equal(vars(back), vars(model))
            read += 1
    assert read < 40


def test_deep_nesting_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved.with_name("bad"), "w") as archive:
        archive.writestr(TEXT, '{"list":[' * 100_000)
    with pytest.raises(FileProblem):
        lowfold.load(saved.with_name("bad"))


@pytest.mark.parametrize("data", [b"", b"x1,x2\n1,2\n", b"PK\x03\x04"])
def test_foreign_files(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(FileProblem):
        lowfold.load(tmp_path / "f")
    with pytest.raises(FileProblem, match="no such file"):
        lowfold.load(tmp_path / "missing")
    with pytest.raises(FileProblem, match="folder"):
        lowfold.load(tmp_path)


def test_a_streamed_model_has_no_embedding_and_is_saved_all_the_same(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 6))
    model = lowfold.PCA(2).fit_blocks([X[:100], X[100:]])
    lowfold.save(tmp_path / "m.lowfold", model)
    assert np.array_equal(lowfold.load(tmp_path / "m.lowfold").transform(X), model.transform(X))


def test_a_model_of_landmarks_comes_back(tmp_path: Path) -> None:
    """Its graph is that of the landmarks, not of all points."""
    X, new = points(60), points(9, seed=1)
    model = lowfold.DiffusionMaps(2, landmarks=30, n_neighbors=8).fit(X)
    lowfold.save(tmp_path / "model.lowfold", model)
    back = lowfold.load(tmp_path / "model.lowfold")
    assert back.graph_.n == 30
    assert same(back.transform(new), model.transform(new))


@pytest.mark.parametrize(
    ("name", "options"), [("LaplacianEigenmaps", {"select": "independent"}), ("LTSA", {"landmarks": 40})]
)
def test_parts_inside_parts_come_back(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    model, new = fitted(name, points(80), **options), points(5, seed=1)
    lowfold.save(tmp_path / "m", model)
    assert same(lowfold.load(tmp_path / "m").transform(new), model.transform(new))


def test_fields_of_any_order_of_memory_have_the_same_bits(tmp_path: Path) -> None:
    """A sum over fields followed the order in memory, which a file does not keep."""
    rng = np.random.default_rng(5000)
    X, new = rng.integers(0, 100, (2, 30, 6)).astype(np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowfold.VectorDiffusionMaps(2).fit(X)
        lowfold.save(tmp_path / "model.lowfold", model)
        assert np.array_equal(lowfold.load(tmp_path / "model.lowfold").transform(new), model.transform(new))
