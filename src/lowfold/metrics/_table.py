"""The names, in words: what each metric measures and what it can be given."""

from __future__ import annotations

# name -> (one line, {parameter: meaning and default})
METRICS: dict[str, tuple[str, dict[str, str]]] = {
    "euclidean": ("||x - a||", {}),
    "angular": ("||x/||x|| - a/||a|| || = 2 sin(theta/2): direction only, whatever the length", {}),
    "template": ("max_i |x_i - a_i|: for vectors characterised by their peaks", {}),
    "fourier": (
        "Euclidean distance of the lowest frequencies (unitary FFT): ignores fine noise",
        {
            "n_terms": "number s of FFT coefficients, 1 <= s <= D (all D: Euclidean); default half of D, rounded up",
            "band": "'symmetric' (bins 0, 1, -1, 2, -2, ...: a true low-pass, default) or 'first' (bins 0..s-1)",
        },
    ),
    "wavelet": (
        "Euclidean distance of the coarse part of a wavelet transform (needs lowfold[wavelets])",
        {
            "wavelet": "an orthogonal wavelet of PyWavelets ('haar', 'db2', 'sym4', ...); default 'haar'",
            "level": "number of levels, at least 1; default 1",
            "details": "how many of the coarsest detail bands are kept too, 0..level (level: Euclidean); default 0",
        },
    ),
    "fourier_phase": (
        "distance of the phases of Fourier coefficients: where things are, not how strong",
        {
            "n_terms": "number s of phases, 1 <= s <= D; default half of D, rounded up",
            "wrap": "take phase differences to (-pi, pi]; False is Euclidean, as printed; default True",
            "threshold": "coefficients below this fraction of the row's largest have phase 0; default 1e-6",
        },
    ),
    "derivative": (
        "Euclidean distance of differences (edges): ignores a constant offset",
        {
            "order": "order of the difference, at least 1; default 1",
            "operator": "'forward' (x_{i+1} - x_i, default) or 'central' ((x_{i+2} - x_i) / 2)",
            "shape": "(height, width) or (height, width, channels): rows are images, both sides count; default None",
        },
    ),
    "fourier_phase_difference": (
        "derivative distance of the Fourier phases: ignores a constant phase",
        {
            "n_terms": "number s of phase differences, 1 <= s <= D - 1; default half of D, rounded down",
            "wrap": "take differences to (-pi, pi]; False is Euclidean; default True",
            "threshold": "coefficients below this fraction of the row's largest have phase 0; default 1e-6",
        },
    ),
    "mahalanobis": (
        "sqrt((x - a)' M^-1 (x - a)): directions weighted, by default with the covariance of the data",
        {
            "M": "symmetric positive definite (D, D); default the covariance of the training data",
            "basis": "with `weights`: invertible (D, D), columns b_i; then M = B diag(1/weights) B'",
            "weights": "with `basis`: D positive weights of the coordinates in that basis",
            "reg": "added to the diagonal of the covariance, as a fraction of its mean; default 0",
            "squared": "True gives the squared form, as printed in Wang (2012), eq. (3.1); default False",
        },
    ),
    "minkowski": (
        "(sum_i |x_i - a_i|^p)^(1/p)",
        {"p": "exponent, at least 1 (1: city block, 2: Euclidean, inf: template); default 2"},
    ),
    "cosine": ("1 - cos(theta) = angular^2 / 2, as in SciPy and scikit-learn", {}),
    "correlation": ("1 - correlation of the two rows, as in SciPy: cosine after centring each row", {}),
    "manhattan": ("sum_i |x_i - a_i|", {}),
    "cityblock": ("the same as manhattan", {}),
    "l1": ("the same as manhattan", {}),
    "chebyshev": ("the same as template", {}),
    "sqeuclidean": ("||x - a||^2", {}),
    "seuclidean": (
        "Euclidean distance of columns divided by their standard deviations",
        {"V": "variances of the columns; default those of the training data"},
    ),
    "canberra": ("sum_i |x_i - a_i| / (|x_i| + |a_i|), as in SciPy", {}),
    "braycurtis": ("sum_i |x_i - a_i| / sum_i |x_i + a_i|, as in SciPy", {}),
    "hamming": ("share of the columns that differ", {}),
    "matching": ("the same as hamming", {}),
    "jaccard": ("share of the columns that differ, of those where either is not 0", {}),
    "dice": ("of truth values: differing columns over the sum of both rows' sizes, as in SciPy", {}),
    "rogerstanimoto": ("of truth values, as in SciPy", {}),
    "russellrao": ("of truth values, as in SciPy", {}),
    "sokalsneath": ("of truth values, as in SciPy", {}),
    "yule": ("of truth values, as in SciPy", {}),
    "jensenshannon": ("root of the Jensen-Shannon divergence of rows as distributions, as in SciPy", {}),
}
