"""Applications: what the methods are used for."""

from lowfold.apps.sensor_network import locate, position_error

__all__ = [
    "locate",
    "position_error",
]
