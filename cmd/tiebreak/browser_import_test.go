package main

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"testing"
)

// A researcher imports recordings by keyboard alone: from the form of sessions to the page, where the only data set is chosen, what the import takes, its end,
// and the form with the new environment. Then one uploads the same data set as a zip file, which is in the list when it was unpacked. The page fits a phone, and passes the checks of accessibility.
func TestBrowserImport(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr, shelf := t.TempDir(), freeAddr(t), filepath.Join(t.TempDir(), "shelf")
	manyVideos(t, filepath.Join(shelf, "pens"))
	server := startServer(t, "serve", "--data", data, "--addr", addr, "--recordings", shelf)
	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.enter("[data-new]")
	b.enter("[data-recordings]")
	b.waitFor("[data-set='shelf/pens']")
	b.accessible("the data sets")
	b.tabTo("input[name=name]")
	b.press("pens")
	b.tabTo("input[name=title]")
	b.press("Pens on paper")
	b.enter(".more-fields summary")
	b.tabTo("input[name=policy_column]")
	b.press("policy")
	b.tabTo("input[name=clip_seconds]")
	b.press("0.5")
	b.enter("[data-check]")
	b.wait("document.querySelector('[data-planned]')?.innerText.includes('6 episodes, 56 frames at 10 a second')")
	b.accessible("what an import takes")
	b.noSideways(1280)
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.resize(1280, 800)
	b.enter("[data-import-now]")
	b.waitFor("[data-import=pens] [data-done]") // without a reload by hand
	b.accessible("an import that has ended")
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const chosen = new DataTransfer();
		chosen.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], "More Pens.zip"));
		document.querySelector("[data-upload] input[type=file]").files = chosen.files;
		return true;
	})()`, base64.StdEncoding.EncodeToString(zipOf(t, filepath.Join(shelf, "pens")))))
	b.enter("[data-upload-now]")
	b.waitFor("[data-set='uploaded/more-pens'] input:checked") // without a reload by hand
	b.waitFor("[data-uploaded=more-pens] [data-discard]")
	b.accessible("an upload")
	b.noSideways(1280)
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.resize(1280, 800)
	b.enter("[data-import=pens] a.primary")
	b.waitFor("[data-env=rollouts-pens] input:checked")
}
