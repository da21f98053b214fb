package web_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// A line of a stream of answers.
type streamLine struct {
	Seq   int64
	Event string
	Of    idrl.AnswerID
}

// follow opens a stream and returns its lines, whose channel closes with it.
func (b *bench) follow(token, query string) <-chan streamLine {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.url+"/api/v1/sessions/s1/answers/stream"+query, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		b.t.Fatalf("stream: %v, %v", res, err)
	}
	out := make(chan streamLine, 100)
	b.t.Cleanup(func() { _ = res.Body.Close() })
	go func() {
		defer close(out)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var l streamLine
			if json.Unmarshal(lines.Bytes(), &l) != nil {
				return
			}
			out <- l
		}
	}()
	return out
}

// next returns the next line of a stream; the zero line if that has ended.
func next(t *testing.T, lines <-chan streamLine) streamLine {
	t.Helper()
	select {
	case l := <-lines:
		return l
	case <-time.After(patience):
		t.Fatal("the stream is silent")
		return streamLine{}
	}
}

// A stream sends what there is, what comes, and what withdraws it; it says that it is alive,
// goes on from a cursor, and ends with the token, the server and its time.
func TestAPIStream(t *testing.T) {
	b := newBench(t, nil)
	web.Stream(b.web, 20*time.Millisecond, time.Hour)
	token := b.token(identity.ScopeRead, "s1")
	b.annotator("s1")
	lines := b.follow(token, "")
	if l := next(t, lines); l != (streamLine{Event: "alive"}) {
		t.Errorf("first %+v", l)
	}
	b.record()
	b.hub.Publish("s1", live.Event{Kind: live.EventAnswered, Seq: 1})
	row := func(lines <-chan streamLine) streamLine {
		for {
			if l := next(t, lines); l.Event != "alive" {
				return l
			}
		}
	}
	if l := row(lines); l != (streamLine{Seq: 1, Event: "answer"}) {
		t.Errorf("second %+v", l)
	}
	must.Do(t, b.db.Append(t.Context(), "s1", record.Row{
		Answer: idrl.Answer{ID: "id2", Seq: 2, Annotator: "a1", Undoes: "id1", ReceivedAt: time.Now()}, After: record.Snapshot{Seq: 2, Belief: []byte("x")},
	}))
	b.hub.Publish("s1", live.Event{Kind: live.EventAnswered, Seq: 2})
	if l := row(lines); l != (streamLine{Seq: 2, Event: "undo", Of: "id1"}) {
		t.Errorf("third %+v", l)
	}
	if l := next(t, lines); l != (streamLine{Seq: 2, Event: "alive"}) {
		t.Errorf("then %+v", l)
	}
	if l := row(b.follow(token, "?after=1")); l.Seq != 2 {
		t.Errorf("after row 1 comes %+v", l)
	}
	wantCode(t, "after", b.api(token, "GET", "/s1/answers/stream?after=-1", ""), 400, "invalid")
	wantCode(t, "label", b.api(b.token(identity.ScopeLabel, "s1"), "GET", "/s1/answers/stream", ""), 403, "forbidden")
	must.Do(t, b.db.RevokeToken(t.Context(), 1, "test", time.Now()))
	if l := row(lines); l != (streamLine{}) {
		t.Errorf("after the token was revoked comes %+v", l)
	}
	last := b.follow(b.token(identity.ScopeRead, ""), "?after=2")
	next(t, last)
	b.web.Drain(t.Context()) //nolint:errcheck // the clean-up checks it
	if l := row(last); l != (streamLine{}) {
		t.Errorf("after the server stopped comes %+v", l)
	}
}

// A stream outlives the time in which a request must be read, and ends after its own, with its
// goroutine.
func TestAPIStreamIsUnhurried(t *testing.T) {
	b := newBench(t, nil)
	web.Stream(b.web, 10*time.Millisecond, 300*time.Millisecond)
	hasty := httptest.NewUnstartedServer(b.web)
	hasty.Config.ReadTimeout = 50 * time.Millisecond
	hasty.Start()
	defer hasty.Close()
	b.url = hasty.URL
	beats, began := 0, time.Now()
	for l := range b.follow(b.token(identity.ScopeRead, "s1"), "") {
		if l.Event != "alive" {
			t.Errorf("line %+v", l)
		}
		beats++
	}
	if took := time.Since(began); took < 300*time.Millisecond || beats < 2 {
		t.Errorf("%d lines in %v; the stream was cut off", beats, took)
	}
	token := b.token(identity.ScopeRead, "s1")
	if r := b.api(token, "GET", "/s1/answers?wait=1", ""); r.status != 200 || r.body != "" {
		t.Errorf("the long poll is cut off: %d %s", r.status, r.body)
	}
	hasty.Close() // waits for the handlers
	if n, waits := web.Streams(b.web).Taken(), web.Waits(b.web).Taken(); n+waits != 0 {
		t.Errorf("%d streams are open, and %d requests wait", n, waits)
	}
}

// There are only so many streams, and so many of a token.
func TestAPIStreamsAreBounded(t *testing.T) {
	b := newBench(t, nil)
	web.Tighten(b.web, 1000, 0) // hears of refusals at once
	token, other := b.token(identity.ScopeRead, "s1"), b.token(identity.ScopeRead, "s1")
	streams := web.Streams(b.web)
	next(t, b.follow(token, "")) // it has begun
	taken, leave := streams.Enter(1)
	if taken != 7 {
		t.Errorf("beside one stream a token may open %d, want 7", taken)
	}
	r := b.api(token, "GET", "/s1/answers/stream", "")
	wantCode(t, "one too many of a token", r, 429, "too_many_requests")
	if r.header.Get("Retry-After") == "" || r.lacks("8 open streams") != nil {
		t.Errorf("the refusal: %v, %s", r.header, r.body)
	}
	next(t, b.follow(other, ""))
	leave()
	next(t, b.follow(token, ""))
	for n := int64(3); taken > 0; n++ {
		taken, _ = streams.Enter(n)
	}
	wantCode(t, "one too many", b.api(other, "GET", "/s1/answers/stream", ""), 503, "unavailable")
}

// Only so many requests wait for answers, and so many of a token; others are answered at once.
func TestAPIWaitsAreBounded(t *testing.T) {
	b := newBench(t, nil)
	web.Tighten(b.web, 1000, 0)
	token, other := b.token(identity.ScopeRead, "s1"), b.token(identity.ScopeRead, "s1")
	b.annotator("s1")
	b.record()
	waits := web.Waits(b.web)
	taken, leave := waits.Enter(1)
	if taken != 32 {
		t.Errorf("%d requests of a token may wait, want 32", taken)
	}
	r := b.api(token, "GET", "/s1/answers?wait=30", "")
	wantCode(t, "one too many of a token", r, 429, "too_many_requests")
	if r.header.Get("Retry-After") == "" || r.lacks("32 requests") != nil {
		t.Errorf("the refusal: %v, %s", r.header, r.body)
	}
	answered := func(what, token, query string, rows bool) {
		t.Helper()
		if r := b.api(token, "GET", "/s1/answers"+query, ""); r.status != 200 || (r.body != "") != rows {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	answered("without wait", token, "", true)
	answered("another token", other, "?wait=30", true)
	leave()
	answered("when one has ended", token, "?wait=30", true)
	for n := int64(3); taken > 0; n++ {
		taken, _ = waits.Enter(n)
	}
	answered("where all wait", other, "?wait=30&after=1", false)
}
