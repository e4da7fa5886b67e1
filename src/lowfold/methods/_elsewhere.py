"""Names of other libraries and what they are called here: methods, modules, parameters, attributes and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

NOT_HERE = ("UMAP", "PHATE", "TriMap", "PaCMAP", "densMAP", "LargeVis", "ForceAtlas2")
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
    "randomized_svd": "lowfold.lowrank.randomized_svd(X, k)",
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

ANSWERS: Mapping[str, str] = {
    **STAYS,
    **{name: f"scikit-learn's {name} is {words}" for name, words in SCIKIT_LEARN.items()},
}
"""All names that `lowfold` answers when they are imported."""

DEFAULT = "nothing: it is the default"

PARAMETERS: Mapping[str, str] = {
    "affinity": "metric='precomputed_affinity' for a matrix of weights (for a function f of X, of f(X)), "
    "metric='precomputed' for distances; neighbours "
    "are the default, weights='heat' with scale=1/gamma are 'rbf' among them",
    "algorithm": "search=",
    "angle": "nothing: repulsion is exact, or interpolated with method='fft'",
    "batch_size": "partial_fit(X) or fit_blocks(blocks)",
    "components": "landmarks=",
    "compute_inverse_components": "nothing: inverse_transform is always there",
    "copy": "nothing: X is never changed",
    "copy_X": "nothing: X is never changed and the model keeps a copy",
    "callback": "verbose=True, which shows how far a fit is",
    "dense_output": "nothing: the output is dense",
    "dissimilarity": "metric='precomputed' for a matrix, metric='euclidean' for points",
    "eigen_solver": "solver=, 'auto' if in doubt ('arpack' is 'lanczos' or 'shift_invert')",
    "eigen_tol": "tol=",
    "eps": "tol=",
    "epsilon": "scale=, by which squared distances are divided (4 epsilon of pyDiffMap, 2 of datafold)",
    "fit_inverse_transform": "preimage='ridge'; inverse_transform is always there",
    "forget_factor": "nothing: all rows count alike",
    "fresh_restarts": "nothing: all rows are fitted at once",
    "fresh_restarts_max_iter": "nothing: all rows are fitted at once",
    "fun_args": "nothing: fun is one of the names",
    "gamma": "scale=1/gamma",
    "hessian_tol": "nothing: no small number decides what a Hessian is",
    "iterated_power": "solver='krylov' with tol=",
    "kernel_params": "gamma=, degree= and coef0=, or a function as kernel",
    "method": "the class: LLE, ModifiedLLE, HessianLLE or LTSA",
    "max_iter": "nothing: the solver ends by tol=",
    "max_no_improvement": "max_iter= and tol=",
    "metric_mds": "the class: MetricMDS or NonmetricMDS",
    "modified_tol": "nothing: weight_counts_ says how many weight vectors each point was found to need",
    "n_evecs": "n_components=",
    "n_iter": "max_iter=",
    "noise_variance_init": "nothing: it starts from the data",
    "n_oversamples": "solver='krylov' with tol=",
    "neighbors_algorithm": "search=",
    "normalized_stress": "nothing: stress_ and normalized_stress_ are both there",
    "p": "metric='minkowski' with metric_params={'p': p}",
    "path_method": "paths=",
    "power_iteration_normalizer": "solver='krylov' with tol=",
    "reg": "nothing: no weights are solved for",
    "remove_zero_eig": "nothing: with n_components=None directions without variance are left out",
    "rotation": "nothing: components_ are the principal axes",
    "shuffle": "nothing: coordinates are updated in order",
    "solver": "nothing: it goes by beta_loss",
    "square_distances": "metric='precomputed_squared' where the matrix holds squares",
    "transform_max_iter": "nothing: coordinates of new rows are solved for exactly",
    "svd_solver": "solver= ('full' is 'svd', 'covariance_eigh' is 'covariance', 'arpack' and 'randomized' 'krylov')",
    "whiten": "normalization='unit'",
    "whiten_solver": "nothing: whitening goes by the shape of X",
    "EMPCA.iterated_power": "max_iter= and tol=",
    "EMPCA.svd_method": "nothing: expectation and maximisation need no SVD",
    "Isomap.eigen_solver": "solver=, 'auto' if in doubt ('arpack' is 'lanczos')",
    "KernelPCA.eigen_solver": "solver=, 'auto' if in doubt ('arpack' is 'lanczos')",
    "PCA.algorithm": "solver= ('arpack' and 'randomized' are 'krylov')",
    "PCA.n_iter": "solver='krylov' with tol=",
    "NMF.batch_size": "nothing: rows that stay in files are fitted in blocks as they are",
    "NMF.alpha": "alpha_W= and alpha_H=",
    "ICA.whiten": "nothing: components have unit variance",
    "ICA.w_init": "random_state=",
    "SparsePCA.batch_size": "nothing: all rows are fitted at once",
    "SparsePCA.method": "nothing: coordinates are updated in turn",
    "SparsePCA.U_init": "nothing: it starts from the principal components",
    "SparsePCA.V_init": "nothing: it starts from the principal components",
    "SpectralClustering.coef0": "metric='precomputed_affinity' with the matrix of the kernel",
    "SpectralClustering.degree": "metric='precomputed_affinity' with the matrix of the kernel",
    "SpectralClustering.kernel_params": "metric='precomputed_affinity' with the matrix of the kernel",
    "SpectralClustering.n_components": "nothing: there are as many eigenvectors as clusters",
}
"""Parameters that have another name in scikit-learn, and what to write; of one class with its name before."""

OF_VALUES: Mapping[str, str] = {
    "affinity='nearest_neighbors'": DEFAULT,
    "affinity='precomputed'": "metric='precomputed_affinity'",
    "affinity='precomputed_nearest_neighbors'": "metric='precomputed'",
    "affinity='rbf'": "metric='precomputed_affinity' with the matrix of rbf_kernel(X, gamma=gamma), for all pairs; "
    "among neighbours weights='heat' is the default",
    "PCA.algorithm='randomized'": DEFAULT,
    "PCA.algorithm='arpack'": "solver='krylov'",
    "PCA.batch_size=None": DEFAULT,
    "dissimilarity='euclidean'": DEFAULT,
    "dissimilarity='precomputed'": "metric='precomputed'",
    "eigen_solver='auto'": DEFAULT,
    "eigen_solver='amg'": "solver='amg'",
    "eigen_solver='dense'": "solver='dense'",
    "eigen_solver='lobpcg'": DEFAULT,
    "eigen_solver=None": DEFAULT,
    "EMPCA.rotation=None": DEFAULT,
    "fit_inverse_transform=False": "nothing: inverse_transform is always there",
    "gamma=None": DEFAULT,
    "iterated_power='auto'": DEFAULT,
    "method='hessian'": "the class HessianLLE",
    "method='ltsa'": "the class LTSA",
    "method='modified'": "the class ModifiedLLE",
    "method='standard'": "nothing: it is LLE",
    "metric_mds=False": "the class NonmetricMDS",
    "metric_mds=True": "nothing: it is MetricMDS",
    "neighbors_algorithm='auto'": DEFAULT,
    "neighbors_algorithm='ball_tree'": "search='kdtree'",
    "neighbors_algorithm='brute'": "search='brute'",
    "neighbors_algorithm='kd_tree'": "search='kdtree'",
    "p=1": "metric='manhattan'",
    "p=2": DEFAULT,
    "path_method='D'": "paths='dijkstra'",
    "path_method='FW'": "paths='floyd_warshall'",
    "path_method='auto'": DEFAULT,
    "remove_zero_eig=False": DEFAULT,
    "svd_solver='arpack'": "solver='krylov'",
    "svd_solver='auto'": DEFAULT,
    "svd_solver='covariance_eigh'": "solver='covariance'",
    "svd_solver='full'": "solver='svd'",
    "svd_solver='randomized'": "solver='krylov', or nothing",
    "PCA.whiten=False": DEFAULT,
}
"""The same where the value that came says more exactly what to write."""

PARAMETERS_OF_PEERS: Mapping[str, str] = {
    "Distance": "metric=",
    "NumDimensions": "n_components=",
    "NumPCAComponents": "lowfold.PCA before it, in a pipeline",
    "Perplexity": "perplexity=",
    "Standardize": "StandardScaler() before it, in a pipeline",
    "bandwidth": "scale=, by which squared distances are divided",
    "bandwidth_type": "bandwidth=",
    "callbacks": "callback=",
    "density_fxn": "density=",
    "diffusion_map_timesteps": "t=",
    "diffusion_maps": "the class: DiffusionMaps or LaplacianEigenmaps",
    "diffusion_time": "t=",
    "dims": "n_components=",
    "exaggeration": "nothing: P is exaggerated at the start alone, early_exaggeration=",
    "final_momentum": "momentum=, a number or a function of the iteration",
    "gaussian_kernel_width": "scale=, by which squared distances are divided",
    "geom": "radius= and scale=, or a ready Graph as X",
    "initial_momentum": "momentum=, a number or a function of the iteration",
    "initialization": "init=",
    "ints_in_interval": "method='fft' without it",
    "is_stochastic": "nothing: rows of the walk sum to 1",
    "kernel_type": "nothing: weights are Gaussian",
    "knn": "n_neighbors=",
    "ndim": "n_components=",
    "negative_gradient_method": "method=",
    "neighbor_params": "search=",
    "min_num_intervals": "method='fft' without it",
    "n_eigenpairs": "n_components=, the constant eigenvector not counted",
    "n_interpolation_points": "method='fft' without it",
    "no_dims": "n_components=",
    "num_neighbors": "n_neighbors=",
    "sigma": "scale=lowfold.kernels.scale_from_sigma(sigma)",
    "steps": "t=",
    "symmetrize_kernel": "nothing: the eigenproblem is always the symmetric one",
    "target_dimension": "n_components=",
    "theta": "nothing: repulsion is exact, or interpolated with method='fft'",
    "time_exponent": "t=",
    "weight_fxn": "target=",
    "DiffusionMaps.k": "n_neighbors=, the point itself not counted",
    "Isomap.k": "n_neighbors=",
    "LLE.k": "n_neighbors=",
    "ClassicalMDS.k": "n_components=",
    "NonmetricMDS.k": "n_components=",
    "Isomap.epsilon": "radius=",
    "TSNE.neighbors": "nothing: neighbours are found exactly",
}
"""The same of umap-learn, openTSNE, pyDiffMap, datafold, megaman, tapkee, MATLAB and R."""

ARGUMENTS: Mapping[str, str] = {
    "sample_weight": "points count alike; leave it out, or repeat rows, np.repeat(X, counts, axis=0)",
    "W": "a start of your own is not taken; write init='random' with random_state",
    "H": "a start of your own is not taken; write init='random' with random_state",
}
"""Arguments of `fit` and `fit_transform` that methods elsewhere take."""

ATTRIBUTES: Mapping[str, str] = {
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

VALUES: Mapping[tuple[str, Any], str] = {
    ("algorithm", "deflation"): "for 'deflation' write algorithm='fastica'",
    ("algorithm", "parallel"): "for 'parallel' write algorithm='fastica'",
    ("alpha_H", "same"): "for 'same' write the value of alpha_W",
    ("init", "custom"): "a start of your own is not taken: write init='random' with random_state",
    ("init", "classical_mds"): "for 'classical_mds' write init='classical'",
    ("init", None): "leave init out for the default",
    ("init", "nndsvdar"): "for 'nndsvdar' write init='nndsvda'",
    ("kernel", "chi2"): "pass its matrix with kernel='precomputed'",
    ("kernel", "additive_chi2"): "pass its matrix with kernel='precomputed'",
    ("kernel", "polynomial"): "for 'polynomial' write kernel='poly'",
    ("method", "barnes_hut"): "for 'barnes_hut' write method='auto': repulsion is exact, or interpolated ('fft')",
    ("metric", "haversine"): "pass a function of two rows, or points on the unit sphere with metric='angular'",
    ("metric", "l2"): "for 'l2' write metric='euclidean'",
    ("learning_rate", "warn"): "leave learning_rate out",
    ("metric", "nan_euclidean"): "pass its matrix with metric='precomputed'; EMPCA fits rows with gaps",
    ("metric", "wminkowski"): "for 'wminkowski' multiply the columns by w ** (1 / p) and write metric='minkowski'",
    ("metric", False): "scikit-learn's metric=False is NonmetricMDS",
    ("metric", "nearest_neighbors"): "neighbours are the default: leave metric out",
    ("metric", "rbf"): "for 'rbf' leave metric out and write scale=1/gamma: weights are Gaussian among neighbours",
    ("metric", True): "scikit-learn's metric=True is MetricMDS; leave it out",
    ("n_components", "auto"): "give the number of columns; `lowfold.dimension.estimate` finds one",
    ("n_components", None): "give the number of columns; all of them have PCA, KernelPCA, ICA, NMF and SparsePCA",
    ("n_init", "auto"): "give the number of starts, 1 with a good init",
    ("n_neighbors", "auto"): "leave n_neighbors out for the default",
    ("radius", 0): "leave radius out",
    ("search", "ball_tree"): "for 'ball_tree' write search='kdtree', or leave it out",
    ("search", "kd_tree"): "for 'kd_tree' write search='kdtree', or leave it out",
    ("solver", "arpack"): "for 'arpack' write solver='lanczos', or leave it out",
    ("solver", "covariance_eigh"): "for 'covariance_eigh' write solver='covariance'",
    ("solver", "full"): "for 'full' write solver='svd'",
    ("solver", "lobpcg"): "for 'lobpcg' write solver='auto'",
    ("solver", "randomized"): "for 'randomized' write solver='krylov'",
    ("tol", 0): "leave tol out, or write 1e-10",
    ("tol", None): "leave tol out for the default",
}
"""Values that a parameter of the same name has in scikit-learn, and what to write."""
