package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	for _, test := range []struct {
		name, url   string
		status      int
		contentType string
	}{
		{"script", Base() + "/js/annotate.js", 200, "text/javascript; charset=utf-8"},
		{"service worker", Base() + "/js/offline.js", 200, "text/javascript; charset=utf-8"},
		{"style", Base() + "/css/app.css", 200, "text/css; charset=utf-8"},
		{"icon", Base() + "/icon.svg", 200, "image/svg+xml"},
		{"another version", "/static/000000000000/js/annotate.js", 404, ""},
		{"no version", "/static/js/annotate.js", 404, ""},
		{"missing", Base() + "/js/none.js", 404, ""},
		{"folder", Base() + "/js", 404, ""},
		{"above", Base() + "/../embed.go", 404, ""},
		{"the program", Base() + "/embed.go", 404, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.URL.Path = test.url
			Handler().ServeHTTP(w, r)
			if w.Code != test.status {
				t.Fatalf("status = %d, want %d", w.Code, test.status)
			}
			if got := w.Header().Get("Content-Type"); test.status == 200 && got != test.contentType {
				t.Errorf("type = %q, want %q", got, test.contentType)
			}
			if got := w.Header().Get("Cache-Control"); strings.Contains(got, "immutable") != (test.status == 200) {
				t.Errorf("Cache-Control = %q with status %d", got, w.Code)
			}
			if got := w.Header().Get("Service-Worker-Allowed"); (got == "/sessions/") != (test.name == "service worker") {
				t.Errorf("Service-Worker-Allowed = %q", got)
			}
		})
	}
}

// TestModules holds every module to the rules of the house: types are checked,
// imports are relative and exist, only entry modules touch the document's tree
// as they load, and nothing needs a policy that forbids inline code to yield.
func TestModules(t *testing.T) {
	imports := regexp.MustCompile(`(?m)from "([^"]+)"|import\("([^"]+)"\)`)
	forbidden := regexp.MustCompile(`\beval\(|new Function|innerHTML|insertAdjacentHTML|https?://(?:[^w]|w[^w])|setAttribute\("style"`)
	names, err := fs.Glob(FS, "js/*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	for _, name := range names {
		b, err := FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if !strings.HasPrefix(text, "// @ts-check\n") {
			t.Errorf("%s does not begin with // @ts-check", name)
		}
		if m := forbidden.FindString(text); m != "" {
			t.Errorf("%s contains %q", name, m)
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			to := m[1] + m[2]
			_, err := FS.ReadFile(path.Join("js", to))
			if err != nil && m[2] != "" { // types, which a browser does not fetch
				_, err = os.Stat(filepath.Join("js", strings.TrimSuffix(to, ".js")+".d.ts"))
			}
			if err != nil || !strings.HasPrefix(to, "./") {
				t.Errorf("%s imports %q, which is not here", name, to)
			}
		}
		entry := name == "js/annotate.js" || name == "js/asked-page.js" || name == "js/join.js" || name == "js/dashboard.js" || name == "js/known.js" || name == "js/new-session.js" || name == "js/sample.js"
		if strings.Contains(text, "customElements.define") && !entry {
			t.Errorf("%s defines an element; only entry modules do", name)
		}
	}
}

// TestImports: a page is told of all its modules, and no module belongs to no page.
func TestImports(t *testing.T) {
	of := Modules("join.js")
	if of[0] != "join.js" || !slices.Contains(of, "rejoin.js") || !slices.Contains(of, "clip.js") || slices.Contains(of, "duo-player.js") {
		t.Errorf("modules of join.js = %v, want itself first, rejoin.js, clip.js through others, and not duo-player.js", of)
	}
	label := append(Modules("annotate.js"), "judge.js") // which asks for it in sessions about success
	if label[0] != "annotate.js" || !slices.Contains(label, "view.js") || slices.Contains(label, "interval-chart.js") {
		t.Errorf("modules of annotate.js = %v, want itself first, view.js through others, and not interval-chart.js", label)
	}
	used := slices.Concat(of, label, Modules("dashboard.js"), Modules("asked-page.js"), Modules("arena.js"), Modules("workers.js"), Modules("known.js"), Modules("forget.js"), Modules("new-session.js"), Modules("recordings.js"), Modules("sample.js"), Modules("video.js"), []string{path.Base(worker)})
	names, err := fs.Glob(FS, "js/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !slices.Contains(used, path.Base(name)) {
			t.Errorf("no page uses %s", name)
		}
	}
}

// TestPaints holds both themes to a colour for every paint that draw.js knows.
func TestPaints(t *testing.T) {
	css, err := FS.ReadFile("css/app.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there is no dark theme")
	}
	paints := []string{
		"ground", "surface", "mark", "detail", "wall", "agent", "agentfg", "other", "otherfg", "focus", "ink",
		"object0", "object1", "object2", "object3", "object4", "object5", "object6", "object7", "object8", "object9",
	}
	for _, p := range paints {
		for theme, text := range map[string]string{"light": light, "dark": dark} {
			if !strings.Contains(text, "--paint-"+p+": #") {
				t.Errorf("the %s theme has no colour for %s", theme, p)
			}
		}
	}
}

// TestCompressed: whoever accepts gzip gets the same bytes, compressed.
func TestCompressed(t *testing.T) {
	get := func(accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, Base()+"/js/draw.js", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, r)
		return w
	}
	plain, packed := get(""), get("gzip, br")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings are %q and %q", plain.Header().Get("Content-Encoding"), packed.Header().Get("Content-Encoding"))
	}
	small := packed.Body.Len()
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(b, plain.Body.Bytes()) {
		t.Errorf("the compressed file differs: %v", err)
	}
	if small >= plain.Body.Len()/2 {
		t.Errorf("%d bytes compressed, %d plain", small, plain.Body.Len())
	}
}
