"""Pictures of embeddings, and comparisons as one HTML page.

Pictures need matplotlib (extra `plot`), which is loaded when one is drawn; `write_report` needs nothing;
`widget` needs a notebook (extra `notebook`). The renderer of report, widget and studio is `scatter.js`.
"""

from lowfold.viz._curves import dimension_curves
from lowfold.viz._ellipses import ellipses
from lowfold.viz._first_look import plot, quality_map
from lowfold.viz._graph import graph_overlay
from lowfold.viz._images import filmstrip, images_at
from lowfold.viz._report import write_report
from lowfold.viz._scatter import scatter, side_by_side
from lowfold.viz._shepard import residual_curves, shepard
from lowfold.viz._spectrum import spectrum
from lowfold.viz._trust import trust_map
from lowfold.viz._widget import widget

__all__ = [
    "dimension_curves",
    "ellipses",
    "filmstrip",
    "graph_overlay",
    "images_at",
    "plot",
    "quality_map",
    "residual_curves",
    "scatter",
    "shepard",
    "side_by_side",
    "spectrum",
    "trust_map",
    "widget",
    "write_report",
]
