"""What Tiebreak takes of an environment: the limits of docs/outside.md, as messages that say what to change."""

import math
import re
import struct
import unicodedata

MAX_OBSERVATION = 4096  # numbers
MAX_ACTION = 64  # numbers, or discrete actions
MAX_FEATURES = 64
MAX_STEPS = 10_000  # of an episode
MAX_TITLE, MAX_ABOUT, MAX_FEATURE, MAX_LABEL = 80, 400, 64, 64  # characters
MAX_STATE = 1 << 16  # numbers
MAX_HAPPENINGS, MAX_HAPPENING = 32, 60  # names of what happens; bytes of one
MAX_NUMBER = float(2**128 - 2**104)  # the largest of single precision
MAX_SHAPES, MAX_POINTS = 2000, 10_000  # of a scene
MIN_SIDE, MAX_SIDE, MAX_PICTURE = 8, 4096, 8 << 20  # pixels; bytes

PAINTS = ["ground", "surface", "mark", "detail", "wall", "agent", "agentfg", "other", "otherfg", "focus", "ink", *(f"object{k}" for k in range(10))]
# least and most points, whether it needs a size, whether it is only in solid scenes
KINDS = {
    "line": (2, math.inf, True, False), "poly": (3, math.inf, False, False), "circle": (1, 1, True, False), "text": (1, 1, True, False),
    "capsule": (2, 2, True, True), "ball": (1, 1, True, True), "box": (4, 4, False, True), "checker": (1, 1, True, True),
}
CAMERA = ["x", "y", "z", "w", "h", "distance", "azimuth", "elevation"]


class SettingsError(Exception):
    """The environment cannot be served as it is; the message says what to change."""


def need(fine, message):
    if not fine:
        raise SettingsError(message)


def number(name, value):
    """Return a setting as a float."""
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        raise SettingsError(f"{name} must be a number, not {value!r}") from None


def whole(name, value):
    """Return a setting as an int."""
    value = number(name, value)
    need(value.is_integer(), f"{name} must be a whole number, not {value}")
    return int(value)


def small(values):
    """Report whether numbers are finite in single precision."""
    return all(abs(v) <= MAX_NUMBER for v in values)


def is_line(text, most, least=0):
    """Report whether text can be shown in one line of so many characters."""
    return isinstance(text, str) and least <= len(text) <= most and not any(unicodedata.category(c) in ("Cc", "Cs") for c in text)


def check_hello(said):
    """Raise SettingsError if Tiebreak refuses what an environment says of itself, or would understand something else."""
    name, version, horizon = said["name"], said["version"], said["horizon"]
    need(
        isinstance(name, str) and re.fullmatch("[a-z0-9][a-z0-9-]{0,39}", name),
        f"the name {name!r:.60} is not possible: give name, at most 40 lower case letters, digits and hyphens",
    )
    need(
        re.fullmatch("[A-Za-z0-9][A-Za-z0-9._+-]{0,31}", version),
        f"the version {version!r:.60} is not possible: give version, at most 32 letters, digits, dots and hyphens",
    )
    for key, most in (("title", MAX_TITLE), ("description", MAX_ABOUT), ("moment", MAX_TITLE)):
        need(is_line(said.get(key, ""), most), f"{key} must be a line of at most {most} characters: shorten it")
    n = said["observation"]
    need(
        1 <= n <= MAX_OBSERVATION,
        f"an observation has {n} numbers and may have 1 to {MAX_OBSERVATION}: wrap the environment in one that observes {'more' if n < 1 else 'fewer'}",
    )
    need(1 <= horizon <= MAX_STEPS, f"an episode has {horizon} steps and may have 1 to {MAX_STEPS}: give horizon, after which it ends")
    need(1e-6 <= said["step_seconds"] <= 3600, f"a step takes {said['step_seconds']} s, and may take 0.000001 to 3600: give step_seconds")
    need(0 < said.get("discount", 1) <= 1, "discount must be above 0 and at most 1")
    need(1 <= said.get("clip_steps", 1) <= horizon, f"clip_steps must be 1 to {horizon}, the steps of an episode")
    need(0 < said.get("playback", 1) <= 1000, "playback must be above 0 and at most 1000")
    need(0 <= said.get("end_seconds", 0) <= 10, "end_seconds must be 0 to 10")
    n = said.get("state", 0)
    need(
        n <= MAX_STATE,
        f"a state has {n} numbers, the step count and the last observation among them, and may have {MAX_STATE}: have save return fewer, or give neither save nor restore",
    )
    check_actions(said["action"])
    check_features(said["features"], said.get("prior_scale"))


def check_actions(described):
    if "n" in described:
        n = described["n"]
        return need(2 <= n <= MAX_ACTION, f"there are {n} discrete actions and there may be 2 to {MAX_ACTION}: wrap the environment in one with {'more' if n < 2 else 'fewer'}")
    low, high = described["low"], described["high"]
    need(
        1 <= len(low) <= MAX_ACTION,
        f"an action has {len(low)} numbers and may have 1 to {MAX_ACTION}: wrap the environment in one whose actions have {'more' if not low else 'fewer'}",
    )
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        need(small((a, b)) and a < b, f"number {k} of an action lies between {a} and {b}: give action_low and action_high, finite and the lower one below the higher one, or leave the number out of the action")


def check_features(names, scale):
    n = len(names)
    need(
        1 <= n <= MAX_FEATURES,
        f"there are {n} features and there may be 1 to {MAX_FEATURES}: give features, a function that returns a dict of what people may care about",
    )
    for k, name in enumerate(names):
        need(is_line(name, MAX_FEATURE, least=1), f"the name of feature {k}, {name!r:.60}, must be a line of 1 to {MAX_FEATURE} characters: change it")
    if scale is not None:
        need(len(scale) == n, f"prior_scale has {len(scale)} numbers for {n} features: give one for each")
        need(small(scale) and min(scale) > 0, f"prior_scale is {scale}: all of it must be above 0")


def check_happenings(given):
    """Return the names of what happens, with whether each is useless. Raise SettingsError if Tiebreak refuses them."""
    need(isinstance(given, dict) and 1 <= len(given) <= MAX_HAPPENINGS, f"happenings must be a dict of 1 to {MAX_HAPPENINGS} names, each with True if it is useless, else False")
    for name, useless in given.items():
        need(
            is_line(name, MAX_HAPPENING, least=1) and len(name.encode()) <= MAX_HAPPENING,
            f"{name!r:.80} of happenings must be a line of 1 to {MAX_HAPPENING} bytes: change it",
        )
        need(isinstance(useless, bool), f"{name!r} of happenings is {useless!r:.40}: it must be True if it is useless, else False")
    return dict(given)


def check_picture(png, first=None):
    """Return width and height of a picture. Raise SettingsError if it cannot be shown, or is of another size than the first."""
    size = struct.unpack(">II", png[16:24])
    need(
        MIN_SIDE <= min(size) and max(size) <= MAX_SIDE,
        f"a picture has {size[0]} x {size[1]} pixels, and a side may have {MIN_SIDE} to {MAX_SIDE}: have render() make it {'larger' if min(size) < MIN_SIDE else 'smaller'}",
    )
    need(len(png) <= MAX_PICTURE, f"a picture has {len(png)} bytes and may have {MAX_PICTURE}: have render() make it smaller")
    need(
        first in (None, size),
        f"a picture has {size[0]} x {size[1]} pixels, and the first had {first and first[0]} x {first and first[1]}: have render() make all of one size",
    )
    return size


def check_scene(scene, first=None):
    """Raise SettingsError if a scene cannot be shown, or differs from the first in more than points of moving figures and the place of the camera."""
    scene = _scene(scene)
    camera, static, moving = scene["camera"], scene["static"], scene["moving"]
    solid = camera["distance"] > 0
    need(
        small(camera.values()) and camera["w"] > 0 and camera["h"] > 0 and camera["distance"] >= 0 and abs(camera["elevation"]) < math.pi / 2,
        f"the camera {camera} sees nothing: w and h must be above 0, and elevation between -pi/2 and pi/2",
    )
    need(
        solid or not (camera["z"] or camera["azimuth"] or camera["elevation"]),
        "the camera of a flat scene has no z, azimuth and elevation: leave them out, or give distance",
    )
    need(len(static) + len(moving) <= MAX_SHAPES, f"a scene has {len(static) + len(moving)} figures and may have {MAX_SHAPES}")
    width = 3 if solid else 2
    points = sum(len(s["points"]) for s in static + moving)
    need(points <= 3 * MAX_POINTS and sum(len(s["points"]) for s in moving) <= width * MAX_POINTS, f"a scene has {points // width} points and may have {MAX_POINTS}")
    for k, shape in enumerate(static + moving):
        try:
            _check_shape(shape, width, k >= len(static))
        except SettingsError as wrong:
            raise SettingsError(f"figure {k} of a scene, {shape['kind']!r:.20}: {wrong}") from None
    if first is not None:
        _check_form(scene, _scene(first))


def _check_shape(s, width, moves):
    need(s["kind"] in KINDS, f"kind must be one of {', '.join(KINDS)}")
    least, most, sized, solid = KINDS[s["kind"]]
    n, is_text = len(s["points"]) / width, s["kind"] == "text"
    need(s["paint"] in PAINTS, f"paint is {s['paint']!r:.20}, and must be one of {', '.join(PAINTS)}")
    need(small(s["points"]) and small([s["size"]]), "its numbers must be below 3.4e38")
    need(
        is_line(s["text"], MAX_LABEL, least=1) if is_text else s["text"] == "",
        f"text must be a line of 1 to {MAX_LABEL} characters" if is_text else "only a text may have text",
    )
    need(moves or not s["trail"], "only what is in moving may have a trail")
    need(not moves or s["kind"] != "checker", "it must be in static")
    need(width == 3 or not solid, "it is for solid scenes: give the camera a distance")
    need(n == int(n) and least <= n <= most, f"it has {n:g} points of {width} numbers, and must have {least}{'' if most == least else ' or more'}")
    need(s["size"] > 0 or (s["size"] == 0 and not sized), "size must be above 0")


def _check_form(now, first):
    def form(scene):
        return [{**s, "points": len(s["points"])} for s in scene["moving"]]

    view = [{k: v for k, v in s["camera"].items() if k not in "xyz"} for s in (first, now)]
    need(view[0] == view[1], "the camera may change x, y and z only in an episode, and changed more")
    need(first["static"] == now["static"], "figures in static changed: put those that change in moving")
    need(form(first) == form(now), "figures in moving may change their points only, and changed more: have as many figures in each scene, with as many points")


def _scene(given):
    """Return a scene with all its keys."""
    given = _keys("a scene", given, {"camera": {}, "static": [], "moving": []})
    camera = _keys("the camera of a scene", given["camera"], dict.fromkeys(CAMERA, 0))
    need(all(_is_number(v) for v in camera.values()), f"the camera {camera} of a scene must be numbers")
    for part in ("static", "moving"):
        need(isinstance(given[part], list), f"{part} of a scene must be a list of figures")
        given[part] = [_shape(s) for s in given[part]]
    return {**given, "camera": camera}


def _shape(given):
    s = _keys("a figure of a scene", given, {"kind": "", "paint": "", "size": 0, "points": [], "text": "", "trail": False})
    need(
        isinstance(s["points"], (list, tuple)) and all(_is_number(v) for v in s["points"]),
        f"points of a {s['kind']!r:.20} must be a list of numbers: x0, y0, x1, y1, ...",
    )
    need(_is_number(s["size"]), f"size of a {s['kind']!r:.20} must be a number")
    need(
        all(isinstance(s[k], t) for k, t in (("kind", str), ("paint", str), ("text", str), ("trail", bool))),
        "kind, paint and text of a figure must be text, and trail True or False",
    )
    return {**s, "points": list(s["points"])}


def _keys(what, given, known):
    need(isinstance(given, dict), f"{what} must be a dict")
    unknown = [k for k in given if k not in known]
    need(not unknown, f"{what} has no {unknown and unknown[0]!r}; it may have {', '.join(known)}")
    return {**known, **given}


def _is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)
