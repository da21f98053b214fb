"""Environments with the Gymnasium interface, served to Tiebreak, and a client of its HTTP API."""

from .adapter import Adapter, SettingsError
from .client import APIError, Client, RewardModel, Session, prior_scale
from .png import encode_png
from .server import serve, serve_socket

__version__ = "0.1.0"
__all__ = ["APIError", "Adapter", "Client", "RewardModel", "Session", "SettingsError", "encode_png", "prior_scale", "serve", "serve_socket"]
