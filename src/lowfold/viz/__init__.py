"""Pictures of embeddings. Needs matplotlib (extra `plot`), which is loaded when a picture is drawn."""

from lowfold.viz._scatter import scatter, side_by_side

__all__ = ["scatter", "side_by_side"]
