"""Applications: what the methods are used for."""

from lowfold.apps.classify import before_after
from lowfold.apps.documents import embed_documents
from lowfold.apps.eigenfaces import Eigenfaces
from lowfold.apps.hyperspectral import anomaly_map, cluster_map, cube_features, false_colour
from lowfold.apps.ordering import order_collection, reveal
from lowfold.apps.sensor_network import locate

__all__ = [
    "Eigenfaces",
    "anomaly_map",
    "before_after",
    "cluster_map",
    "cube_features",
    "embed_documents",
    "false_colour",
    "locate",
    "order_collection",
    "reveal",
]
