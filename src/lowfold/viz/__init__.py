"""Pictures of embeddings, and comparisons as one HTML page.

Pictures need matplotlib (extra `plot`), which is loaded when one is drawn; `write_report` needs nothing;
`widget` needs a notebook (extra `notebook`). The renderer of report, widget and studio is `scatter.js`.
"""

from lowfold.viz._curves import dimension_curves
from lowfold.viz._ellipses import ellipses
from lowfold.viz._report import write_report
from lowfold.viz._scatter import scatter, side_by_side
from lowfold.viz._trust import trust_map
from lowfold.viz._widget import widget

__all__ = [
    "dimension_curves",
    "ellipses",
    "scatter",
    "side_by_side",
    "trust_map",
    "widget",
    "write_report",
]
