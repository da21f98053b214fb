"""Tests of docs/examples/labels/arrays.py: python test_arrays.py."""

import io
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SCRIPT = pathlib.Path(__file__).parents[4] / "docs/examples/labels/arrays.py"
sys.path.insert(0, str(SCRIPT.parent))
import arrays  # noqa: E402

INTS = [0, 1, -1, 1, 0, 200, 70000, -70000, 3000000000]
SOFT = [[1, 0], [0, 1], [0.5, 0.5]]
VALUES = {  # as they are pickled, and the array that each is
    "array": (np.array(INTS), np.array(INTS)),
    "one byte": (np.array([0, 1, -1], dtype=np.int8), np.array([0, 1, -1])),
    "booleans": (np.array([True, False]), np.array([1, 0])),
    "float32": (np.array(SOFT, dtype=np.float32), np.array(SOFT)),
    "big-endian": (np.array([[0], [1], [-1]], dtype=">i4"), np.array([[0], [1], [-1]])),
    "Fortran": (np.asfortranarray(np.array(SOFT)), np.array(SOFT)),
    "slice": (np.array(INTS)[::2], np.array(INTS[::2])),
    "numbers of NumPy": ([np.int64(i) for i in INTS], np.array(INTS)),
    "list": (INTS, np.array(INTS)),
    "lists": (SOFT, np.array(SOFT)),
    "tuples": ([(0,), (1,)], np.array([[0], [1]])),
}
LABELS, FIRST, SECOND = "human_label_num_3_len_5_x", "indices_1_num_3_len_5_x", "indices_2_num_3_len_5_x"


class Evil:
    """Calls os.system when it is unpickled, or another function."""

    def __init__(self, *calls):
        self.calls = calls

    def __reduce__(self):
        return self.calls


def of_older_numpy(content):
    """A pickle with the names of modules that NumPy had before 2, and without the lengths of frames."""
    if content[2:3] == pickle.FRAME:
        content = content[:2] + content[11:]
    for module in b"multiarray", b"numeric":
        name = b"numpy._core." + module
        content = content.replace(bytes([len(name)]) + name, bytes([len(name) - 1]) + b"numpy.core." + module)
        content = content.replace(b"c" + name, b"cnumpy.core." + module)
    return content


class ArraysTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = pathlib.Path(made.name)

    def folder(self, name="labels", **files):
        """A folder of three files; files are changes of it, None leaves one out."""
        rows = pickle.dumps(np.array([0, 7, 12]))
        folder = self.dir / name
        folder.mkdir()
        for file, content in {LABELS + ".pkl": rows, FIRST + ".pkl": rows, SECOND + ".pkl": rows, "readme.txt": b"", "label_dummy": b"", **files}.items():
            if content is not None:
                (folder / file).write_bytes(content)
        return folder

    def loaded(self, content):
        path = self.dir / "file"
        path.write_bytes(content)
        return np.load(io.BytesIO(arrays.load(path)), allow_pickle=False)

    def refused(self, says, content):
        with self.assertRaisesRegex(arrays.Refused, says):
            self.loaded(content)

    def test_reads_what_is_released(self):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            for name, (value, want) in VALUES.items():
                for change in (lambda content: content, of_older_numpy):
                    with self.subTest(name, protocol=protocol, older=change is of_older_numpy):
                        content = change(pickle.dumps(value, protocol=protocol))
                        got = self.loaded(content)
                        np.testing.assert_array_equal(got, want)
                        self.assertEqual(got.shape, want.shape)

    def test_older_names_are_other_names(self):
        for protocol in range(2, 6):
            content = of_older_numpy(pickle.dumps(np.array(INTS), protocol=protocol))
            self.assertIn(b"numpy.core.", content)
            self.assertNotIn(b"numpy._core.", content)

    def test_executes_nothing(self):
        mark = self.dir / "mark"
        for protocol in range(6):
            for value in (Evil(os.system, (f"touch {mark}",)), [0, Evil(os.system, (f"touch {mark}",))], Evil(exec, (f"open({str(mark)!r}, 'w')",))):
                self.refused("it asks for [a-z_]+.(system|exec), which arrays", pickle.dumps(value, protocol=protocol))
        self.assertFalse(mark.exists())
        pickle.loads(pickle.dumps(Evil(os.system, (f"touch {mark}",))))  # else the test shows nothing
        self.assertTrue(mark.exists())

    def test_refuses(self):
        for says, value in [
            ("another class", Evil(np.array([]).__reduce__()[0], (np.dtype, (0,), b"b"))),
            ("asks for", Evil(np.load, ("x",))),
            ("EMPTY_DICT", {"labels": [0, 1]}),
            ("EMPTY_DICT", np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])),
            ("of the type 'O8'", np.array([1, None], dtype=object)),
            ("of the type 'U1'", np.array(["a"])),
            ("no array", None),
            ("no array", 7),
            ("not finite", np.array([0.0, np.nan])),
            ("not finite", [0.0, float("inf")]),
            ("more than 64 bits", [1 << 70]),
            ("not equally long", [[0], [1, 2]]),
            ("not equally long", [0, [1]]),
            ("something else than numbers", ["a"]),
            ("something else than numbers", [[[0]]]),
            ("more than 200000 numbers", np.zeros(200_001, dtype=np.int8)),
            ("more than 200000 numbers", [0] * 200_001),
            ("more than 200000 numbers", [[0] * 1000] * 1000),
        ]:
            with self.subTest(says, value=str(value)[:40]):
                self.refused(says, pickle.dumps(value, protocol=4))

    def test_refuses_what_is_damaged(self):
        for value in (np.array(INTS), INTS, [np.int64(3)]):
            for protocol in range(2, 6):
                whole = pickle.dumps(value, protocol=protocol)
                for n in range(len(whole)):
                    self.refused("", whole[:n])
                self.refused("1 bytes after its end", whole + b"\0")
        for content in (b"\x80\x02\x96" + b"\xff" * 8 + b".", b"\x80\x04]\x94(h\x00h\x00e.", b"\x80\x02]r\xff\xff\xff\xff.", b"text"):
            self.refused("", content)

    def test_takes_little_memory(self):
        text = b"X\xe8\x03\0\0" + b"a" * 1000
        self.refused("more bytes of texts", b"\x80\x02](c_codecs\nencode\nq\0" + text + b"X\x06\0\0\0latin1\x86q\x01R" + b"h\0h\x01R" * 1000 + b"e.")
        self.refused("more than 8388608 bytes", b"\0" * (9 << 20))

    def test_converts_a_folder(self):
        for names in (
            [LABELS + ".pkl", FIRST + ".pickle", SECOND],
            ["fake_label_num_3_len_200_u.pkl", "indices_1_num_3_len_200_u.pkl", "indices_2_num_3_len_200_u.pkl"],
            ["label_human", "indices_num3_q50", "indices_2_num3_q50"],
            ["human_label.npy", "indices_1.pkl", "indices_2"],
        ):
            folder, out = self.dir / names[0], self.dir / f"out-{names[0]}"
            folder.mkdir()
            for i, name in enumerate(names):
                if name.endswith(".npy"):
                    np.save(folder / name, np.array([i, 7, 12]))
                else:
                    (folder / name).write_bytes(pickle.dumps([i, 7, 12]))
            said = subprocess.run([sys.executable, SCRIPT, folder, out], check=True, capture_output=True, text=True).stdout.split()
            want = [os.path.splitext(name)[0] + ".npy" for name in names]
            self.assertEqual(said, [str(out / name) for name in want])
            self.assertEqual(sorted(os.listdir(out)), sorted(want))
            for i, name in enumerate(want):
                np.testing.assert_array_equal(np.load(out / name), [i, 7, 12])

    def test_refuses_a_folder(self):
        rows = pickle.dumps([0, 7, 12])
        for i, (says, files) in enumerate([
            ("there is no file of the labels", {LABELS + ".pkl": None}),
            ("there is no file of the segments shown second", {SECOND + ".pkl": None}),
            ("can both be the labels", {"label_human": rows}),
            ("can both be the segments shown first", {FIRST + ".npy": rows}),
            ("are of different tasks", {SECOND + ".pkl": None, "indices_2_num_3_len_5_y.pkl": rows}),
            (f"{LABELS}.pkl cannot be read: it asks for", {LABELS + ".pkl": pickle.dumps(Evil(os.system, ("true",)))}),
        ]):
            out = self.dir / f"out-{i}"
            ran = subprocess.run([sys.executable, SCRIPT, self.folder(f"in-{i}", **files), out], capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stdout, out.exists()), (1, "", False))
            self.assertRegex(ran.stderr, "^arrays.py: .*" + says)

    def test_overwrites_nothing(self):
        folder = self.folder()
        before = {f.name: f.read_bytes() for f in folder.iterdir()}
        for out in (folder, self.dir):
            with self.assertRaisesRegex(arrays.Refused, "nothing is overwritten"):
                list(arrays.convert(folder, out))
        self.assertEqual({f.name: f.read_bytes() for f in folder.iterdir()}, before)
        self.assertEqual(os.listdir(self.dir), [folder.name])

    def test_help_names_what_it_reads(self):
        said = subprocess.run([sys.executable, SCRIPT, "--help"], check=True, capture_output=True, text=True).stdout
        for word in ("tiebreak import --labels", "human_label…", "8 MiB", "200,000 numbers"):
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main()
