package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// largestPicture is the size of a picture of a document, at most.
const largestPicture = 200 << 10

// smallFigures are the figures of a report that scroll sideways where nothing says so, or of which a text is less than 8.9 pixels high.
const smallFigures = `[...document.querySelectorAll("figure .scroll")].flatMap((box) => {
	const svg = box.querySelector("svg"), scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
	const least = Math.min(...[...svg.querySelectorAll("text")].map((e) => scale * parseFloat(getComputedStyle(e).fontSize)));
	const silent = box.scrollWidth > box.clientWidth && document.querySelector(".sideways").offsetHeight === 0;
	return [silent && "scrolls", least < 8.9 && "text of " + least].filter(Boolean).map((wrong) => box.ariaLabel + " " + wrong);
})`

// TestBrowserDocuments makes the pictures of README.md and docs/tutorial.md (go tool task pictures): the page of
// an annotator after six answers, and the page of a session with thirty. On a phone the figures of its report
// fit into the width and stay readable.
func TestBrowserDocuments(t *testing.T) {
	t.Parallel()
	browser, data, addr := startBrowser(t), t.TempDir(), freeAddr(t)
	session := func(seed string) (id, link string) {
		return newLink(t, data, addr, "--env", "driver", "--title", "Teach a car to drive", "--budget", "30", "--adopt-after", "3", "--seed", seed)
	}
	_, labelling := session("1")
	watched, simulated := session("6")
	server := startServer(t, "serve", "--data", data, "--addr", addr)

	b := newPerson(t, browser)
	b.open(labelling)
	b.enter("[data-start]")
	for range 6 {
		b.answer(kb.ArrowLeft)
	}
	b.ahead(2)
	b.moving("duo-player canvas", 2, 2)
	b.press(" ") // pauses
	evaluate[bool](b, `document.querySelector("duo-player").seek(1.7) ?? true`)
	const cut = `(() => {
		for (const [part, text] of [["left", "about 12 minutes left"], ["learning", "learning from the last 12 answers …"]]) {
			const note = document.querySelector("[data-" + part + "-text]");
			note.hidden = false;
			note.textContent = text;
		}
		return [...document.querySelectorAll(".bar .title, .bar small")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent).join(", ");
	})()`
	b.shot("label")
	if what := evaluate[string](b, cut); what != "" {
		t.Errorf("the header of the page cuts off %s", what)
	}

	if status, _, stderr := cli(t, "simulate", "--url", simulated, "--expert", "seeing", "--answers", "30", "--seed", "3"); status != 0 {
		t.Fatalf("simulate: %s", stderr)
	}
	r := newPerson(t, browser)
	r.open(signInLink.FindString(server.out.String()))
	r.enter("[data-signin]")
	r.waitFor("[data-new]")
	r.open("http://" + addr + "/sessions/" + watched)
	r.resize(1280, 800)
	r.wait(`document.querySelector("[data-training]").innerText.includes("No training is under way")`)
	r.moving(".leader canvas", 1, 1)
	r.shot("dashboard")

	report := filepath.Join(t.TempDir(), "report.html")
	mustCLI(t, "report", "--session", watched, "--data", data, "-o", report)
	r.open("file://" + report)
	for _, width := range []int64{390, 360} {
		r.resize(width, 844)
		r.noSideways(int(width))
		r.shot(fmt.Sprintf("report-%d", width))
		if wrong := evaluate[[]string](r, smallFigures); len(wrong) > 0 {
			t.Errorf("figures of a report %d pixels wide: %v", width, wrong)
		}
	}

	if dir := os.Getenv("TIEBREAK_SCREENSHOTS"); dir != "" {
		for _, name := range []string{"label", "dashboard"} {
			file, err := os.Stat(filepath.Join(dir, name+".png"))
			if err != nil || file.Size() > largestPicture {
				t.Errorf("%s.png: %v, more than %d bytes", name, err, largestPicture)
			}
		}
	}
}
