package web

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/view"
)

func TestBucket(t *testing.T) {
	b := newBucket(2, 3)
	start := time.Unix(1.8e9, 0)
	for i, test := range []struct {
		after time.Duration // since the start
		want  bool
	}{
		{0, true},
		{0, true},
		{0, true},
		{0, false},
		{400 * time.Millisecond, false},
		{500 * time.Millisecond, true},
		{500 * time.Millisecond, false},
		{time.Hour, true},
		{time.Hour, true},
		{time.Hour, true},
		{time.Hour, false}, // no more than the burst
	} {
		if got := b.take(1, start.Add(test.after)); got != test.want {
			t.Errorf("take %d = %v, want %v", i, got, test.want)
		}
	}
}

func TestEncodeState(t *testing.T) {
	why := record.Why{First: "p1", Second: "p2", Info: 0.5, PairStd: math.Inf(1)}
	b := encodeState(view.Status{
		Session: "s1", Seq: 2, Answers: 1, BasedOn: -1, Training: view.Training{Running: true, What: "solving"}, Learning: view.Learning{Answers: 3},
		Open:       []record.Assignment{{ID: "s1.1", Annotator: "a1", Why: why}},
		Recent:     []view.Asked{{Answer: idrl.Answer{Seq: 2, Annotator: "a1", Choice: idrl.ChoseB, ResponseMS: 7}, Undone: true, Why: why, Clips: []idrl.ClipID{"c1"}}},
		Annotators: []quality.AnnotatorStats{{Annotator: "a1", Answers: 4, Marked: 2, LeftHigh: 1}},
	}, nil, func(a idrl.AnnotatorID) bool { return a == "a1" })
	var got map[string]any
	must.Do(t, json.Unmarshal(b, &got))
	pair := map[string]any{"first": "p1", "second": "p2", "rivals": 0.0, "info": 0.5, "pair_std": 0.0, "purpose": "not recorded"}
	with := func(m map[string]any) map[string]any {
		for k, v := range pair {
			m[k] = v
		}
		return m
	}
	want := map[string]any{
		"t": "state", "state": "", "seq": 2.0, "answers": 1.0, "skipped": 0.0, "joined": 0.0, "budget": 0.0, "based_on": -1.0, "unlearnt": 3.0,
		"training": map[string]any{"running": true, "based_on": 0.0, "done": 0.0, "total": 0.0, "what": "solving", "left": "", "err": "", "cancel": false, "fixed": "", "cancelled": false},
		"regret":   []any{}, "statement": nil, "earlier": 0.0, "candidates": []any{}, "weights": []any{}, "network": nil, "annotators": []any{map[string]any{
			"id": "a1", "name": "", "answers": 4.0, "decisive": 0.0, "equal": 0.0, "cant_tell": 0.0, "skipped": 0.0, "undone": 0.0,
			"marked": 2.0, "left_out": false, "turned": 0.0, "median_ms": 0.0, "left_share": 0.0, "left_low": 0.0, "left_high": 1.0, "predicted": 0.0, "predicted_n": 0.0, "reversed": false,
		}},
		"open": []any{map[string]any{"assignment": "s1.1", "annotator": "a1", "here": true}}, // the rest is in the table of reserved questions
		"recent": []any{with(map[string]any{
			"seq": 2.0, "annotator": "a1", "choice": "b", "rating": 0.0, "undone": true, "left_out": false, "turned": false,
			"response_ms": 7.0, "at": "0001-01-01T00:00:00Z", "clips": []any{"/sessions/s1/clips/c1"},
		})},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state differs (-want +got):\n%s", diff)
	}
}

func TestOriginAllowed(t *testing.T) {
	for _, test := range []struct {
		host, origin string
		want         bool
	}{
		{"127.0.0.1:8080", "http://127.0.0.1:8080", true},
		{"localhost:8080", "http://localhost:8080", true},
		{"[::1]:8080", "http://[::1]:8080", true},
		{"127.0.0.1:8080", "http://localhost:8080", false},
		{"127.0.0.1:8080", "http://127.0.0.1:9090", false},
		{"127.0.0.1:8080", "", false},
		{"127.0.0.1:8080", "null", false},
		{"127.0.0.1:8080", "file://127.0.0.1:8080", false},
		{"rebound.example:8080", "http://rebound.example:8080", false}, // a name that an attacker points at us
		{"study.example", "https://study.example", true},
		{"inner:8080", "https://study.example", true}, // behind a proxy
		{"study.example", "http://study.example", false},
		{"study.example", "https://study.example.evil", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = test.host
		r.Header.Set("Origin", test.origin)
		if got := originAllowed(r, []string{"https://study.example"}); got != test.want {
			t.Errorf("host %s, origin %q: %v, want %v", test.host, test.origin, got, test.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want idrl.Kind
	}{
		{context.DeadlineExceeded, idrl.Unavailable},
		{context.Canceled, idrl.Unavailable},
		{errors.New("x"), idrl.Internal},
		{idrl.Errorf(idrl.Conflict, "x"), idrl.Conflict},
	} {
		if got := kindOf(test.err); got != test.want {
			t.Errorf("kind of %v = %d, want %d", test.err, got, test.want)
		}
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{"": "", "no such thing": "No such thing.", "Why?": "Why?", "élan": "Élan."} {
		if got := sentence(in); got != want {
			t.Errorf("sentence(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLimiterForgetsWhatItMay(t *testing.T) {
	now := time.Unix(1.8e9, 0)
	l := newLimiter[int](1, 10)
	l.most = 100
	if !l.take(-1, 10, now) || l.take(-1, 1, now) {
		t.Error("ten tokens, and no more, were not to be had")
	}
	for key := range 10_000 {
		now = now.Add(20 * time.Millisecond)
		if l.take(key, 1, now); len(l.buckets) > l.most {
			t.Fatalf("%d keys are remembered, want at most %d", len(l.buckets), l.most)
		}
		if key < 90 && l.take(-1, 5, now) { // it has gained 2 tokens at most
			t.Fatal("a bucket that was emptied was forgotten while there was room")
		}
	}
}

func TestAddress(t *testing.T) {
	s := &Server{site: &site{cfg: Config{Proxies: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.7/32"),
	}}}}
	for _, test := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:50000", "", "192.0.2.1"},
		{"192.0.2.1:50000", "198.51.100.9", "192.0.2.1"}, // not a proxy of ours: what it says does not count
		{"127.0.0.1:50000", "", "127.0.0.1"},
		{"127.0.0.1:50000", "198.51.100.9", "198.51.100.9"},
		{"127.0.0.1:50000", "203.0.113.5, 198.51.100.9", "198.51.100.9"}, // the first is the client's invention
		{"127.0.0.1:50000", "198.51.100.9, 10.0.0.7", "198.51.100.9"},    // two proxies
		{"127.0.0.1:50000", "198.51.100.9:4711", "198.51.100.9"},
		{"127.0.0.1:50000", "nonsense", "127.0.0.1"},
		{"127.0.0.1:50000", "198.51.100.9, nonsense", "127.0.0.1"},
		{"[::ffff:192.0.2.1]:50000", "", "192.0.2.1"},
		{"[2001:db8:1:2:3:4:5:6]:50000", "", "2001:db8:1:2::"}, // a network has 2⁶⁴ addresses
		{"[::1]:50000", "2001:db8:1:2:9::", "2001:db8:1:2::"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = test.peer
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-For", test.forwarded)
		}
		if got := s.address(r); got != netip.MustParseAddr(test.want) {
			t.Errorf("from %s for %q: %s, want %s", test.peer, test.forwarded, got, test.want)
		}
	}
}

func TestGatesForgetAddresses(t *testing.T) {
	var g gates
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	leave := []func(){g.enter(t.Context(), here), g.enter(t.Context(), here), g.enter(gone, here), g.enter(t.Context(), there)}
	if len(g.at) != 2 {
		t.Errorf("%d addresses, want 2", len(g.at))
	}
	for _, f := range leave {
		f()
	}
	if len(g.at) != 0 {
		t.Errorf("%d addresses are left", len(g.at))
	}
}

// In an arena with a test a share of no answers is not known, as it would be 50 %.
func TestArenaPairsWithoutAnswers(t *testing.T) {
	r := bradley.Report{
		Entrants: []bradley.ReportEntrant{{Title: "a"}, {Title: "b"}, {Title: "c"}}, Test: &bradley.ReportTest{},
		Pairs: []bradley.ReportPair{{A: "a", B: "b", WinsA: 3, WinsB: 1, P: 0.75, Low: 0.2, High: 0.98}, {A: "a", B: "c", P: 0.5, High: 1}},
	}
	rows := arenaPairs(r)
	if got := []string{rows[0].Cells[1].Share.Value, rows[1].Cells[0].Share.Value, rows[0].Cells[2].Share.Value, rows[2].Cells[0].Share.Interval}; !slices.Equal(got, []string{"75 %", "25 %", "", ""}) {
		t.Errorf("the shares are %q", got)
	}
	r.Test = nil
	if got := arenaPairs(r)[0].Cells[2].Share.Value; got != "50 %" {
		t.Errorf("without a test the posterior says %q", got)
	}
}
