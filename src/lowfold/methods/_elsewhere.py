"""Names of other libraries and what they are called here: methods, modules, arguments of `fit` and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from lowfold._core.names import plain

ALSO_KNOWN_AS: Mapping[str, tuple[str, ...]] = {
    "PCA": ("truncated SVD", "incremental PCA", "principal component analysis", "SVD", "LSA"),
    "EMPCA": ("PPCA", "probabilistic PCA", "factor analysis", "FA"),
    "RobustPCA": ("RPCA", "principal component pursuit"),
    "MultilinearPCA": ("MPCA",),
    "RandomProjection": ("Gaussian random projection", "sparse random projection", "RP"),
    "LPP": ("locality preserving projections",),
    "NPE": ("neighborhood preserving embedding",),
    "LinearLTSA": ("LLTSA",),
    "ICA": ("FastICA", "independent component analysis"),
    "SparsePCA": ("SPCA",),
    "KernelPCA": ("KPCA",),
    "ClassicalMDS": ("CMDS", "cmdscale", "PCoA", "Torgerson", "principal coordinate analysis", "classical scaling"),
    "MetricMDS": ("MDS", "SMACOF", "Sammon", "Sammon mapping", "stress majorization", "multidimensional scaling"),
    "NonmetricMDS": ("NMDS", "isoMDS", "Kruskal"),
    "WeightedMDS": ("INDSCAL",),
    "LandmarkIsomap": ("L-Isomap",),
    "ConformalIsomap": ("C-Isomap",),
    "LLE": ("locally linear embedding",),
    "ModifiedLLE": ("MLLE", "MLE"),
    "SupervisedLLE": ("SLLE",),
    "LTSA": ("local tangent space alignment",),
    "HessianLLE": ("HLLE", "Hessian eigenmaps"),
    "LaplacianEigenmaps": ("LE", "LEM", "spectral embedding", "Laplacian eigenmap"),
    "DiffusionMaps": ("DM", "DMAP", "diffusion map"),
    "VectorDiffusionMaps": ("VDM",),
    "MVU": ("SDE", "maximum variance unfolding", "semidefinite embedding"),
    "LandmarkMVU": ("L-MVU",),
    "TSNE": ("openTSNE", "FIt-SNE"),
}
"""Other names of the methods; case, spaces and dashes do not count."""

OTHER_NAMES: Mapping[str, str] = {plain(other): name for name, others in ALSO_KNOWN_AS.items() for other in others}
"""The same the other way round, by the letters that count."""

NOT_HERE = ("UMAP", "ParametricUMAP", "AlignedUMAP", "PHATE", "TriMap", "PaCMAP", "densMAP", "LargeVis", "ForceAtlas2")
"""Methods that lowfold does not have: `compare` measures any estimator beside its own."""

NO_SUCH = (
    "lowfold has no {name}; `lowfold.compare` takes any estimator with fit_transform and measures it beside lowfold's "
    "own, TSNE and LaplacianEigenmaps are near to it"
)

SCIKIT_LEARN: Mapping[str, str] = {
    "SpectralEmbedding": "lowfold.LaplacianEigenmaps (affinity='precomputed' is metric='precomputed_affinity')",
    "LocallyLinearEmbedding": "lowfold.LLE; method='modified', 'hessian' and 'ltsa' are ModifiedLLE, HessianLLE, LTSA",
    "MDS": "lowfold.MetricMDS (metric=False is NonmetricMDS, dissimilarity='precomputed' is metric='precomputed'); "
    "ClassicalMDS needs no starts",
    "FastICA": "lowfold.ICA",
    "TruncatedSVD": "lowfold.PCA, which takes sparse rows and centres them without making them dense",
    "RandomizedPCA": "lowfold.PCA, which takes few directions of large tables by itself (solver='krylov')",
    "ProbabilisticPCA": "lowfold.EMPCA",
    "ProjectedGradientNMF": "lowfold.NMF",
    "IncrementalPCA": "lowfold.PCA with partial_fit or fit_blocks",
    "FactorAnalysis": "lowfold.EMPCA, with one variance of noise for all features",
    "GaussianRandomProjection": "lowfold.RandomProjection with kind='gaussian'",
    "SparseRandomProjection": "lowfold.RandomProjection with kind='sparse'",
    "MiniBatchNMF": "lowfold.NMF, on all rows at once",
    "MiniBatchSparsePCA": "lowfold.SparsePCA, on all rows at once",
    "DictionaryLearning": "lowfold.SparsePCA or lowfold.NMF at best: sparse components, or parts",
    "MiniBatchDictionaryLearning": "lowfold.SparsePCA or lowfold.NMF at best: sparse components, or parts",
    "LatentDirichletAllocation": "lowfold.NMF with beta_loss='kullback-leibler' at best, which finds topics as well",
    "LinearDiscriminantAnalysis": "lowfold.SupervisedLLE at best; no other method here uses labels",
    "NeighborhoodComponentsAnalysis": "lowfold.SupervisedLLE at best; no other method here uses labels",
    "Nystroem": "lowfold.KernelPCA with landmarks=, which centres and turns to principal axes",
    "SparseCoder": "lowfold.SparsePCA or lowfold.NMF at best; the dictionary is found, not given",
    "dict_learning": "lowfold.SparsePCA or lowfold.NMF at best: sparse components, or parts",
    "dict_learning_online": "lowfold.SparsePCA or lowfold.NMF at best: sparse components, or parts",
    "sparse_encode": "lowfold.SparsePCA or lowfold.NMF at best; the dictionary is found, not given",
    "randomized_svd": "lowfold.lowrank.randomized_svd(X, k): its U, s and V are attributes",
    "johnson_lindenstrauss_min_dim": "lowfold.lowrank.jl_min_dim(n, eps)",
    "smacof": "lowfold.MetricMDS(metric='precomputed').fit(dissimilarities): embedding_ and stress_",
    "spectral_embedding": "lowfold.LaplacianEigenmaps(metric='precomputed_affinity').fit_transform(affinity)",
    "locally_linear_embedding": "lowfold.LLE(...).fit(X): embedding_ and reconstruction_error_",
    "trustworthiness": "lowfold.quality.trustworthiness",
    "spectral_clustering": "lowfold.SpectralClustering(metric='precomputed_affinity').fit(affinity).labels_",
    "fastica": "lowfold.ICA(...).fit(X): components_, mixing_ and embedding_",
    "non_negative_factorization": "lowfold.NMF(...).fit(X): embedding_ and components_",
    "manifold": "lowfold.Isomap, lowfold.TSNE and so on: all methods stand in lowfold itself",
    "decomposition": "lowfold.PCA, lowfold.NMF and so on: all methods stand in lowfold itself",
    "random_projection": "lowfold.RandomProjection; all methods stand in lowfold itself",
    "cluster": "lowfold.SpectralClustering; all methods stand in lowfold itself",
}
"""scikit-learn's names that code written for it imports, and what to write."""

CLUSTERINGS = (
    *("AffinityPropagation", "AgglomerativeClustering", "Birch", "BisectingKMeans", "DBSCAN", "FeatureAgglomeration"),
    *("HDBSCAN", "KMeans", "MeanShift", "MiniBatchKMeans", "OPTICS", "SpectralBiclustering", "SpectralCoclustering"),
    *("affinity_propagation", "dbscan", "estimate_bandwidth", "k_means", "kmeans_plusplus", "mean_shift", "ward_tree"),
)
"""What stands beside SpectralClustering in scikit-learn and is not here."""

STAYS: Mapping[str, str] = {
    name: f"lowfold has no {name}: import it from sklearn.cluster as before; it takes lowfold's coordinates"
    for name in CLUSTERINGS
}
"""Names of other methods of scikit-learn, and the sentence that answers them."""

MODULES: Mapping[str, str] = {
    name: f"lowfold has no {name}: import from sklearn.{name} as before; its classes and lowfold's work side by side"
    for name in (
        *("base", "compose", "covariance", "discriminant_analysis", "ensemble", "exceptions", "feature_extraction"),
        *("impute", "linear_model", "metrics.pairwise", "mixture", "model_selection", "neighbors", "pipeline"),
        *("preprocessing", "svm", "utils"),
    )
}
"""Modules of scikit-learn that an import with the name of the library replaced asks for, likewise."""

ABSENT_MODULES: Mapping[str, str] = {
    name: NO_SUCH.format(name=name.strip("_"))
    for name in (*map(str.lower, NOT_HERE), "umap_", "parametric_umap", "aligned_umap")
}
"""Modules of those packages, likewise."""

PEERS: Mapping[str, str] = {
    "affinity": "openTSNE's affinity.PerplexityBasedNN(X, perplexity=p) is lowfold.TSNE(perplexity=p).fit(X); a matrix "
    "P of your own is TSNE(metric='precomputed_affinity').fit(P)",
    "PerplexityBasedNN": "openTSNE's PerplexityBasedNN(X, perplexity=p) is lowfold.TSNE(perplexity=p).fit(X)",
    "Multiscale": "openTSNE's Multiscale(X, perplexities=[p, q]) is lowfold.TSNE(perplexity=[p, q]).fit(X)",
    "initialization": "openTSNE's initialization.pca(X) and random(X) are lowfold.TSNE(init='pca') and init='random'",
    "TSNEEmbedding": "openTSNE's TSNEEmbedding(Y, affinities) is lowfold.TSNE(init=Y, perplexity=...); its phases are "
    "early_exaggeration_iter= and max_iter=, and fit(X) runs them",
    "diffusion_map": "pyDiffMap's diffusion_map.DiffusionMap.from_sklearn(...) is lowfold.DiffusionMaps(...)",
    "DiffusionMap": "pyDiffMap's DiffusionMap is lowfold.DiffusionMaps; DiffusionMap.from_sklearn(...) is "
    "lowfold.DiffusionMaps(...)",
    "dynfold": "datafold's dynfold.DiffusionMaps is lowfold.DiffusionMaps",
    "pcfold": "datafold's pcfold.PCManifold(X) is X itself, and GaussianKernel(epsilon) is "
    "lowfold.DiffusionMaps(scale=2 * epsilon)",
    "PCManifold": "datafold's PCManifold(X) is X itself: lowfold.DiffusionMaps finds its scale, and radius= is the "
    "cut_off",
    "GaussianKernel": "datafold's GaussianKernel(epsilon) is lowfold.DiffusionMaps(scale=2 * epsilon)",
    "LocalRegressionSelection": "datafold's LocalRegressionSelection is lowfold.DiffusionMaps(select='independent')",
    "plot": "umap's plot.points(model, labels=y) is lowfold.viz.scatter(model, color=y)",
    "embedding": "megaman's embedding.Isomap, LTSA and so on are lowfold.Isomap, lowfold.LTSA: all methods stand in "
    "lowfold itself",
    "Geometry": "megaman's Geometry is a parameter each of lowfold's methods: radius= or n_neighbors=, scale=",
    "RiemannMetric": "megaman's RiemannMetric is lowfold.quality.riemannian_distortion",
}
"""Names of openTSNE, pyDiffMap, datafold and megaman, likewise."""

ANSWERS: Mapping[str, str] = {
    **STAYS,
    **PEERS,
    **{name: f"scikit-learn's {name} is {words}" for name, words in SCIKIT_LEARN.items()},
}
"""All names that `lowfold` answers when they are imported."""

ARGUMENTS: Mapping[str, str] = {
    "affinities": "pass the matrix as X of TSNE(metric='precomputed_affinity')",
    "initialization": "write it as init= of the constructor",
    "store_kernel_matrix": "leave it out; operator() of the fitted model is the matrix",
    "sample_weight": "points count alike; leave it out, or repeat rows, np.repeat(X, counts, axis=0)",
    "W": "a start of your own is not taken; write init='random' with random_state",
    "H": "a start of your own is not taken; write init='random' with random_state",
}
"""Arguments of `fit` and `fit_transform` that methods elsewhere take."""

ATTRIBUTES: Mapping[str, str] = {
    "affinities": "they are not kept; metric='precomputed_affinity' fits given ones",
    "dmap": "it is embedding_",
    "eigenvectors_": "they are the columns of embedding_, times a number each; of DiffusionMaps right_vectors_",
    "epsilon_fitted": "it is scale_",
    "from_sklearn": "pyDiffMap's from_sklearn(...) is the constructor itself, lowfold.DiffusionMaps(...)",
    "evals": "it is eigenvalues_",
    "evecs": "it is right_vectors_",
    "kernel_matrix_": "operator() is the symmetric matrix whose eigenvectors were found",
    "kl_divergence": "it is kl_divergence_",
    "optimize": "fit runs all phases; set max_iter=, early_exaggeration_iter= and init= in the constructor",
    "batch_size_": "blocks have the sizes that they are given in",
    "density_": "it is density, 1/3 for 'auto'",
    "error_": "errors of the steps are not kept; reconstruction_error_ is that of the last where there is one",
    "get_covariance": "PCA has it, the same model for rows without gaps",
    "get_precision": "PCA has it, the same model for rows without gaps",
    "kernel_pca_": "eigenvalues_ and embedding_ are attributes of the model itself",
    "loglike_": "it is log_likelihood_, of the last step",
    "n_steps_": "it is n_iter_",
    "nbrs_": "neighbours are in graph_; lowfold.graph.find_neighbors searches",
    "partial_fit": "all rows are fitted at once; PCA takes blocks one by one",
    "var_": "it is X.var(axis=0); explained_variance_ belongs to the components",
    "X_fit_": "the model keeps its training rows to itself",
    "X_transformed_fit_": "it is embedding_",
    "dual_coef_": "preimage='ridge' solves it at each inverse_transform",
    "lambdas_": "it is eigenvalues_",
    "alphas_": "it is eigenvectors_",
    "n_features_": "it is n_features_in_",
    "training_data_": "the model keeps its training rows to itself",
    "whitening_": "components_ unmixes the rows themselves, whitening included",
    "fit_predict": "SpectralClustering has labels; an embedding has fit_transform",
    "predict": "put a classifier or a clustering behind it, as in make_pipeline(model, KNeighborsClassifier())",
}
"""Fitted attributes of scikit-learn that have another name here, and what to look at."""


class Elsewhere:
    """A name of a class in another library: whoever asks the class for it is answered, and it is not there."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: object, cls: type) -> NoReturn:
        raise AttributeError(f"{cls.__name__!r} has no attribute {self.name!r}; {ATTRIBUTES[self.name]}")
