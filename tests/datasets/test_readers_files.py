"""Arrays, Parquet, images, IDX, ENVI cubes and documents."""

from __future__ import annotations

import gzip
import struct
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from lowfold._core.errors import FileProblem, InvalidInput
from lowfold.datasets import unvectorize
from lowfold.datasets._readers import (
    read,
    read_envi,
    read_idx,
    read_images,
    read_mat,
    read_npy,
    read_npz,
    read_parquet,
    term_frequencies,
)

# arrays


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f8", "u1", "<i2", "<i8", "?"])
def test_npy_keeps_single_and_widens_the_rest(tmp_path, dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(5, 3)).astype(dtype)
    np.save(tmp_path / "x.npy", X)
    t = read(tmp_path / "x.npy")
    assert t.X.dtype == (np.float64 if dtype in ("<f8", ">f8", "<i8") else np.float32)
    np.testing.assert_array_equal(t.X, X)
    assert t.X.flags.writeable
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    np.testing.assert_array_equal(read(tmp_path / "f.npy", points="columns").X, X.T)


def test_npy_of_images_and_vectors(tmp_path):
    images = np.arange(24.0).reshape(2, 3, 4)
    np.save(tmp_path / "i.npy", images)
    t = read_npy(tmp_path / "i.npy")
    assert t.point_shape == (3, 4)
    np.testing.assert_array_equal(t.X.reshape(2, 3, 4), images)
    assert "2 points of 12 values" in t.notices[0]
    np.save(tmp_path / "v.npy", np.arange(3.0))
    assert read_npy(tmp_path / "v.npy").X.shape == (3, 1)


def npy_header(shape, descr="<f8"):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"hello", "not a readable npy"),
        (npy_header((10**9, 10**9)), "promises shape"),
        (npy_header((-1, 4)) + bytes(64), "promises shape"),
        (npy_header((4, 4)) + bytes(50), "promises shape"),
        (npy_header((0, 4)), "no points"),
        (npy_header((1,), "|O") + bytes(8), "Python objects"),
        (npy_header((1,), "<c16") + bytes(16), "not real numbers"),
        (npy_header((1,), "<U4") + bytes(16), "not real numbers"),
    ],
)
def test_bad_npy(tmp_path, content, words):
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(FileProblem, match=words):
        read_npy(tmp_path / "x.npy")


def test_npz_chooses_x_and_keeps_labels(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(6, 2)), np.array(list("aabbcc"))
    np.savez_compressed(tmp_path / "a.npz", X=X, y=y, other=np.ones((2, 2)), objects=np.array([None], dtype=object))
    t = read(tmp_path / "a.npz")
    np.testing.assert_array_equal(t.X, X)
    assert {name: values.tolist() for name, values in t.labels.items()} == {"y": list("aabbcc")}
    assert read_npz(tmp_path / "a.npz", variable="other").X.shape == (2, 2)
    with pytest.raises(FileProblem, match="no array of numbers 'z'; there are X, y"):
        read_npz(tmp_path / "a.npz", variable="z")
    np.savez(tmp_path / "b.npz", p=X, q=X)
    with pytest.raises(FileProblem, match="several arrays: p, q"):
        read_npz(tmp_path / "b.npz")
    with zipfile.ZipFile(tmp_path / "c.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy_header((10**9, 10**9)))
    with pytest.raises(FileProblem, match="promises shape"):
        read_npz(tmp_path / "c.npz")
    (tmp_path / "d.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-30])
    with pytest.raises(FileProblem, match="not a readable npz"):
        read_npz(tmp_path / "d.npz")


@pytest.mark.parametrize("compressed", [False, True])
def test_mat(tmp_path, compressed):
    X = np.random.default_rng(2).normal(size=(7, 3))
    path = tmp_path / "m.mat"
    scipy.io.savemat(path, {"X": X, "Y": np.arange(7), "words": "text"}, do_compression=compressed)
    t = read(path)
    np.testing.assert_array_equal(t.X, X)
    assert t.labels["Y"].tolist() == list(range(7))
    np.testing.assert_array_equal(read_mat(path, points="columns").X, X.T)
    with pytest.raises(FileProblem, match="'words' is a char"):
        read_mat(path, variable="words")
    scipy.io.savemat(path, {"only": scipy.sparse.csc_matrix(X)})
    np.testing.assert_array_equal(read_mat(path).X, X)
    scipy.io.savemat(path, {"cells": np.array([X, "a"], dtype=object), "s": {"f": 1}})
    with pytest.raises(FileProblem, match="no array of numbers"):
        read_mat(path)
    with pytest.raises(FileProblem, match="'cells' is a cell"):
        read_mat(path, variable="cells")
    scipy.io.savemat(path, {"X": X})
    with pytest.raises(InvalidInput, match="'rows' or 'columns'"):
        read_mat(path, points="both")


@pytest.mark.extra("h5py")
@pytest.mark.parametrize("start", [b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n"])
def test_bad_mat_of_version_7_3(tmp_path, start):
    path = tmp_path / "m.mat"
    path.write_bytes(start + bytes(200))
    with pytest.raises(FileProblem, match="not a readable MATLAB file"):
        read_mat(path)


def test_bad_mat(tmp_path):
    path = tmp_path / "m.mat"
    path.write_bytes(struct.pack("<5i", 0, 2, 2, 0, 2) + b"X\0" + bytes(32))  # format 4
    with pytest.raises(FileProblem, match=r"-v7"):
        read_mat(path)
    scipy.io.savemat(path, {"X": np.ones((3, 4))})
    good = path.read_bytes()
    shape = good.index(struct.pack("<2i", 3, 4))
    for sides, words in (((2**31 - 1, 2**31 - 1), "memory budget"), ((-3, 4), "damaged"), ((3, 5), "12 values for")):
        path.write_bytes(good[:shape] + struct.pack("<2i", *sides) + good[shape + 8 :])
        with pytest.raises(FileProblem, match=words):
            read_mat(path)
    path.write_bytes(good[:-20])
    with pytest.raises(FileProblem, match="truncated"):
        read_mat(path)


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i1", "u2", "i2", "u4", "i4", "i8", "u8", "?"])
@pytest.mark.parametrize("compressed", [False, True])
def test_mat_agrees_with_scipy(tmp_path, dtype, compressed):
    path = tmp_path / "m.mat"
    values = np.random.default_rng(9).integers(0, 100, size=(5, 3, 2)).astype(dtype)
    scipy.io.savemat(path, {"a_long_name_of_a_variable": values}, do_compression=compressed)
    theirs = scipy.io.loadmat(path)["a_long_name_of_a_variable"]
    np.testing.assert_array_equal(read_mat(path).X, theirs.reshape(5, 6))


def test_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    numbers = {"id": [4, 8, 15], "a": pa.array([1.5, None, 2.5]), "n": [1, 2, 4]}
    words = {"w": ["x", None, "z"], "b": [True, False, True]}
    pq.write_table(pa.table(numbers | words), path)
    with pytest.raises(FileProblem, match=r"1 values are missing, the first in row 2, column 'a'"):
        read(path)
    t = read_parquet(path, missing="keep", label="n")
    assert t.columns == ["a"]
    assert t.ids is not None
    assert t.ids.tolist() == [4, 8, 15]
    assert t.labels["n"].tolist() == [1, 2, 4]
    assert t.labels["w"].tolist() == ["x", "", "z"]
    assert t.labels["b"].tolist() == ["True", "False", "True"]
    pq.write_table(pa.table({"a": [1.0], "l": [[{"k": 1}]]}), path)
    with pytest.raises(FileProblem, match="column 'l' holds list"):
        read_parquet(path)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(FileProblem, match="not a readable Parquet"):
        read_parquet(path)


# images


@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("color", [False, True])
def test_images_come_back_from_their_rows(tmp_path, order, color):
    from PIL import Image

    shape = (4, 6, 3) if color else (4, 6)
    images = np.random.default_rng(3).integers(0, 256, size=(11, *shape), dtype=np.uint8)
    for i, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / f"face{i}.png")
    (tmp_path / "readme.md").write_text("not an image")
    (tmp_path / "._face0.png").write_text("what some systems leave behind")
    t = read(tmp_path, order=order, color=color)
    assert t.X.dtype == np.float32
    assert t.point_shape == shape
    assert t.labels["file"].tolist() == [f"face{i}.png" for i in range(11)]
    np.testing.assert_array_equal(unvectorize(t.X, shape, order), images)
    assert "folder" not in t.labels


def test_images_of_folders_sizes_and_bad_ones(tmp_path):
    from PIL import Image

    for person, side in (("ann", 4), ("bob", 5)):
        (tmp_path / person).mkdir()
        Image.fromarray(np.full((side, 4), 7, dtype=np.uint8)).save(tmp_path / person / "1.png")
    with pytest.raises(FileProblem, match=r"1\.png: is \(5, 4\), the images before it are \(4, 4\)"):
        read_images(tmp_path)
    t = read_images(tmp_path, size=(2, 3))
    assert t.X.shape == (2, 6)
    assert read_images(tmp_path, size=3).X.shape == (2, 9)
    for size in (0, (2, 3, 4), (2.5, 3), "big"):
        with pytest.raises(InvalidInput, match=r"size must be \(height, width\), two whole numbers"):
            read_images(tmp_path, size=size)
    assert t.labels["folder"].tolist() == ["ann", "bob"]
    (tmp_path / "cut.png").write_bytes((tmp_path / "ann" / "1.png").read_bytes()[:30])
    with pytest.raises(FileProblem, match=r"cut\.png: not a readable image"):
        read_images(tmp_path, size=(2, 3))
    with pytest.raises(FileProblem, match="no such folder"):
        read_images(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileProblem, match="no images"):
        read_images(tmp_path / "empty")
    with pytest.raises(InvalidInput, match="'row' or 'column'"):
        read_images(tmp_path, order="C")


# digits


def idx(array, code):
    shape = array.shape
    return bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + array.tobytes()


@pytest.mark.parametrize("packed", [False, True])
def test_idx(tmp_path, packed):
    rng = np.random.default_rng(4)
    images = rng.integers(0, 256, size=(5, 3, 2), dtype=np.uint8)
    content = idx(images, 8)
    path = tmp_path / ("a-idx3-ubyte.gz" if packed else "a-idx3-ubyte")
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    (tmp_path / "l.idx").write_bytes(idx(np.arange(5, dtype=np.uint8), 8))
    t = read(path, labels=tmp_path / "l.idx")
    assert t.point_shape == (3, 2)
    np.testing.assert_array_equal(t.X, images.reshape(5, 6))
    assert t.labels["label"].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(read(path, invert=True).X, 255 - images.reshape(5, 6).astype(float))
    np.testing.assert_array_equal(read(path, binarize=128).X, images.reshape(5, 6) >= 128)
    ink = read(path, binarize=128, invert=True).X
    assert np.count_nonzero(ink) == np.count_nonzero(images < 128)
    (tmp_path / "l.idx").write_bytes(idx(np.arange(4, dtype=np.uint8), 8))
    with pytest.raises(FileProblem, match="one label for each of 5"):
        read(path, labels=tmp_path / "l.idx")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\0\0\x08", "not an IDX"),
        (b"\0\0\x07\1" + bytes(8), "not an IDX"),
        (b"\0\0\x08\3" + bytes(8), "truncated inside its header"),
        (b"\0\0\x08\3" + struct.pack(">3I", 2**31, 2**31, 2**31), "promises shape"),
        (b"\0\0\x08\1" + struct.pack(">I", 4) + bytes(3), "promises"),
        (b"\0\0\x08\1" + struct.pack(">I", 4) + bytes(5), "has more"),
        (b"\0\0\x08\1" + struct.pack(">I", 0), "no points"),
        (b"\0\0\x08\0\1", "no points"),
        (gzip.compress(b"\0\0\x08\1" + struct.pack(">I", 40) + bytes(40), mtime=0)[:-9], "not a readable IDX|promises"),
    ],
)
def test_bad_idx(tmp_path, content, words):
    (tmp_path / "x.idx").write_bytes(content)
    with pytest.raises(FileProblem, match=words):
        read_idx(tmp_path / "x.idx")


# cubes


def write_cube(folder, cube, interleave, dtype, byte_order=0, offset=0, **more):
    header = {
        "samples": cube.shape[1],
        "lines": cube.shape[0],
        "bands": cube.shape[2],
        "header offset": offset,
        "data type": {"u1": 1, "i2": 2, "f4": 4, "f8": 5, "u2": 12}[dtype],
        "interleave": interleave,
        "byte order": byte_order,
    } | more
    lines = ["ENVI", "description = {a cube", "  of nothing}", "; a comment"]
    (folder / "cube.hdr").write_text("\n".join(lines + [f"{k} = {v}" for k, v in header.items()]))
    axes = {"bsq": (2, 0, 1), "bil": (0, 2, 1), "bip": (0, 1, 2)}[interleave]
    data = cube.transpose(axes).astype("<>"[byte_order] + dtype).tobytes()
    (folder / "cube.dat").write_bytes(bytes(offset) + data)


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize(("dtype", "byte_order", "offset"), [("u2", 0, 0), ("i2", 1, 16), ("f4", 0, 3), ("f8", 1, 0)])
def test_envi_cube_comes_back(tmp_path, interleave, dtype, byte_order, offset):
    cube = np.random.default_rng(5).integers(0, 1000, size=(3, 4, 5)).astype(dtype)
    write_cube(tmp_path, cube, interleave, dtype, byte_order, offset)
    (tmp_path / "cube.wvl").write_text("400.5\n500\n600\n700\n800\n")
    t = read(tmp_path / "cube.hdr")
    assert t.grid_shape == (3, 4)
    assert t.columns == ["400.5", "500", "600", "700", "800"]
    assert t.X.dtype == (np.float64 if dtype == "f8" else np.float32)
    np.testing.assert_array_equal(t.X.reshape(3, 4, 5), cube)


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
def test_envi_agrees_with_the_spectral_package(tmp_path, interleave):
    spectral = pytest.importorskip("spectral")
    cube = np.random.default_rng(6).integers(0, 1000, size=(6, 5, 4)).astype(np.int16)
    spectral.envi.save_image(str(tmp_path / "s.hdr"), cube, interleave=interleave, ext=".img", dtype=np.int16)
    t = read_envi(tmp_path / "s.hdr")
    theirs = np.asarray(spectral.envi.open(str(tmp_path / "s.hdr")).load())
    np.testing.assert_array_equal(t.X.reshape(6, 5, 4), theirs)


def test_envi_wavelengths_and_ignored_cells(tmp_path):
    cube = np.ones((2, 2, 3))
    cube[0, 0, 1] = -9
    write_cube(tmp_path, cube, "bip", "i2", **{"wavelength": "{1.5,\n 2.5, 3.5}", "data ignore value": -9})
    t = read_envi(tmp_path / "cube.hdr")
    assert t.columns == ["1.5", "2.5", "3.5"]
    assert t.notices == [
        "1 of 4 cells hold the header's 'data ignore value' -9 and are NaN; missing='drop' leaves them out"
    ]
    assert np.isnan(t.X[0, 1])
    assert np.isfinite(t.X).sum() == 11
    kept = read(tmp_path / "cube.hdr", missing="drop")
    assert kept.ids.tolist() == [2, 3, 4]
    assert kept.X.shape == (3, 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bands": 10**17}, "promises .* bytes"),
        ({"bands": 10**30}, "whole number"),
        ({"bands": -3}, "whole number"),
        ({"lines": "many"}, "'lines' must be a whole number"),
        ({"data type": 6}, "data type 6"),
        ({"byte order": 2}, "byte order"),
        ({"header offset": 10**6}, "promises"),
        ({"wavelength": "{1, 2"}, "never closed"),
    ],
)
def test_bad_envi(tmp_path, change, words):
    write_cube(tmp_path, np.ones((2, 2, 3)), "bsq", "i2", **change)
    with pytest.raises(FileProblem, match=words):
        read_envi(tmp_path / "cube.hdr")


def test_envi_with_an_unknown_interleave(tmp_path):
    write_cube(tmp_path, np.ones((2, 2, 3)), "bsq", "i2")
    header = tmp_path / "cube.hdr"
    header.write_text(header.read_text().replace("bsq", "bxx"))
    with pytest.raises(FileProblem, match="bsq, bil or bip"):
        read_envi(header)


def test_envi_without_header_or_data(tmp_path):
    write_cube(tmp_path, np.ones((2, 2, 3)), "bsq", "i2")
    (tmp_path / "cube.dat").unlink()
    with pytest.raises(FileProblem, match="no data file"):
        read_envi(tmp_path / "cube.hdr")
    (tmp_path / "other.hdr").write_text("#?RADIANCE")
    with pytest.raises(FileProblem, match="line 1 must be ENVI"):
        read_envi(tmp_path / "other.hdr")
    (tmp_path / "cube.dat").write_bytes(b"x")
    with pytest.raises(FileProblem, match=r"pass the \.hdr"):
        read_envi(tmp_path / "cube.dat")


# documents


def test_documents_are_unit_vectors_without_stop_words():
    t = term_frequencies(["The cat and the cat", "a dog", "the of and", ""], names=["one", "two", "three", "four"])
    assert t.columns == ["cat", "dog"]
    np.testing.assert_array_equal(t.X, [[1, 0], [0, 1]])
    assert t.labels["document"].tolist() == ["one", "two"]
    assert t.notices == ["2 empty documents were dropped: three, four"]
    counts = term_frequencies(["the the cat"], stop_words=None)
    assert counts.columns == ["cat", "the"]
    np.testing.assert_allclose(counts.X, [[1 / np.sqrt(5), 2 / np.sqrt(5)]])


@pytest.mark.extra("snowballstemmer")
def test_stemming_merges_inflections():
    t = term_frequencies(["run runs running", "walk walked walking"], stem="english")
    assert t.columns == ["run", "walk"]
    np.testing.assert_array_equal(t.X, np.eye(2))
    assert term_frequencies(["abcd abce"], stem=lambda word: word[:3]).columns == ["abc"]
    german = term_frequencies(["laufen läuft gelaufen", "Haus Häuser"], stop_words=None, stem="german")
    assert len(german.columns) < 5
    with pytest.raises(InvalidInput, match="stem must be one of 'arabic'"):
        term_frequencies(["a cat"], stem="latin")


def test_vocabulary_and_most_frequent_terms():
    texts = ["cat cat dog", "dog bird", "cat fish"]
    assert term_frequencies(texts, vocabulary=["fish", "cat"]).columns == ["fish", "cat"]
    assert term_frequencies(texts, max_terms=2).columns == ["cat", "dog"]
    with pytest.raises(FileProblem, match="no document holds"):
        term_frequencies(texts, vocabulary=["zebra"])
    with pytest.raises(FileProblem, match="no terms are left"):
        term_frequencies(["the", "of"])
    with pytest.raises(InvalidInput, match="'english', a list"):
        term_frequencies(texts, stop_words="german")
    with pytest.raises(InvalidInput, match="sequence of texts"):
        term_frequencies("cat")
    with pytest.raises(InvalidInput, match="one entry per document"):
        term_frequencies(texts, names=["a"])


def test_a_folder_of_documents(tmp_path):
    for group, text in (("space", "rocket moon orbit"), ("med", "doctor medicine")):
        (tmp_path / group).mkdir()
        (tmp_path / group / "1.txt").write_text(text)
    (tmp_path / "med" / "2.txt").write_text(" the ")
    t = read(tmp_path)
    assert t.labels["folder"].tolist() == ["med", "space"]
    assert "med/2.txt" in t.notices[0]
    np.testing.assert_allclose(np.linalg.norm(t.X, axis=1), 1)
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    with pytest.raises(FileProblem, match=r"bad\.txt: is not UTF-8"):
        read(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(FileProblem, match=r"neither images nor texts"):
        read(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("g.graphml", r"networkx.read_graphml gives, and networkx.write_edgelist"),
        ("g.gexf", r"networkx.read_gexf gives"),
        ("table.rds", r"write.csv\(table, 'table.csv', row.names=FALSE\) in R"),
        ("table.pkl", r"pandas.read_pickle\(file\).to_parquet"),
        ("sheet.xlsx", "save the sheet as CSV"),
        ("scene.img", "the header beside it, scene.hdr, is the file to name"),
    ],
)
def test_files_of_other_kinds_are_told_with_a_way(tmp_path, name, words):
    (tmp_path / name).write_bytes(b"x")
    if name == "scene.img":
        (tmp_path / "scene.hdr").write_text("ENVI")
    with pytest.raises(FileProblem, match=words):
        read(tmp_path / name)
