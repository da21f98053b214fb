package web_test

import (
	"bytes"
	"html"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/templates"
	"tiebreak/web"
	"tiebreak/web/wire"
)

// guided gives the environment driver a guide.
func guided(c *web.Config) {
	list := slices.Clone(catalogue)
	c.Catalogue = func() []web.EnvChoice { return list }
	list[0].Guide = templates.Guide{
		Purpose: "Judge the drive.", Look: []string{"Is it smooth?"},
		Legend: []templates.Figure{{Name: "arrow", SVG: `<svg id="arrow"></svg>`, Text: "Arrow: the speed."}},
	}
}

// TestGuide: what the environment brings is shown where the researcher has said nothing,
// the legend everywhere, and plain text of earlier sessions as points.
func TestGuide(t *testing.T) {
	b := newBench(t, guided)
	c := b.annotator("s1")
	for _, path := range []string{"/sessions/s1/label", b.link("s1")} {
		r := b.get(c, path)
		if missing := r.lacks("<li>Look.</li>", "<li>Choose.</li>", `<svg id="arrow">`, "Arrow: the speed."); missing != nil {
			t.Errorf("%s lacks %q", path, missing)
		}
		if r.lacks("Judge the drive.") == nil {
			t.Errorf("%s shows the environment's purpose beside the researcher's instructions", path)
		}
	}
	b.s1.spec.Instructions = ""
	if r := b.get(c, "/sessions/s1/label"); r.lacks("Judge the drive.", "<li>Is it smooth?</li>") != nil {
		t.Errorf("without instructions the page lacks %q", r.lacks("Judge the drive.", "<li>Is it smooth?</li>"))
	}
	b.s1.spec.Instructions, b.s1.spec.InstructionsFormat = "Prefer **calm** <script>alert(1)</script> ![what it is](legend:arrow)", idrl.Markdown
	r := b.get(c, "/sessions/s1/label")
	want := []string{"<strong>calm</strong> &lt;script&gt;", `<span class="figure" role="img" aria-label="what it is"><svg id="arrow">`}
	if r.lacks(want...) != nil || strings.Contains(r.body, "<script>alert") {
		t.Errorf("of Markdown the page lacks %q", r.lacks(want...))
	}
}

func TestAcknowledge(t *testing.T) {
	b := newBench(t, guided)
	c := b.browser()
	link := b.link("s1")
	if r := b.get(c, link); r.lacks(`name="version" value="1"`) != nil {
		t.Fatalf("the welcome page does not say which version it shows")
	}
	if r := b.post(c, link, url.Values{"name": {"Ada"}, "version": {"1"}}); r.status != 303 {
		t.Fatalf("join: status %d", r.status)
	}
	seen := func(want int64) {
		t.Helper()
		if got, err := b.db.AcknowledgedInstructions(t.Context(), "s1", "a1"); got != want || err != nil {
			t.Errorf("acknowledged: %d, %v; want %d", got, err, want)
		}
	}
	seen(1)
	if r := b.get(c, "/sessions/s1/label"); r.lacks(`data-acknowledged="1"`, `data-instructions-version="1"`) != nil {
		t.Errorf("the page lacks %q", r.lacks(`data-acknowledged="1"`, `data-instructions-version="1"`))
	}
	must.Get(b.db.SetInstructions(t.Context(), "s1", idrl.Markdown, "New", "ada", time.Now()))(t)
	const path = "/sessions/s1/instructions/acknowledge"
	for _, test := range []struct {
		version string
		status  int
		want    int64
	}{{"3", 400, 1}, {"x", 400, 1}, {"", 400, 1}, {"-1", 400, 1}, {"2", 204, 2}} {
		if r := b.post(c, path, url.Values{"version": {test.version}}); r.status != test.status {
			t.Errorf("acknowledge %q: status %d, want %d", test.version, r.status, test.status)
		}
		seen(test.want)
	}
	if r := b.post(b.browser(), path, url.Values{"version": {"1"}}); r.status != 403 {
		t.Errorf("a stranger acknowledges: status %d", r.status)
	}
	if r := b.post(b.annotator("s2"), path, url.Values{"version": {"1"}}); r.status != 403 {
		t.Errorf("an annotator of another session acknowledges: status %d", r.status)
	}
}

// upload sends the form of the instructions with a file.
func (b *bench) upload(c *http.Client, fields map[string]string, file []byte) reply {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			b.t.Fatal(err)
		}
	}
	if file != nil {
		part, err := w.CreateFormFile("picture", "../../etc/passwd.png")
		if err == nil {
			_, err = part.Write(file)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.send(c, http.MethodPost, "/sessions/s1/instructions", &body, http.Header{"Content-Type": {w.FormDataContentType()}})
}

func smallPicture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))))
	return b.Bytes()
}

var pictureCode = regexp.MustCompile(`picture:([0-9a-f]{16})`)

// TestEditInstructions goes through what a researcher does: preview, upload, publish, remove.
func TestEditInstructions(t *testing.T) {
	b := newBench(t, guided)
	c := b.researcher()
	if r := b.get(c, "/sessions/s1/settings"); r.lacks(`href="/sessions/s1/instructions"`) != nil {
		t.Error("the session's page does not lead to its instructions")
	}
	if r := b.get(c, "/sessions/s1/instructions"); r.status != 200 || r.lacks("Look.\n\nChoose.", "This version is plain text", "version 1", "![](legend:arrow)") != nil {
		t.Errorf("status %d, lacks %q", r.status, r.lacks("Look.\n\nChoose.", "This version is plain text", "version 1", "![](legend:arrow)"))
	}
	r := b.upload(c, map[string]string{"text": "Prefer *calm* drives.", "do": "preview"}, nil)
	if r.status != 200 || r.lacks("Preview: not published yet", "<em>calm</em>") != nil {
		t.Errorf("preview: status %d, lacks %q", r.status, r.lacks("Preview: not published yet", "<em>calm</em>"))
	}
	r = b.upload(c, map[string]string{"text": "Kept.", "do": "upload"}, smallPicture(t))
	code := pictureCode.FindStringSubmatch(r.body)
	if r.status != 200 || r.lacks("Kept.") != nil || code == nil {
		t.Fatalf("upload: status %d: %s", r.status, r.body)
	}
	text := "Like this: ![a grey box](" + code[0] + ")"
	r = b.upload(c, map[string]string{"text": text, "do": "publish"}, nil)
	spec, err := b.db.Spec(t.Context(), "s1")
	want := idrl.Instructions{Version: 2, Format: idrl.Markdown, Text: text}
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/instructions" || spec.CurrentInstructions() != want || b.s1.follows != 1 || err != nil {
		t.Errorf("publish: status %d to %q, %+v, followed %d times, %v", r.status, r.header.Get("Location"), spec.CurrentInstructions(), b.s1.follows, err)
	}
	if r := b.get(c, "/sessions/s1/instructions"); r.lacks("Earlier versions", "Version 1", "Look.\n\nChoose.") != nil {
		t.Errorf("of earlier versions the page lacks %q", r.lacks("Earlier versions", "Version 1", "Look.\n\nChoose."))
	}
	r = b.upload(c, map[string]string{"text": text, "do": "remove " + code[1]}, nil)
	if r.status != 409 || r.lacks("take it out of them first") != nil {
		t.Errorf("remove what is shown: status %d", r.status)
	}
	b.upload(c, map[string]string{"text": "None.", "do": "publish"}, nil)
	r = b.upload(c, map[string]string{"text": "None.", "do": "remove " + code[1]}, nil)
	if r.status != 200 || strings.Contains(r.body, "<img") {
		t.Errorf("remove: status %d, and the picture is still there: %v", r.status, strings.Contains(r.body, "<img"))
	}
}

func TestInstructionsRefused(t *testing.T) {
	b := newBench(t, guided)
	c := b.researcher()
	for _, test := range []struct {
		name, text, do, says string
		file                 []byte
		status               int
	}{
		{"too long", strings.Repeat("x", idrl.MaxInstructions+1), "publish", "at most 4000 characters", nil, 400},
		{"a picture from elsewhere", "![](https://example.org/x.png)", "publish", "is not here", nil, 400},
		{"a picture of no session", "![](picture:0123456789abcdef)", "preview", "is not here", nil, 400},
		{"a name that is none in the legend", "![](legend:cannon)", "publish", "is not here", nil, 400},
		{"no file", "Kept.", "upload", "Choose a picture", nil, 400},
		{"no picture", "Kept.", "upload", "PNG, JPEG, GIF or WebP", []byte("<svg onload=alert(1)>"), 400},
		{"too large a picture", "Kept.", "upload", "1 to 300 KB", append(smallPicture(t), make([]byte, 310_000)...), 400},
		{"a megabyte", "Kept.", "upload", "too large", make([]byte, 1<<20), 413},
		{"a megabyte of text", strings.Repeat("x", 1<<20), "publish", "too large", nil, 413},
		{"remove nothing", "Kept.", "remove ../../x", "no picture", nil, 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := b.upload(c, map[string]string{"text": test.text, "do": test.do}, test.file)
			if r.status != test.status || r.lacks(test.says) != nil {
				t.Errorf("status %d, want %d; says %q: %v", r.status, test.status, test.says, r.lacks(test.says) == nil)
			}
		})
	}
	if spec, err := b.db.Spec(t.Context(), "s1"); spec.CurrentInstructions().Version != 1 || err != nil {
		t.Errorf("something was published: %+v, %v", spec.CurrentInstructions(), err)
	}
	for _, stranger := range []*http.Client{b.browser(), b.annotator("s1")} {
		if r := b.upload(stranger, map[string]string{"text": "Mine.", "do": "publish"}, nil); r.status != 403 {
			t.Errorf("somebody who is no researcher publishes: status %d", r.status)
		}
		if r := b.get(stranger, "/sessions/s1/instructions"); r.status != 403 {
			t.Errorf("somebody who is no researcher opens the form: status %d", r.status)
		}
	}
}

// TestPictures: the people of a session see its pictures, as what they are; nobody else does.
func TestPictures(t *testing.T) {
	b := newBench(t, guided)
	c := b.researcher()
	file := smallPicture(t)
	code := pictureCode.FindStringSubmatch(b.upload(c, map[string]string{"do": "upload"}, file).body)
	if code == nil {
		t.Fatal("the picture was not taken")
	}
	path := "/sessions/s1/pictures/" + code[1]
	for _, who := range []*http.Client{c, b.annotator("s1")} {
		r := b.get(who, path)
		h := r.header
		if r.status != 200 || r.body != string(file) || h.Get("Content-Type") != "image/png" || h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("status %d, %d bytes, headers %v", r.status, len(r.body), h)
		}
	}
	for _, who := range []*http.Client{b.browser(), b.annotator("s2")} {
		if r := b.get(who, path); r.status != 403 {
			t.Errorf("another person: status %d", r.status)
		}
	}
	for _, name := range []string{"0000000000000000", "..%2f..%2fx", "x"} {
		if r := b.get(c, "/sessions/s1/pictures/"+name); r.status != 404 {
			t.Errorf("picture %s: status %d", name, r.status)
		}
	}
	if r := b.get(c, "/sessions/s2/pictures/"+code[1]); r.status != 404 {
		t.Errorf("the picture in another session: status %d", r.status)
	}
}

// TestStatusTellsOfInstructions: an open page hears of new instructions.
func TestStatusTellsOfInstructions(t *testing.T) {
	b := newBench(t, guided)
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(&wire.ClientHello{Outbox: []idrl.AnswerID{}})
	b.s1.set(live.EventSettings, func() { b.s1.spec.InstructionsVersion = 2 })
	for {
		if m := string(tab.hear()); strings.Contains(m, `"t":"status"`) && strings.Contains(m, `"instructions_version":2`) {
			return
		}
	}
}

func TestPreviewOfNewSession(t *testing.T) {
	b := newBench(t, guided)
	c := b.researcher()
	r := b.post(c, "/sessions", form(map[string]string{"do": "preview", "env": "driver", "title": "", "instructions": ""}))
	if r.status != 200 || r.lacks("Judge the drive.", "Arrow: the speed.") != nil || r.lacks("Write something here.") == nil {
		t.Errorf("preview of what the environment brings: status %d, lacks %q", r.status, r.lacks("Judge the drive.", "Arrow: the speed."))
	}
	r = b.post(c, "/sessions", form(map[string]string{"do": "preview", "env": "driver", "instructions": "Prefer **calm**."}))
	r.body = html.UnescapeString(r.body) // of its frames
	if r.status != 200 || r.lacks("<strong>calm</strong>") != nil || len(b.sessions.created) != 0 {
		t.Errorf("preview: status %d, %d sessions made", r.status, len(b.sessions.created))
	}
}

// The purpose of a session is a sentence of the researcher's, or a ready one of the environment by
// its name, with its picture. The form proposes those, and shows the first page of annotators
// without making a session.
func TestPurposeOfASession(t *testing.T) {
	ready := templates.Figure{Name: "collect", Text: "Collect the blue fields.", SVG: "<svg data-picture></svg>"}
	b := newBench(t, func(c *web.Config) {
		guided(c)
		c.Catalogue()[0].Guide.Purposes = []templates.Figure{ready}
	})
	c := b.researcher()
	if r := b.get(c, "/sessions/new"); r.lacks(`<datalist id="purpose-ready">`, `value="Collect the blue fields."`, `list="purpose-ready"`) != nil {
		t.Errorf("the form lacks %q", r.lacks(`<datalist id="purpose-ready">`, `value="Collect the blue fields."`, `list="purpose-ready"`))
	}
	for _, test := range []struct {
		purpose string
		shows   []string
	}{
		{"collect", []string{"Collect the blue fields.", "data-picture", "two short clips", "data-preview"}},
		{"Walk far.", []string{`<span>Walk far.</span>`, "data-preview"}},
	} {
		form := url.Values{"title": {"T"}, "env": {"driver"}, "purpose": {test.purpose}, "do": {"preview"}}
		r := b.post(c, "/sessions", form)
		if r.body = html.UnescapeString(r.body); r.status != 200 || r.lacks(test.shows...) != nil {
			t.Errorf("preview of %q: status %d, lacks %q", test.purpose, r.status, r.lacks(test.shows...))
		}
	}
	if r := b.post(b.browser(), "/sessions", url.Values{"do": {"preview"}}); r.status == 200 {
		t.Error("a stranger sees the preview")
	}
	if len(b.sessions.created) > 0 {
		t.Errorf("the preview made %d sessions", len(b.sessions.created))
	}
}
