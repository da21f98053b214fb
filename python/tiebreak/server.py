"""Lines of JSON over standard input and output, or over a socket of this machine."""

import contextlib
import errno
import ipaddress
import json
import os
import re
import socket
import stat
import sys
import threading
import traceback

from .adapter import Adapter

MAX_LINE = 4 << 20  # bytes of a request; a state of 65,536 numbers, the longest, has 1.7 MB
MAX_CONNECTIONS = 32


def serve(make_env, **settings):
    """Serve an environment over standard input and output until it is closed.

    make_env returns an environment with the Gymnasium interface: reset(seed=...), step, and
    render with render_mode="rgb_array" unless scene is given. Its actions are Box or Discrete,
    its observations Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or Tuple of these, in which
    text is left out; all become a list of numbers, whole numbers by one place for each. What it prints goes to standard error.

    Settings, all optional:

    features(observation, action, next_observation, info): a dict from names, which people read,
        to numbers: what a reward may depend on. Default: the next observation; if it has more than 64
        numbers and actions are Discrete, which action was taken and whether the episode reached an end.
    happens(observation, action, next_observation, info): what a person would call what happens in the step,
        as "the pole falls", or None; one of
    happenings: a dict from such names to True, if it serves hardly any purpose, or False. A clip has
        the name that comes first here of those in its steps. Questions then differ in what happens.
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
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                _refuse(line, out)
                return  # where the next request begins is not known
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


def _refuse(line, out):
    """Answer a request that is too long."""
    id = re.match(rb'\s*{\s*"id"\s*:\s*(\d{1,18})\b', line)
    error = {"code": "LineTooLong", "message": f"a request has more than {MAX_LINE} bytes in a line"}
    out.write(json.dumps({"id": int(id[1]) if id else None, "error": error}).encode() + b"\n")
    out.flush()


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
    """Serve an environment at unix:PATH, tcp:PORT or tcp:127.0.0.1:PORT; each connection has its own."""
    with listening(address) as listener:
        serve_connections(listener, make_env, settings)


def read_address(address):
    """Return the family and the place of an address, which lies on this machine."""
    kind, _, place = address.partition(":")
    if kind == "unix" and place:
        return socket.AF_UNIX, place
    host, _, port = place.rpartition(":")
    with contextlib.suppress(ValueError):  # host is no number
        ip = ipaddress.ip_address(host.strip("[]") or "127.0.0.1")
        if kind == "tcp" and ip.is_loopback and re.fullmatch("[0-9]{1,5}", port) and int(port) < 1 << 16:
            return (socket.AF_INET if ip.version == 4 else socket.AF_INET6), (str(ip), int(port))
    raise ValueError("the address must be unix:PATH, tcp:PORT or tcp:127.0.0.1:PORT")


@contextlib.contextmanager
def listening(address):
    """Listen at an address. The file of a socket is removed at the end, and at the start if nobody listens there any more."""
    family, place = read_address(address)
    if family != socket.AF_UNIX:
        with socket.create_server(place, family=family) as listener:
            yield listener
        return
    _remove_dead(place)
    with socket.socket(family) as listener:
        listener.bind(place)
        own = os.lstat(place)
        try:
            os.chmod(place, 0o600)
            listener.listen()
            yield listener
        finally:
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(own, os.lstat(place)):  # not that of a program that came later
                    os.unlink(place)


def _remove_dead(place):
    """Remove the file of a socket that a program left behind."""
    try:
        mode = os.lstat(place).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FileExistsError(errno.EEXIST, "there is a file that is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(place)
        except ConnectionRefusedError:
            return os.unlink(place)
    raise OSError(errno.EADDRINUSE, "a program listens there already")


def serve_connections(listener, make_env, settings):
    """Serve who connects, for ever."""
    room = threading.Semaphore(MAX_CONNECTIONS)
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
