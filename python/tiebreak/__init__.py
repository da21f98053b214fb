"""Environments with the Gymnasium interface, served to Tiebreak."""

from .adapter import Adapter, SettingsError
from .png import encode_png
from .server import serve, serve_socket

__version__ = "0.1.0"
__all__ = ["Adapter", "SettingsError", "encode_png", "serve", "serve_socket"]
