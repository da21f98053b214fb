package questionpage

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/look/questions"
	"tiebreak/internal/look/questions/questionstest"
)

// walk returns the drawing of a walk over fields of Chain, with a note over it.
func walk(t *testing.T, note string, fields ...int) []byte {
	t.Helper()
	return questionstest.Walk(t, chain.New(chain.Config{}), note, fields...)
}

func measured(t *testing.T, s questionstest.Shelf, rows ...record.Labelled) []questions.Question {
	t.Helper()
	list := must.Get(questions.Measure(t.Context(), rows, s.Media, nil))(t)
	return list
}

// report writes the report of rows and returns its page.
func report(t *testing.T, dir string, s questionstest.Shelf, spec idrl.SessionSpec, list []questions.Question) string {
	t.Helper()
	must.Do(t, (Report{Spec: spec, Questions: list, Media: s.Media}).Write(t.Context(), dir))
	b := must.Get(os.ReadFile(filepath.Join(dir, PageFile)))(t)
	return string(b)
}

// article returns the part of a page about question n.
func article(t *testing.T, page string, n int) string {
	t.Helper()
	for part := range strings.SplitSeq(page, "<article ") {
		if part, _, _ = strings.Cut(part, "</article>"); strings.Contains(part, fmt.Sprintf(` id="q%d"`, n)) {
			return part
		}
	}
	t.Fatalf("no question %d on the page", n)
	return ""
}

func TestPage(t *testing.T) {
	s := questionstest.Shelf{
		"a": walk(t, "", 0, 1, 2, 3), "aa": walk(t, "", 0, 1, 2, 3),
		"b": walk(t, "", 12, 11, 10, 9), "bb": walk(t, "", 12, 11, 10, 9),
		"c": walk(t, "", 15, 16, 17, 18), "d": walk(t, "", 5, 6, 7, 8),
	}
	undone := questionstest.Ask(3, "a1", idrl.CantTell, "c", "d")
	undone.Withdrawn = true
	list := measured(t, s, questionstest.Ask(1, "a1", idrl.ChoseB, "a", "b"), questionstest.Ask(2, "a1", idrl.ChoseA, "bb", "aa"), undone, questionstest.Ask(4, "a1", idrl.Equal, "missing", "a"))
	dir := filepath.Join(t.TempDir(), "asked")
	page := report(t, dir, s, idrl.SessionSpec{ID: "s", Title: "T", Env: "chain"}, list)
	a, b := decoded(t, s["a"]), decoded(t, s["b"])
	pair, err := measure.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	first := article(t, page, 1)
	for _, want := range []string{
		fmt.Sprintf("<dt>Difference of pose</dt><dd>%.2f</dd>", pair.Pose), fmt.Sprintf("<dt>Difference of path</dt><dd>%.2f</dd>", pair.Path),
		fmt.Sprintf("<dt>Difference of place</dt><dd>%.2f</dd>", pair.Place), fmt.Sprintf("Left: motion %.2f<", a.Motion().World), fmt.Sprintf("Right: motion %.2f<", b.Motion().World),
		"a1, after 1.0 s, log row 1", "Chose clip b.", "Clip a, then clip b, as the annotator saw them.", "g0.p1 and g0.p2.", "0.125 nats", "<dd>75 %</dd>", "easy", "answerable",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	if q := article(t, page, 2); !strings.Contains(q, `href="#q1">repeats 1<`) {
		t.Errorf("the repeat:\n%s", q)
	}
	if q := article(t, page, 3); !strings.Contains(q, `question-card withdrawn"`) {
		t.Errorf("the withdrawn answer:\n%s", q)
	}
	if q := article(t, page, 4); !strings.Contains(q, "there is no clip") || strings.Contains(q, "<img") {
		t.Errorf("a clip that is missing:\n%s", q)
	}
	for _, bad := range []string{"<script", "style=", "<style", "onclick", "onload", "http"} { // it can be read under a strict policy
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if strings.Count(page, "<img ") != 6 {
		t.Errorf("%d strips on the page, want 6", strings.Count(page, "<img "))
	}
	for _, id := range []idrl.ClipID{"a", "b", "c", "d"} {
		checkStrip(t, filepath.Join(dir, stripPath(id)), stripFrames)
	}
	again := filepath.Join(t.TempDir(), "again")
	if report(t, again, s, idrl.SessionSpec{ID: "s", Title: "T", Env: "chain"}, list) != page || !bytes.Equal(file(t, dir, stripPath("a")), file(t, again, stripPath("a"))) {
		t.Error("the same questions give other bytes")
	}
	err = Report{Questions: list, Media: s.Media}.Write(t.Context(), dir)
	if idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("into the same folder: %v, want a conflict", err)
	}
	if err := (Report{Questions: list[1:], Media: s.Media, Overwrite: true}).Write(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if rest := string(file(t, dir, PageFile)); strings.Contains(rest, `href="#q1"`) || !strings.Contains(rest, "repeats 1<") {
		t.Error("a link to a question that is not on the page")
	}
}

func file(t *testing.T, dir, name string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
	return b
}

func decoded(t *testing.T, media []byte) *measure.View {
	t.Helper()
	c := must.Get(clip.Decode(media))(t)
	v := must.Get(measure.New(c))(t)
	return v
}

// A question of an arena names whom it compared, and why these.
func TestArenaPage(t *testing.T) {
	s := questionstest.Shelf{"a": walk(t, "", 0, 1, 2, 3), "b": walk(t, "", 12, 11, 10, 9)}
	spec := idrl.SessionSpec{ID: "s", Title: "T", Env: "chain", Arena: idrl.Arena{Entrants: []idrl.Entrant{{Title: "slow"}, {Title: "lost"}, {Title: "fast"}}}}.AsArena()
	asked := questionstest.Ask(1, "a1", idrl.ChoseB, "a", "b")
	asked.Why = record.Why{Purpose: record.ForValue, Answerable: 0.75}
	asked.Clips = []idrl.Clip{{ID: "a", From: idrl.EntrantTrajectory(2, 0)}, {ID: "b", From: idrl.EntrantTrajectory(0, 0)}}
	both := "It compared “fast” (clip a) with “slow” (clip b). "
	for _, test := range []struct {
		name   string
		change func()
		want   string
	}{
		{"without a test", func() {}, both + "The strategy IGR chose it for what it tells about all strengths.<"},
		{"with a test", func() { spec.Arena.Detect = 0.7 }, both + "The test for a winner wanted an answer about these two; the strategy IGR chose among the questions about them.<"},
		{"of recordings", func() { spec.Arena.Tasks = []idrl.ArenaTask{{}} }, "among the questions about them. The task is one about which they were asked least.<"},
		{"a clip that is not known", func() { asked.Clips = asked.Clips[:1] }, "Whom it compared is not recorded."},
	} {
		test.change()
		q := article(t, report(t, filepath.Join(t.TempDir(), "asked"), s, spec, measured(t, s, asked)), 1)
		if !strings.Contains(q, test.want) || strings.Contains(q, "Candidates trained") {
			t.Errorf("%s: no %q in\n%s", test.name, test.want, q)
		}
	}
}

// checkStrip reports an error unless a file is a strip of so many frames, each of which shows
// something and differs from the one before.
func checkStrip(t *testing.T, path string, frames int) {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	img := must.Get(png.Decode(bytes.NewReader(b)))(t)
	w := (img.Bounds().Dx() + 4) / frames
	var last []byte
	for k := range frames {
		box := image.Rect(k*w, 0, (k+1)*w-4, img.Bounds().Dy())
		colours, pixels := map[byte]bool{}, []byte(nil)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				colour := img.(*image.Paletted).ColorIndexAt(x, y)
				colours[colour], pixels = true, append(pixels, colour)
			}
		}
		if len(colours) < 5 || bytes.Equal(pixels, last) {
			t.Errorf("%s: frame %d has %d colours, or is the one before", path, k, len(colours))
		}
		last = pixels
		if _, _, _, alpha := img.At(box.Max.X, 0).RGBA(); k < frames-1 && alpha != 0 {
			t.Errorf("%s: between frames %d and %d it is not transparent", path, k, k+1)
		}
	}
}

// What others wrote is text, wherever it stands, and no path.
func TestHostileNames(t *testing.T) {
	const bad = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	s := questionstest.Shelf{"../../../etc/passwd": walk(t, bad, 0, 1, 2, 3), "b": walk(t, "", 12, 11, 10, 9)}
	row := questionstest.Ask(1, bad, idrl.Skip, "../../../etc/passwd", "b")
	row.Answer.Reason, row.Why.First, row.Why.Second = bad, bad, bad
	dir := filepath.Join(t.TempDir(), "asked")
	page := report(t, dir, s, idrl.SessionSpec{ID: bad, Title: bad, Env: bad, Kind: bad}, measured(t, s, row))
	if strings.Contains(page, "<script") || strings.Contains(page, "<img src=x") || strings.Count(page, "&lt;script&gt;") < 8 {
		t.Errorf("the page:\n%s", page)
	}
	names, err := filepath.Glob(filepath.Join(dir, stripsDir, "*.png"))
	if err != nil || len(names) != 2 || !strings.Contains(page, `src="`+stripPath("../../../etc/passwd")+`"`) || strings.Contains(page, "..") {
		t.Errorf("strips %q, %v", names, err)
	}
}
