"""Environments with the Gymnasium interface, served to Tiebreak, and a client of its HTTP API."""

from .adapter import Adapter, SettingsError
from .client import APIError, Client, Session
from .png import encode_png
from .server import serve, serve_socket

__version__ = "0.1.0"
__all__ = ["APIError", "Adapter", "Client", "Session", "SettingsError", "encode_png", "serve", "serve_socket"]
