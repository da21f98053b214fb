package main

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp/kb"
	"github.com/gorilla/websocket"
)

var (
	//go:embed testdata/speed.js
	timeQuestions string
	//go:embed testdata/empty.js
	timeNothing string
)

// keyTimes are in ms from the release of a key.
type keyTimes struct{ Frames, Acks []float64 }

// timesEmpty measures a page that does nothing, and an echo over a socket.
func (b *tab) timesEmpty(keys int) keyTimes {
	b.t.Helper()
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sock, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer sock.Close()
		for {
			kind, p, err := sock.ReadMessage()
			if err != nil || sock.WriteMessage(kind, p) != nil {
				return
			}
		}
	}))
	b.t.Cleanup(server.Close)
	evaluate[bool](b, fmt.Sprintf("(%s)(%q)", timeNothing, strings.Replace(server.URL, "http", "ws", 1)))
	for n := 1; n <= keys; n++ {
		b.press(kb.ArrowLeft)
		b.wait(fmt.Sprintf("times.Frames.length === %d && times.Acks.length === %d", n, n))
	}
	return evaluate[keyTimes](b, "times")
}

// timesKeys answers questions of an environment by keyboard and measures the page. The first two rows are of the
// next question and of the acknowledgement.
func (b *tab) timesKeys(env string, keys int) []measure {
	b.t.Helper()
	data, addr := b.t.TempDir(), freeAddr(b.t)
	_, link := newLink(b.t, data, addr, "--env", env)
	startServer(b.t, "serve", "--data", data, "--addr", addr)
	b.join(link, "Ann")
	weight := evaluate[float64](b, `performance.getEntries().filter((e) => (e.entryType === "navigation" || e.entryType === "resource") && !e.name.includes("/clips/"))
		.reduce((sum, e) => sum + e.transferSize, 0)`)
	evaluate[bool](b, fmt.Sprintf("((%s)(), true)", timeQuestions))
	var early holdings
	for n := range keys {
		if n == keys/4 {
			early = b.holds()
		}
		b.strikes([]string{kb.ArrowLeft, kb.ArrowRight}[n%2])
	}
	b.ready()
	late := b.holds()
	b.t.Logf("%s: the page holds after %d answers %+v, after %d %+v", env, keys/4, early, keys, late)
	got := evaluate[keyTimes](b, "times")
	if len(got.Frames) != keys || len(got.Acks) != keys {
		b.fatalf("%d answers gave %d frames and %d acknowledgements", keys, len(got.Frames), len(got.Acks))
	}
	frame := map[string]float64{"driver": 60, "ant": 150}[env]
	return []measure{
		{what: env + ": key to the next question, p95", value: p95(got.Frames), limit: frame, unit: "ms"},
		{what: env + ": key to acknowledgement, p95", value: p95(got.Acks), limit: 50, unit: "ms"},
		{what: env + ": page without clips", value: weight / 1000, limit: 100, unit: "KB"},
		{what: env + ": script memory, for an answer", value: (late.heap - early.heap) / 1024 / float64(keys-keys/4), limit: 4, unit: "KiB"},
		{what: env + ": nodes of the page more", value: float64(late.nodes - early.nodes), limit: 50},
		{what: env + ": listeners more", value: float64(late.listeners - early.listeners), limit: 20},
		{what: env + ": sockets opened", value: float64(b.opened()), limit: 1},
	}
}

// strikes answers the question on screen by a key as soon as it takes answers, after a break if one is proposed.
func (b *tab) strikes(key string) {
	b.t.Helper()
	b.wait("document.body.dataset.gate === 'open' || document.querySelector('dialog[open]') !== null")
	if evaluate[bool](b, "document.querySelector('dialog[open]') !== null") {
		b.press(kb.Escape)
	}
	b.ready()
	b.press(key)
}

// holdings are what a page holds after a collection.
type holdings struct {
	heap             float64 // bytes of the script's heap and of its buffers
	nodes, listeners int64
}

func (b *tab) holds() holdings {
	b.t.Helper()
	c := chromium{b}
	call(c, heapprofiler.CollectGarbage, cdp.Empty{})
	heap := call(c, runtime.GetHeapUsage, cdp.Empty{})
	dom := call(c, memory.GetDOMCounters, cdp.Empty{})
	return holdings{heap: heap.UsedSize + heap.BackingStorageSize, nodes: dom.Nodes, listeners: dom.JsEventListeners}
}
