"""Applications: what the methods are used for."""

from lowfold.apps.sensor_network import Located, aligned, locate, position_error

__all__ = ["Located", "aligned", "locate", "position_error"]
