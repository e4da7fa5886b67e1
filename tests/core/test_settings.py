"""Settings, the memory budget, parameter limits, seeds and optional packages."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lowfold._core.config import config_context, get_config, parse_bytes, set_config
from lowfold._core.errors import InvalidInput, LowfoldError, MemoryBudgetExceeded, MissingExtra
from lowfold._core.extras import load_extra
from lowfold._core.limits import (
    Choice,
    Flag,
    Function,
    Int,
    IntArray,
    Jobs,
    Null,
    Real,
    RealArray,
    Seed,
    Table,
    check_limits,
)
from lowfold._core.memory import fits, pretty_bytes, require
from lowfold._core.random import generator


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (2.5e9, 2_500_000_000),
        (np.int64(7), 7),
        (np.float32(1024), 1024),
        ("100", 100),
        ("2e9", 2_000_000_000),
        ("8GB", 8_000_000_000),
        ("8 gb", 8_000_000_000),
        (" 512 MiB ", 512 * 2**20),
        ("1.5k", 1500),
        (".5 GiB", 2**29),
        ("3.T", 3 * 10**12),
        ("7B", 7),
        (2**63 + 1, 2**63 + 1),
    ],
)
def test_parse_bytes_reads(value: object, expected: int) -> None:
    assert parse_bytes(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        "0",
        "-1GB",
        "",
        ".",
        "1.2.3GB",
        "GB",
        "8XB",
        "8 G B",
        "nan",
        "inf",
        "1e400",
        "0.1",
        float("nan"),
        None,
        True,
        [8],
    ],
)
def test_parse_bytes_refuses_in_words(value: object) -> None:
    with pytest.raises(InvalidInput, match="memory must be a positive number of bytes") as caught:
        parse_bytes(value)
    assert repr(value) in str(caught.value)


def test_config_context_returns_to_the_former_budget_even_after_an_error() -> None:
    before = get_config()
    with config_context(memory="1MB") as inside:
        assert inside.memory == 10**6 == get_config().memory
        with config_context(memory="2MB"):
            assert get_config().memory == 2 * 10**6
        assert get_config().memory == 10**6
    with pytest.raises(RuntimeError), config_context(memory=5):
        raise RuntimeError
    assert get_config() is before
    assert set_config() is before
    with pytest.raises(InvalidInput):
        set_config(memory="much")
    assert get_config() is before


def test_require_says_what_how_much_and_the_way_out() -> None:
    with config_context(memory=1000):
        assert fits(1000)
        assert not fits(1001)
        assert not fits(501, share=0.5)
        require(1000, "a thing", "do less")
        with pytest.raises(
            MemoryBudgetExceeded, match=re.escape("a thing needs 2.0 kB, the memory budget is 1.0 kB; do less")
        ):
            require(2000, "a thing", "do less")
    assert issubclass(MemoryBudgetExceeded, ValueError)
    assert issubclass(MemoryBudgetExceeded, MemoryError)


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 B"), (999, "999 B"), (1234567, "1.2 MB"), (5e9, "5.0 GB"), (2e12, "2.0 TB"), (5e15, "5000.0 TB")],
)
def test_pretty_bytes(n: float, words: str) -> None:
    assert pretty_bytes(n) == words


ALLOWED = [
    (Int(1), 1, "an int of at least 1"),
    (Int(1, 3), np.int32(3), "an int from 1 to 3"),
    (Real(0, open_low=True), 1e-300, "a number above 0"),
    (Real(0, 1), np.float32(1), "a number of at least 0 and at most 1"),
    (Real(), -3, "a number"),
    (Choice(("a", "b")), "b", "'a' or 'b'"),
    (Null("all"), None, "None (all)"),
    (Flag(), np.True_, "True or False"),
    (Function("f(x)"), len, "a callable f(x)"),
    (IntArray(2), [2, 3], "an array with one int of at least 2 per point"),
    (RealArray(), np.ones((2, 2)), "an array of finite numbers"),
    (Table(), {}, "a dict"),
    (Seed(), 0, "an int of at least 0 or a numpy Generator or RandomState"),
    (Seed(), np.random.default_rng(0), "an int of at least 0 or a numpy Generator or RandomState"),
    (Jobs(), -1, "an int that is not 0"),
]


@pytest.mark.parametrize(("limit", "value", "words"), ALLOWED)
def test_limits_allow_and_say_themselves(limit: Int, value: object, words: str) -> None:
    assert limit.allows(value)
    assert limit.words() == words


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        (Int(1), 0),
        (Int(1, 3), 4),
        (Int(0), True),
        (Int(0), np.True_),
        (Int(0), 1.0),
        (Int(0), "1"),
        (Real(0, open_low=True), 0.0),
        (Real(0, 1, open_high=True), 1.0),
        (Real(), float("nan")),
        (Real(), float("inf")),
        (Real(), True),
        (Real(), 1j),
        (Choice(("a",)), "A"),
        (Choice(("a",)), ["a"]),
        (Null(), 0),
        (Flag(), 1),
        (Function(), "len"),
        (IntArray(1), [0, 1]),
        (IntArray(1), [1.0]),
        (IntArray(1), []),
        (IntArray(1), [[1, 2]]),
        (IntArray(1), [[1], [1, 2]]),
        (IntArray(1), "12"),
        (RealArray(), [np.nan]),
        (RealArray(), [[1], [1, 2]]),
        (RealArray(), ["a"]),
        (RealArray(), []),
        (Table(), [("a", 1)]),
        (Seed(), -1),
        (Seed(), True),
        (Jobs(), 0),
    ],
)
def test_limits_refuse(limit: Int, value: object) -> None:
    assert not limit.allows(value)


def test_check_limits_writes_one_sentence() -> None:
    limits = {"k": (Int(1), Null("min(10, n - 1)")), "mode": (Choice(("a", "b")),)}
    check_limits("M", {"k": None, "mode": "a"}, limits)
    with pytest.raises(
        InvalidInput, match=re.escape("k of M must be an int of at least 1 or None (min(10, n - 1)); got 0")
    ):
        check_limits("M", {"k": 0, "mode": "c"}, limits)
    with pytest.raises(InvalidInput) as caught:
        check_limits("M", {"k": np.zeros(10_000)}, limits)
    assert len(str(caught.value)) < 250


def test_generator_is_one_stream() -> None:
    rng = np.random.default_rng(3)
    assert generator(rng) is rng
    assert generator(5).integers(1 << 30) == generator(np.int64(5)).integers(1 << 30)
    legacy = np.random.RandomState(1)
    first, second = generator(legacy).random(), generator(legacy).random()
    assert first != second
    assert generator(np.random.RandomState(1)).random() == first
    for bad in (-1, 1.5, "0", True, [1]):
        with pytest.raises(InvalidInput, match="random_state must be"):
            generator(bad)


def test_missing_extra_names_the_package_and_the_extra() -> None:
    assert load_extra("json", "x", "reading").loads("1") == 1
    with pytest.raises(MissingExtra, match=re.escape("drawing needs the package 'no_such_package'")) as caught:
        load_extra("no_such_package.sub", "plot", "drawing")
    assert "pip install 'lowfold[plot]'" in str(caught.value)
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, LowfoldError)
