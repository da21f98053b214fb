"""Lines of JSON over standard input and output, or over a socket of this machine."""

import json
import os
import socket
import sys
import threading
import traceback

from .adapter import Adapter

MAX_LINE = 1 << 20  # bytes of a request
MAX_CONNECTIONS = 32


def serve(make_env, **settings):
    """Serve an environment over standard input and output until it is closed.

    make_env returns an environment with the Gymnasium interface: reset(seed=...), step, and
    render with render_mode="rgb_array" unless scene is given. Its actions are Box or Discrete,
    its observations Box or Discrete. What it prints goes to standard error.

    Settings, all optional:

    features(observation, action, next_observation, info): a dict from names, which people read,
        to numbers: what a reward may depend on. Default: the next observation.
    scene(env): a drawing instead of a picture, as docs/outside.md describes it.
    save(env), restore(env, state): a state as a list of numbers, and back. Without them a state
        is restored by playing the episode again from its seed. The number of steps and the last
        observation are kept besides.
    name, version, title, description, moment: what it is called. Change version when it changes.
    horizon, step_seconds: of an episode and a step, where the environment does not say it.
    discount, clip_steps, playback, end_seconds, prior_scale: as docs/outside.md describes them;
        prior_scale is a dict by the names of features, or a list.
    action_low, action_high: bounds of actions that have none.
    """
    converse(sys.stdin.buffer, claim_output(), make_env, settings)


def claim_output():
    """Return standard output, and have what is printed from now on go to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not come between the answers
    sys.stdout = sys.stderr
    return out


def converse(lines, out, make_env, settings):
    """Answer requests until one is close or there are no more."""
    adapter = None
    try:
        while True:
            line = lines.readline(MAX_LINE)
            if not line:
                return
            request, result, error = {}, None, None
            try:
                request = json.loads(line)
                if not isinstance(request, dict):
                    request = {}
                    raise ValueError("a request must be an object")
                if adapter is None:
                    adapter = Adapter(make_env, **settings)
                result = answer(adapter, request)
                reply = json.dumps({"id": request.get("id"), "result": result}, allow_nan=False, separators=(",", ":"))
            except Exception as wrong:  # whatever the environment raises is told
                traceback.print_exc(file=sys.stderr)
                error = {"code": type(wrong).__name__, "message": str(wrong)[:1000]}
                reply = json.dumps({"id": request.get("id"), "error": error})
            out.write(reply.encode("utf-8") + b"\n")
            out.flush()
            if request.get("cmd") == "close":
                adapter = None
                return
    finally:
        if adapter is not None:
            adapter.close()


def answer(adapter, request):
    """Return the result of a request."""
    arguments = {"hello": (), "reset": ("seed",), "step": ("action",), "save": (), "restore": ("state",), "draw": (), "close": ()}
    cmd = request.get("cmd")
    if cmd not in arguments:
        raise ValueError(f"there is no request {cmd!r}")
    missing = [a for a in arguments[cmd] if a not in request]
    if missing:
        raise ValueError(f"{cmd} needs {missing[0]}")
    return getattr(adapter, cmd)(*(request[a] for a in arguments[cmd]))


def serve_socket(address, make_env, **settings):
    """Serve an environment at unix:PATH or tcp:PORT (of 127.0.0.1); each connection has its own."""
    kind, _, place = address.partition(":")
    if kind == "unix" and place:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(place)
        os.chmod(place, 0o600)
    elif kind == "tcp" and place.isdigit():
        listener = socket.create_server(("127.0.0.1", int(place)))
    else:
        raise ValueError("the address must be unix:PATH or tcp:PORT")
    room = threading.Semaphore(MAX_CONNECTIONS)
    with listener:
        listener.listen()
        while True:
            connection, _ = listener.accept()
            if not room.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=_connection, args=(connection, room, make_env, settings), daemon=True).start()


def _connection(connection, room, make_env, settings):
    try:
        with connection, connection.makefile("rb") as lines, connection.makefile("wb") as out:
            converse(lines, out, make_env, settings)
    except OSError:
        pass  # the other side is gone
    finally:
        room.release()
