"""Stands for PyTorch where imitation's types are loaded, which need no more of it than these names."""

from torch import utils  # noqa: F401


class Tensor:
    """No array is one."""
