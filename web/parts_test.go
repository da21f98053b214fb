package web

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
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
		if got := b.take(start.Add(test.after)); got != test.want {
			t.Errorf("take %d = %v, want %v", i, got, test.want)
		}
	}
}

func TestCurveIsThinnedOut(t *testing.T) {
	for _, n := range []int{0, 1, 2, 399, 400, 401, 5000, 10001} {
		all := make([]idrl.Regret, n)
		for i := range all {
			all[i] = idrl.Regret{Seq: int64(i), Mean: math.NaN(), P95: 1}
		}
		got := curve(all)
		if len(got) > maxPoints+1 || n <= maxPoints && len(got) != n {
			t.Errorf("points of %d = %d", n, len(got))
		}
		if n > 0 && (got[0].Seq != 0 || got[len(got)-1].Seq != int64(n-1) || got[0].Mean != 0) {
			t.Errorf("curve of %d runs from %+v to %+v", n, got[0], got[len(got)-1])
		}
	}
}

func TestEncodeState(t *testing.T) {
	why := idrl.Why{First: "p1", Second: "p2", Info: 0.5, PairStd: math.Inf(1)}
	b := encodeState(idrl.Status{
		Session: "s1", Seq: 2, Answers: 1, BasedOn: -1, Training: idrl.Training{Running: true, What: "solving"},
		Open:   []idrl.Assignment{{ID: "s1.1", Annotator: "a1", Why: why}},
		Recent: []idrl.Asked{{Answer: idrl.Answer{Seq: 2, Annotator: "a1", Choice: idrl.ChoseB, ResponseMS: 7}, Undone: true, Why: why, Clips: []idrl.ClipID{"c1"}}},
	}, nil)
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	pair := map[string]any{"first": "p1", "second": "p2", "info": 0.5, "pair_std": 0.0}
	with := func(m map[string]any) map[string]any {
		for k, v := range pair {
			m[k] = v
		}
		return m
	}
	want := map[string]any{
		"t": "state", "seq": 2.0, "answers": 1.0, "budget": 0.0, "based_on": -1.0,
		"training": map[string]any{"running": true, "based_on": 0.0, "done": 0.0, "total": 0.0, "what": "solving", "err": ""},
		"regret":   []any{}, "candidates": []any{}, "weights": []any{}, "annotators": []any{},
		"open": []any{with(map[string]any{"assignment": "s1.1", "annotator": "a1"})},
		"recent": []any{with(map[string]any{
			"seq": 2.0, "annotator": "a1", "choice": "b", "rating": 0.0, "undone": true,
			"response_ms": 7.0, "clips": []any{"/sessions/s1/clips/c1"},
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
