"""A client of Tiebreak's HTTP API (docs/api.md), for trainers: clips out; answers and rewards in."""

import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np

from .png import encode_png

__all__ = ["APIError", "Client", "RewardModel", "Session", "prior_scale"]

# Of one request of Session.upload; the server takes 50 clips and 32 MiB.
UPLOAD_CLIPS = 50
UPLOAD_BYTES = 8_000_000
UPLOAD_PIXELS = 1 << 26  # of the pictures of a request; the server refuses more
LARGEST_UPLOAD = 32 << 20
UPLOAD_SECONDS = 300.0  # the server reads uploads in turns, and encodes their pictures anew


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

    def create(self, title, features, **settings):
        """Makes a session to which clips are uploaded, by a token of scope upload for all sessions, and returns it.

        features: names, for people. settings: prior_scale (see the function of that name), kind, budget, seed, instructions.
        """
        body = {"title": title, "features": list(features), **{k: np.asarray(v).tolist() for k, v in settings.items() if v is not None}}
        return Session(self, self._json("sessions", body)["id"])

    def new_arena(self, title, entrants, **settings):
        """Makes an arena, in which people compare policies blindly, by a token of scope upload for all sessions, and returns it as a session.

        entrants: dicts, each with session, a session or its id, whose recommended policy enters; or with set, "rollouts-NAME" or a session to
        which trajectories were uploaded, of which policy enters, or without it all policies. Each may have a title for researchers.
        settings: detect, budget, answers_each, instructions, completion_code, task_groups, seed (docs/api.md). Later uploads do not change it.
        """
        plain = [{k: v.id if isinstance(v, Session) else str(v) for k, v in e.items()} for e in entrants]
        return Session(self, self._json("arenas", {"title": title, "entrants": plain, **settings})["id"])

    def recordings(self):
        """Returns data sets of LeRobot that can be imported, imports, and uploads with their sizes and what uses them, as a dict (docs/lerobot.md)."""
        return self._json("recordings")

    def upload_recordings(self, name, path, kind="archive"):
        """Uploads a data set, as the zip, tar or tar.gz file at path, or a table of episodes (kind="table"). Returns the name by which it is imported.

        An archive is unpacked afterwards: it is there when recordings() says so.
        """
        with open(path, "rb") as file:
            return json.loads(self._bytes(_upload_path(name), file, UPLOAD_SECONDS, kind=kind))["set"]

    def discard_upload(self, name):
        """Removes an upload. APIError with the code conflict: recordings show its videos, or an import reads it."""
        self._bytes(_upload_path(name), method="DELETE")

    def import_recordings(self, set, name, **settings):
        """Begins the import of a data set of recordings() as the environment "rollouts-NAME", or goes on with it, and returns what it takes.

        settings: the flags of 'tiebreak import --lerobot', as policy_column; or plan_only=True, which only tells what it takes.
        """
        return self._json("recordings", {"set": set, "name": name, **settings})["plan"]

    def _json(self, path, body=None, **query):
        return json.loads(self._bytes(path, body, **query))

    def _bytes(self, path, body=None, more=0.0, method=None, **query):
        """Asks once, and again where the server says that it is busy. body is a value, encoded, or an open file; more seconds are added to the timeout."""
        with self._open(path, body, more, method, **query) as reply:
            return reply.read()

    def _open(self, path, body=None, more=0.0, method=None, **query):
        address = self._base + path
        query = {k: v for k, v in query.items() if v is not None}
        if query:
            address += "?" + urllib.parse.urlencode(query)
        file = hasattr(body, "read")
        data = body if body is None or file or isinstance(body, bytes) else _encode(body)
        for left in reversed(range(self._tries)):
            request = urllib.request.Request(address, data=data, method=method)
            request.add_unredirected_header("Authorization", "Bearer " + self._token)  # for this server alone
            request.add_header("Content-Type", "application/octet-stream" if file else "application/json")
            if file:
                request.add_header("Content-Length", str(body.seek(0, 2)))
                body.seek(0)
            try:
                return urllib.request.urlopen(request, timeout=self._timeout + more)
            except urllib.error.HTTPError as e:
                with e:
                    error = _error(e)
                    wait = e.headers.get("Retry-After", "1")
                if left == 0 or error.status not in (429, 503):
                    raise error from None
                time.sleep(float(wait) if wait.isdigit() else 1.0)


def _upload_path(name):
    return "recordings/uploads/" + urllib.parse.quote(name, safe="")


def _encode(value):
    return json.dumps(value, allow_nan=False).encode()


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

    def questions(self):
        """Returns the questions that people hold, and the last that were answered, a dict."""
        return self.client._json(self._path + "/questions")

    def control(self, do):
        """Does "pause", "resume" or "close", with a token of scope write, and returns the state."""
        return self.client._json(self._path + "/control", {"do": do})["state"]

    def clip(self, id):
        """Returns the bytes that the page gets of a clip."""
        return self.client._bytes(self._path + "/clips/" + urllib.parse.quote(id, safe=""))

    def answers(self, after=0):
        """Yields the rows of the log after row `after`, dicts with seq, id and event, until there is none."""
        while rows := self._rows(after):
            yield from rows
            after = rows[-1]["seq"]

    def wait_for_answers(self, after=0, seconds=30):
        """Returns the rows after row `after`; if there is none, those that come first within 1 to 60 seconds, else []."""
        return self._rows(after, wait=seconds)

    def follow(self, after=0, patience=300.0):
        """Yields the rows after row `after` as they are recorded, for ever; each once, undo as a row too.

        A connection that breaks, or a server that cannot be reached behind a proxy, is tried again where it was. Raises OSError if that
        fails for patience seconds, counted from the first failure: the time that is spent on a row does not count.
        """
        sent, failed = 0, None  # lines of row after + 1: an answer to a group has several; when the first try failed since a row came
        while True:
            try:
                skip = sent
                with self.client._open(self._path + "/answers/stream", after=after) as lines:
                    for line in lines:
                        if not line.endswith(b"\n"):
                            break  # cut off
                        row, failed = json.loads(line), None
                        if row["event"] == "alive":
                            continue
                        if row["seq"] > after + 1:
                            after, sent, skip = row["seq"] - 1, 0, 0
                        if skip > 0:
                            skip -= 1
                            continue
                        sent += 1
                        yield row
            except (OSError, http.client.HTTPException, APIError) as e:
                if isinstance(e, APIError) and e.status not in (429, 502, 503, 504):
                    raise
                now = time.monotonic()
                failed = now if failed is None else failed
                if now - failed > patience:
                    raise e if isinstance(e, OSError) else OSError(str(e)) from e
            time.sleep(0.5)

    def upload(self, trajectories):
        """Adds clips that people are asked about from now on, and returns the clip of each trajectory, a list of ids.

        Each is a dict of one episode or part of T steps: observations (T+1, o), actions (T,) or (T, a), features (T, d), and to look at
        frames, T+1 pictures (uint8, height x width x 3), or scenes, T+1 dicts (docs/outside.md). It may have step_seconds, that a step
        takes on the page (0.1), terminated and name; and for arenas the policy that acted, its task, and its start, which is equal where two
        trajectories of one task began alike, such as a seed (docs/arena.md): annotators never see policy and start. The same trajectory again changes nothing. They are sent in requests of at most 50
        and about 8 MB, each of which is taken whole or not at all, and may take 300 seconds. After an error upload all of them again:
        the reply names those that are there already too. Raises ValueError if one is larger than 32 MiB.
        """
        clips, more = [], max(0.0, UPLOAD_SECONDS - self.client._timeout)
        for body in _batches(trajectories):
            try:
                clips += [t["clip"] for t in self.client._json(self._path + "/trajectories", body, more=more)["trajectories"]]
            except APIError as e:
                if not clips:
                    raise
                raise APIError(e.status, e.code, f"{len(clips)} trajectories were taken; of those after them: {e.message}") from None  # it counts from 0 in each request
        return clips

    def reward_model(self):
        """Returns the reward as it is known now, which needs no server to be evaluated."""
        return RewardModel(*self.posterior())

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

    def scores(self):
        """Returns how well each condition predicts the comparisons that are held out, a dict (docs/study.md, section 4)."""
        return self.client._json(self._path + "/scores")

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


def _batches(trajectories):
    """Yields the bodies of requests with all of the trajectories, in their order."""
    head, tail = b'{"trajectories":[', b"]}"
    part, size, pixels = [], 0, 0
    for k, t in enumerate(trajectories):
        one = _encode(_trajectory(t))
        more = sum(int(np.prod(np.shape(f)[:2])) for f in t.get("frames", ()))
        if len(head) + len(one) + len(tail) > LARGEST_UPLOAD:
            raise ValueError(f"trajectory {k} has {len(one) / (1 << 20):.0f} MiB as it is sent; the limit is 32: make its pictures smaller, or cut it into shorter clips")
        if part and (len(part) == UPLOAD_CLIPS or size + len(one) > UPLOAD_BYTES or pixels + more > UPLOAD_PIXELS):
            yield head + b",".join(part) + tail
            part, size, pixels = [], 0, 0
        part.append(one)
        size += len(one) + 1  # and a comma
        pixels += more
    if part:
        yield head + b",".join(part) + tail


def _trajectory(t):
    known = {"observations", "actions", "features", "frames", "scenes", "step_seconds", "terminated", "name", "happens", "useless", "policy", "task", "start"}
    if unknown := set(t) - known:
        raise ValueError(f"a trajectory has no {sorted(unknown)}; it may have {sorted(known)}")
    rows = {k: np.asarray(t[k], dtype=float) for k in ("observations", "actions", "features")}
    out = {k: v.reshape(len(v), -1).tolist() for k, v in rows.items()}
    out |= {"name": t.get("name", ""), "terminated": bool(t.get("terminated", False)), "step_seconds": float(t.get("step_seconds", 0.1))}
    if t.get("happens"):
        out |= {"happens": str(t["happens"]), "useless": bool(t.get("useless", False))}
    out |= {k: str(t[k]) for k in ("policy", "task", "start") if t.get(k) not in (None, "")}
    if "frames" in t:
        out["pictures"] = [base64.b64encode(encode_png(f)).decode() for f in t["frames"]]
    if "scenes" in t:
        out["scenes"] = list(t["scenes"])
    return out


def prior_scale(trajectories):
    """Returns the prior_scale of a session, (d,), by a sample of its clips: 3 divided by how far the sum of each feature over a clip spreads.

    A clip is what upload takes, a dict with features (T, d), or these features alone. Raises ValueError if there are fewer than two clips, or their features do not fit.
    """
    rows = [np.asarray(t["features"] if isinstance(t, dict) else t, dtype=float) for t in trajectories]
    shapes = [r.shape for r in rows]
    if len(rows) < 2 or any(len(s) != 2 or 0 in s or s[1] != shapes[0][1] for s in shapes):
        raise ValueError(f"prior_scale takes two clips or more, each a dict with features or their array, steps x features with as many features in each; got the shapes {shapes[:5]}")
    spread = np.array([r.sum(axis=0) for r in rows]).std(axis=0)
    return 3 / np.where(spread > 0, spread, 3)


class RewardModel:
    """The reward of a step is w·features, w ~ N(mean, covariance), as learnt from the log up to row seq."""

    def __init__(self, seq, mean, covariance):
        self.seq, self.mean, self.covariance = seq, np.asarray(mean), np.asarray(covariance)

    def __call__(self, features):
        """Returns the expected reward of features (..., d): (...)."""
        return np.asarray(features, dtype=float) @ self.mean

    def std(self, features):
        """Returns the standard deviation of the reward of features (..., d): (...)."""
        features = np.asarray(features, dtype=float)
        return np.sqrt(np.maximum(0, np.einsum("...i,ij,...j", features, self.covariance, features)))
