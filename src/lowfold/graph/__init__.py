"""From data or dissimilarities to `Neighbors` to `Graph`: search, symmetrising, components, geodesics, Laplacians."""

from lowfold.graph._build import consistency, find_neighbors
from lowfold.graph._components import components
from lowfold.graph._foreign import as_graph
from lowfold.graph._geodesics import geodesics
from lowfold.graph._landmarks import choose_landmarks
from lowfold.graph._pixels import pixel_graph
from lowfold.graph._radius import within_radius
from lowfold.graph._search import nearest
from lowfold.graph._source import Points
from lowfold.graph._types import Graph, Neighbors
from lowfold.graph._weights import Weights, laplacian, normalized_laplacian, random_walk

__all__ = [
    "Graph",
    "Neighbors",
    "Points",
    "Weights",
    "as_graph",
    "choose_landmarks",
    "components",
    "consistency",
    "find_neighbors",
    "geodesics",
    "laplacian",
    "nearest",
    "normalized_laplacian",
    "pixel_graph",
    "random_walk",
    "within_radius",
]
