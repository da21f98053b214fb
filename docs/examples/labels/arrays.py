"""Writes released labels, which are pickles, as arrays in NumPy's format .npy (docs/rollouts.md)."""

import argparse
import io
import os
import pickle
import pickletools
import re
import sys

import numpy as np

MOST_BYTES = 8 << 20  # of a file
MOST_NUMBERS = 200_000  # of a file: two for each of 100,000 comparisons
SUFFIX = re.compile(r"\.(?:pkl|pickle|npy)$")
ROLES = [  # what each of the three files says, and how it is called
    ("the labels", "human_label…, fake_label… or label_human"),
    ("the segments shown first", "indices_1… or indices_num…"),
    ("the segments shown second", "indices_2…"),
]
PREFIXES = [("human_label", 0), ("fake_label", 0), ("label_human", 0), ("indices_1", 1), ("indices_2", 2), ("indices", 1)]

NAMES = "\n".join(f"    {what:27}{like}" for what, like in ROLES)
HELP = """\
Writes labels that Uni-RLHF or Preference Transformer released, which are pickles, as arrays that
'tiebreak import --labels' reads. It needs numpy alone.

    python arrays.py hopper-medium-v2_human_labels hopper-labels
    tiebreak import --labels hopper-labels --env rollouts-hopper --data study
"""
FILES = f"""\
FOLDER holds the three files of one task, each with .pkl, .pickle, .npy or nothing at the end of its name:

{NAMES}

Other files are not looked at. OUT is made, and gets the same names with .npy: from num_2000 and len_200 in
them the import reads how many comparisons there are and how many steps a segment has. Nothing is overwritten.

A pickle is a program that Python runs. This one runs only the parts that make an array, a number of NumPy, or a
list of numbers or of lists of numbers, with its own code for each; it refuses a file that asks for anything
else, and says for what. A file has at most {MOST_BYTES >> 20} MiB, and {MOST_NUMBERS:,} numbers. Files that are .npy already are copied.
"""


class Refused(Exception):
    """The files are not as they must be."""


def role_of(name):
    """Which of ROLES a file has by its name, and the rest of the name: of released files, the task."""
    stem = SUFFIX.sub("", name)
    for prefix, role in PREFIXES:
        rest = stem.removeprefix(prefix)
        if rest != stem and (rest.startswith("_") or not rest and prefix != "indices"):
            return role, rest
    return None, ""


def find(folder):
    """The names of the three files, in the order of ROLES."""
    found, tasks = [None] * len(ROLES), {}
    apart = "put the three files of one task into a folder of their own"
    for name in sorted(os.listdir(folder)):
        role, task = role_of(name)
        if role is None:
            continue
        if found[role]:
            raise Refused(f"{found[role]} and {name} in {folder} can both be {ROLES[role][0]}: {apart}")
        found[role] = name
        if task:
            tasks[task] = name
    for name, (what, like) in zip(found, ROLES):
        if not name:
            raise Refused(f"there is no file of {what} in {folder}: its name begins like {like}, and ends in .pkl, .npy or nothing")
    if len(tasks) > 1:
        raise Refused(f"{' and '.join(list(tasks.values())[:2])} are of different tasks by their names, and the files are joined by position: {apart}")
    return found


# Operations of a pickle (pickletools) that arrays and lists of numbers are written with.
OPERATIONS = set("""PROTO FRAME STOP MARK TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_TUPLE LIST EMPTY_LIST APPEND APPENDS
    PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1
    FLOAT BINFLOAT UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8
    GLOBAL STACK_GLOBAL REDUCE BUILD""".split())
MANY = f"it holds more than {MOST_NUMBERS} numbers"
KINDS = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split()


class Type:
    """Stands for numpy.dtype in a pickle."""

    def __init__(self, kind, *_):
        if kind.lstrip("<|=") not in KINDS:
            raise Refused(f"its numbers are of the type {kind[:20]!r}; use float32, float64 or integers")
        self.dtype = np.dtype(kind)

    def __setstate__(self, state):  # version, order of bytes, no parts, …
        if any(part is not None for part in state[2:5]):
            raise Refused("its numbers are of a type that has parts")
        self.dtype = self.dtype.newbyteorder(state[1])


class Array:
    """Stands for numpy.ndarray in a pickle."""

    def __setstate__(self, state):
        _, shape, kind, fortran, content = state
        self.array = array_of(content, kind, shape, "F" if fortran else "C").array


def empty(of, *_):
    if of is not Array:
        raise Refused("it makes an array of another class than numpy.ndarray")
    return Array()


def array_of(content, kind, shape, order):
    made = Array()
    made.array = np.frombuffer(content, kind.dtype).reshape(shape, order=order)
    return made


def scalar(kind, content):
    return np.frombuffer(content, kind.dtype).reshape(())[()]


class Unpickler(pickle.Unpickler):
    """Makes the arrays and lists of a pickle. Functions of NumPy trust their arguments: those of this program
    are called in their place, and check them."""

    def __init__(self, content):
        super().__init__(io.BytesIO(content))
        self.left = len(content)
        self.known = {
            ("numpy", "dtype"): Type,
            ("numpy", "ndarray"): Array,
            ("numpy.core.multiarray", "_reconstruct"): empty,
            ("numpy.core.multiarray", "scalar"): scalar,
            ("numpy.core.numeric", "_frombuffer"): array_of,  # protocol 5
            ("_codecs", "encode"): self.encode,  # protocol 2 has no bytes
        }

    def find_class(self, module, name):
        known = self.known.get((module.replace("numpy._core.", "numpy.core."), name))  # NumPy 2 has moved its core
        if known is None:
            raise Refused(f"it asks for {module[:80]}.{name[:80]}, which arrays and lists of numbers do not need: it is not executed")
        return known

    def encode(self, text, encoding):
        self.left -= len(text)
        if encoding != "latin1" or self.left < 0:  # as NumPy never does: it encodes each text once
            raise Refused("it makes more bytes of texts than it holds")
        return text.encode("latin1")


def scan(content):
    """Refuses what would take another operation, or memory beyond the file, before anything is made."""
    for operation, given, at in pickletools.genops(content):  # compares lengths with the file
        if operation.name not in OPERATIONS:
            raise Refused(f"byte {at} is the operation {operation.name}, which arrays and lists of numbers do not need: it is not executed")
        if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and given > len(content):
            raise Refused(f"byte {at} asks for memory that the file does not need")
    if at + 1 != len(content):
        raise Refused(f"there are {len(content) - at - 1} bytes after its end")


def numbers_of(value):
    """The array that an unpickled value is: of finite numbers."""
    if isinstance(value, Array):
        array = value.array
    elif isinstance(value, (list, tuple)) and len(value) <= MOST_NUMBERS:
        rows = [v if isinstance(v, (list, tuple)) else [v] for v in value]
        if sum(map(len, rows)) > MOST_NUMBERS:
            raise Refused(MANY)
        if len({(type(v) in (list, tuple), len(row)) for v, row in zip(value, rows)}) > 1:
            raise Refused("its lists are not equally long")
        if not all(isinstance(x, (int, float, np.number, np.bool_)) for row in rows for x in row):
            raise Refused("it holds something else than numbers")
        array = np.array(value)
    else:
        raise Refused(MANY if isinstance(value, (list, tuple)) else "it holds no array and no list of numbers")
    if array.size > MOST_NUMBERS:
        raise Refused(MANY)
    if array.size and (array.dtype.kind not in "biuf" or not np.isfinite(array).all()):
        raise Refused("it holds numbers that are not finite, or have more than 64 bits")
    return np.ascontiguousarray(array)


def load(path):
    """The content of the file .npy that stands for a file."""
    if not os.path.isfile(path):
        raise Refused("it is not a plain file")
    with open(path, "rb") as f:
        content = f.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Refused(f"it has more than {MOST_BYTES} bytes")
    if content.startswith(b"\x93NUMPY"):
        return content
    try:
        scan(content)
        array = numbers_of(Unpickler(content).load())
    except Refused:
        raise
    except Exception as e:  # whatever a damaged pickle leads to
        raise Refused(f"it is damaged, or no pickle of an array: {e}") from None
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def convert(folder, out):
    """Writes the three files of folder into out, and yields the name of each."""
    written = {}
    for name in find(folder):
        try:
            written[SUFFIX.sub("", name) + ".npy"] = load(os.path.join(folder, name))
        except (OSError, Refused) as e:
            raise Refused(f"{name} cannot be read: {e}") from None
    try:
        os.makedirs(out)
    except FileExistsError:
        raise Refused(f"{out} exists already, and nothing is overwritten: name a folder that does not") from None
    for name, content in written.items():
        with open(os.path.join(out, name), "xb") as f:
            f.write(content)
        yield name


def main():
    p = argparse.ArgumentParser(description=HELP, epilog=FILES, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", metavar="FOLDER", help="folder with the three files of one task")
    p.add_argument("out", metavar="OUT", help="folder that is made for the arrays")
    a = p.parse_args()
    try:
        for name in convert(a.folder, a.out):
            print(os.path.join(a.out, name))
    except (OSError, Refused) as e:
        sys.exit(f"arrays.py: {e}")


if __name__ == "__main__":
    main()
