"""From data or dissimilarities to `Neighbors` to `Graph`: search, symmetrising, components, geodesics, Laplacians."""

from lowfold.graph._build import consistency, find_neighbors
from lowfold.graph._components import closed_classes, components, is_connected, strong_components
from lowfold.graph._connect import Bridges, connecting_k, enlarge, find_bridges
from lowfold.graph._consistency import Consistency, check_consistency, local_dimensions, shortcut_edges
from lowfold.graph._dijkstra import dijkstra, dijkstra_matrix, floyd_warshall, smaller_of_both, symmetric_dijkstra
from lowfold.graph._geodesics import geodesics, seeded_geodesics
from lowfold.graph._landmarks import LANDMARK_RULES, choose_landmarks
from lowfold.graph._local_planes import linear_neighbors
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods, query_neighborhoods
from lowfold.graph._pixels import pixel_graph
from lowfold.graph._radius import within_radius
from lowfold.graph._search import SEARCHES, nearest, select_search, trim
from lowfold.graph._source import PRECOMPUTED, Measured, Pairs, Points, Source, read_matrix
from lowfold.graph._types import Graph, Neighbors
from lowfold.graph._weights import (
    Weights,
    contract,
    heat_kernel,
    laplacian,
    laplacian_factor,
    normalized_laplacian,
    random_walk,
)

__all__ = [
    "LANDMARK_RULES",
    "PRECOMPUTED",
    "SEARCHES",
    "Bridges",
    "Consistency",
    "Graph",
    "Measured",
    "Neighbors",
    "Pairs",
    "Points",
    "Source",
    "Weights",
    "check_consistency",
    "choose_landmarks",
    "closed_classes",
    "components",
    "connecting_k",
    "consistency",
    "contract",
    "default_neighbors",
    "dijkstra",
    "dijkstra_matrix",
    "enlarge",
    "find_bridges",
    "find_neighbors",
    "floyd_warshall",
    "geodesics",
    "heat_kernel",
    "is_connected",
    "laplacian",
    "laplacian_factor",
    "linear_neighbors",
    "local_dimensions",
    "nearest",
    "neighborhoods",
    "normalized_laplacian",
    "pixel_graph",
    "query_neighborhoods",
    "random_walk",
    "read_matrix",
    "seeded_geodesics",
    "select_search",
    "shortcut_edges",
    "smaller_of_both",
    "strong_components",
    "symmetric_dijkstra",
    "trim",
    "within_radius",
]
