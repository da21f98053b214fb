"""A client of Tiebreak's HTTP API (docs/api.md), for trainers: answers in, rewards of features out."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np

__all__ = ["APIError", "Client", "Session"]


class APIError(Exception):
    """A refusal of the server. code is stable (docs/api.md), message is for people."""

    def __init__(self, status, code, message):
        super().__init__(f"{message} ({code})")
        self.status, self.code, self.message = status, code, message


class Client:
    """The server at url, "http://127.0.0.1:8080", asked with a token of 'tiebreak token new'."""

    def __init__(self, url, token, timeout=30.0, tries=8):
        self._base, self._token, self._timeout, self._tries = url.rstrip("/") + "/api/v1/", token, timeout, tries

    def sessions(self):
        """Returns the sessions that the token is for, newest first, each a dict."""
        return self._json("sessions")["sessions"]

    def session(self, id):
        """Returns the session of that id. Nothing is asked of the server yet."""
        return Session(self, id)

    def _json(self, path, body=None, **query):
        return json.loads(self._bytes(path, body, **query))

    def _bytes(self, path, body=None, more=0.0, **query):
        """Asks once, and again where the server says that it is busy. more seconds are added to the timeout."""
        address = self._base + path
        query = {k: v for k, v in query.items() if v is not None}
        if query:
            address += "?" + urllib.parse.urlencode(query)
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        for left in reversed(range(self._tries)):
            request = urllib.request.Request(address, data=data)
            request.add_unredirected_header("Authorization", "Bearer " + self._token)  # for this server alone
            request.add_header("Content-Type", "application/json")
            try:
                with urllib.request.urlopen(request, timeout=self._timeout + more) as reply:
                    return reply.read()
            except urllib.error.HTTPError as e:
                with e:
                    error = _error(e)
                    wait = e.headers.get("Retry-After", "1")
                if left == 0 or error.status not in (429, 503):
                    raise error from None
                time.sleep(float(wait) if wait.isdigit() else 1.0)


def _error(e):
    try:
        said = json.loads(e.read(1 << 16))
        return APIError(e.code, said["code"], said["message"])
    except (ValueError, KeyError, TypeError):
        return APIError(e.code, "unknown", f"the server answered with status {e.code}; is the address that of Tiebreak?")


class Session:
    """One session of a server."""

    def __init__(self, client, id):
        self.client, self.id, self._path = client, id, "sessions/" + urllib.parse.quote(id, safe="")

    def info(self):
        """Returns settings, state and number of answers, a dict."""
        return self.client._json(self._path)

    def answers(self, after=0):
        """Yields the rows of the log after row `after`, dicts with seq, id and event, until there is none."""
        while rows := self._rows(after):
            yield from rows
            after = rows[-1]["seq"]

    def wait_for_answers(self, after=0, seconds=30):
        """Returns the rows after row `after`; if there is none, those that come first within 1 to 60 seconds, else []."""
        return self._rows(after, wait=seconds)

    def _rows(self, after, wait=None):
        text = self.client._bytes(self._path + "/answers", more=wait or 0, after=after, wait=wait)
        return [json.loads(line) for line in text.splitlines()]

    def posterior(self):
        """Returns (seq, mean, covariance) of the weights of the features: int, (d,), (d, d)."""
        p = self.client._json(self._path + "/posterior")
        return p["seq"], np.array(p["mean"]), np.array(p["covariance"])

    def policies(self):
        """Returns the recommended policy and the candidates, a dict."""
        return self.client._json(self._path + "/policies")

    def reward(self, features):
        """Returns mean and standard deviation of the reward of each row of features (n, d): (n,), (n,).

        Raises ValueError if features is not finite or not of two dimensions.
        """
        features = np.asarray(features, dtype=float)
        if features.ndim != 2 or not np.isfinite(features).all():
            raise ValueError("features must be finite numbers, one row for each reward")
        mean, std = np.empty(len(features)), np.empty(len(features))
        rows = max(1, min(10_000, 40_000 // max(1, features.shape[1])))  # of a request, which may have 1 MiB
        for k in range(0, len(features), rows):
            r = self.client._json(self._path + "/reward", {"features": features[k : k + rows].tolist()})
            mean[k : k + rows], std[k : k + rows] = r["mean"], r["std"]
        return mean, std

    def export(self, format="jsonl"):
        """Returns the bytes of an export: jsonl, csv, networks, bundle, practice or flags."""
        return self.client._bytes(self._path + "/export", format=format)

    def claim(self):
        """Returns the questions that a token of scope label holds, a dict."""
        return self.client._json(self._path + "/claim", {})

    def answer(self, answer):
        """Sends an answer (docs/api.md) and returns its receipt. The same id again is recorded once."""
        return self.client._json(self._path + "/answers", answer)
