"""Where new points go, and the way back: one module per family of maps."""
