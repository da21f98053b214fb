package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// token makes a token of the API.
func (b *bench) token(scope identity.Scope, session idrl.SessionID) string {
	b.t.Helper()
	token, _, err := b.auth.NewToken(b.t.Context(), identity.Token{Scope: scope, Session: session, Name: secretOther}, time.Hour, "test")
	if err != nil {
		b.t.Fatal(err)
	}
	return token
}

// api sends a request with a token, and a body unless that is empty.
func (b *bench) api(token, method, path, body string) reply {
	b.t.Helper()
	return b.send(http.DefaultClient, method, "/api/v1/sessions"+path, strings.NewReader(body), http.Header{"Authorization": {"Bearer " + token}})
}

// wantCode checks the status and the stable code of a refusal.
func wantCode(t *testing.T, what string, r reply, status int, code string) {
	t.Helper()
	var e struct{ Code, Message string }
	if err := json.Unmarshal([]byte(r.body), &e); err != nil || r.status != status || e.Code != code || e.Message == "" {
		t.Errorf("%s: %d %s (%v), want %d with code %q", what, r.status, r.body, err, status, code)
	}
}

// Each token does what its scope says, in its session, and nothing else.
func TestAPIAuthorisation(t *testing.T) {
	b := newBench(t, nil)
	read, label, write := b.token(identity.ScopeRead, "s1"), b.token(identity.ScopeLabel, "s1"), b.token(identity.ScopeWrite, "")
	type call struct{ method, path, body string }
	reads := []call{
		{"GET", "/s1", ""},
		{"GET", "/s1/questions", ""},
		{"GET", "/s1/answers", ""},
		{"GET", "/s1/posterior", ""},
		{"GET", "/s1/policies", ""},
		{"GET", "/s1/scores", ""},
		{"GET", "/s1/export", ""},
		{"POST", "/s1/reward", `{"features": [[1, 2]]}`},
	}
	labels := []call{{"POST", "/s1/claim", ""}, {"POST", "/s1/answers", `{}`}}
	for _, k := range append(append(reads, labels...), call{"GET", "", ""}, call{"POST", "/s1/control", `{"do": "pause"}`}) {
		wantCode(t, "without a token: "+k.path, b.send(b.researcher(), k.method, "/api/v1/sessions"+k.path, nil, nil), 401, "unauthorized")
		wantCode(t, "a wrong token: "+k.path, b.api("tbk_AAAAAAAAAAAAAAAAAAAAAA", k.method, k.path, k.body), 401, "unauthorized")
	}
	for _, k := range reads {
		if r := b.api(read, k.method, k.path, k.body); r.status != 200 {
			t.Errorf("read %s: %d %s", k.path, r.status, r.body)
		}
		wantCode(t, "label: "+k.path, b.api(label, k.method, k.path, k.body), 403, "forbidden")
		wantCode(t, "another session: "+k.path, b.api(read, k.method, strings.Replace(k.path, "s1", "s2", 1), k.body), 404, "not_found")
		wantCode(t, "no session: "+k.path, b.api(write, k.method, strings.Replace(k.path, "s1", "s7", 1), k.body), 404, "not_found")
	}
	for _, k := range labels {
		wantCode(t, "read: "+k.path, b.api(read, k.method, k.path, k.body), 403, "forbidden")
		wantCode(t, "another session: "+k.path, b.api(label, k.method, strings.Replace(k.path, "s1", "s2", 1), k.body), 404, "not_found")
	}
	wantCode(t, "read must not pause", b.api(read, "POST", "/s1/control", `{"do": "pause"}`), 403, "forbidden")
	wantCode(t, "archive", b.api(write, "POST", "/s1/control", `{"do": "archive"}`), 400, "invalid")
	if r := b.api(write, "POST", "/s1/control", `{"do": "pause"}`); r.status != 200 || r.body != "{\"state\":\"paused\"}\n" {
		t.Errorf("pause: %d %s", r.status, r.body)
	}
	if r := b.api(read, "GET", "", ""); strings.Contains(r.body, `"s2"`) || len(r.lacks(`"s1"`)) > 0 {
		t.Errorf("the list for a token of s1: %s", r.body)
	}
	wantCode(t, "no such address", b.api(read, "GET", "/s1/nothing", ""), 404, "not_found")
	wantCode(t, "no such method", b.api(read, "DELETE", "/s1", ""), 405, "method_not_allowed")
	must.Do(t, b.db.RevokeToken(t.Context(), 1, "test", time.Now()))
	wantCode(t, "revoked", b.api(read, "GET", "/s1", ""), 401, "unauthorized")
}

// The reward of features is that of the posterior N((1, 2), diag(4, 9)).
func TestAPIReward(t *testing.T) {
	b := newBench(t, nil)
	token := b.token(identity.ScopeRead, "s1")
	r := b.api(token, "POST", "/s1/reward", `{"features": [[1, 0], [0, 1], [3, -1]]}`)
	if want := `{"mean":[1,2,1],"seq":0,"std":[2,3,6.708203932499369]}` + "\n"; r.body != want { // √(9·4 + 9)
		t.Errorf("reward = %s, want %s", r.body, want)
	}
	r = b.api(token, "GET", "/s1/posterior", "")
	if want := `{"covariance":[[4,0],[0,9]],"features":["Lane","Speed"],"mean":[1,2],"representation":0,"seq":0}` + "\n"; r.body != want {
		t.Errorf("posterior = %s, want %s", r.body, want)
	}
	long := `{"features": [` + strings.Repeat("[1,2],", 10_000) + `[1,2]]}`
	for name, body := range map[string]string{
		"empty": `{"features": []}`, "none": ``, "NaN": `{"features": [[NaN, 1]]}`, "too large a number": `{"features": [[1e999, 1]]}`,
		"not finite": `{"features": [[1e308, 1e308]]}`, "short": `{"features": [[1]]}`, "null row": `{"features": [null]}`,
		"unknown key": `{"features": [[1, 2]], "x": 1}`, "two objects": `{"features": [[1, 2]]}{}`, "too many": long,
	} {
		wantCode(t, name, b.api(token, "POST", "/s1/reward", body), 400, "invalid")
	}
	wantCode(t, "too many bytes", b.api(token, "POST", "/s1/reward", `{"features": [[1, 2`+strings.Repeat(" ", 1<<20)+`]]}`), 413, "too_large")
}

// A program labels as a person would: it sees no more than they do, and an answer that is sent
// again is recorded once.
func TestAPILabels(t *testing.T) {
	b := newBench(t, nil)
	token := b.token(identity.ScopeLabel, "s1")
	r := b.api(token, "POST", "/s1/claim", "")
	var claim struct {
		Open []struct{ Assignment, Left string }
	}
	if err := json.Unmarshal([]byte(r.body), &claim); err != nil || len(claim.Open) != 2 || claim.Open[0].Left != "b" {
		t.Fatalf("claim: %s (%v)", r.body, err)
	}
	body := fmt.Sprintf(`{"id": "x1", "assignment": %q, "choice": "a", "shown_left": "b", "shown_at": "2026-11-20T12:00:00Z", "answered_ms": 900,
		"loops": 1, "hidden_ms": 0, "instructions_version": 1}`, claim.Open[0].Assignment)
	first, again := b.api(token, "POST", "/s1/answers", body), b.api(token, "POST", "/s1/answers", body)
	if first.body != `{"id":"x1","replay":false,"seq":1}`+"\n" || again.body != `{"id":"x1","replay":true,"seq":1}`+"\n" {
		t.Errorf("first %s, again %s", first.body, again.body)
	}
	if log := b.s1.given(); len(log) != 1 || log[0].Annotator != "a1" || log[0].Input != "api" {
		t.Errorf("log = %+v", log)
	}
	wantCode(t, "another choice", b.api(token, "POST", "/s1/answers", strings.Replace(body, `"a"`, `"equal"`, 1)), 409, "conflict")
	for _, bad := range []string{"", "{", "[]", `{"id": "x2"}`, strings.Replace(body, `"id"`, `"ID2"`, 1), strings.Replace(body, `"choice": "a"`, `"choice": "z"`, 1)} {
		wantCode(t, bad, b.api(token, "POST", "/s1/answers", bad), 400, "invalid")
	}
	for _, secret := range []string{secretPolicy, secretOther, "0.111222333", "gold", "policy", "posterior", fmt.Sprint(secretVersion)} {
		if strings.Contains(r.body+first.body, secret) {
			t.Errorf("a token of scope label gets %q", secret)
		}
	}
}

// Answers come by a cursor, with what withdraws them; a program can wait for the next one.
func TestAPIAnswers(t *testing.T) {
	b := newBench(t, nil)
	token := b.token(identity.ScopeRead, "s1")
	b.annotator("s1")
	wantCode(t, "after", b.api(token, "GET", "/s1/answers?after=-1", ""), 400, "invalid")
	wantCode(t, "wait", b.api(token, "GET", "/s1/answers?wait=61", ""), 400, "invalid")
	if r := b.api(token, "GET", "/s1/answers", ""); r.status != 200 || r.body != "" {
		t.Errorf("before the first: %d %q", r.status, r.body)
	}
	done := make(chan reply)
	go func() { done <- b.api(token, "GET", "/s1/answers?wait=30", "") }()
	b.record()
	b.hub.Publish("s1", live.Event{Kind: live.EventAnswered, Seq: 1})
	var waited reply
	select {
	case waited = <-done:
	case <-time.After(patience):
		t.Fatal("who waits hears nothing of an answer")
	}
	if len(waited.lacks(`"seq":1`, `"event":"answer"`, `"label_id"`)) > 0 {
		t.Errorf("waited for %s", waited.body)
	}
	all := b.api(token, "GET", "/s1/answers", "").body
	if strings.Contains(all, secretOther) {
		t.Error("an annotator's name is there")
	}
	lines := bytes.Split(bytes.TrimSpace([]byte(all)), []byte("\n"))
	var paged []byte
	for after, n := int64(0), 0; ; n++ {
		r := b.api(token, "GET", fmt.Sprintf("/s1/answers?limit=1&after=%d", after), "")
		if r.body == "" || n > len(lines) {
			break
		}
		paged = append(paged, r.body...)
		var row struct{ Seq int64 }
		if err := json.Unmarshal([]byte(r.body), &row); err != nil || row.Seq <= after {
			t.Fatalf("after %d: %s (%v)", after, r.body, err)
		}
		after = row.Seq
	}
	if string(paged) != all {
		t.Errorf("one by one:\n%s\nat once:\n%s", paged, all)
	}
}

// Exports of tests that have no log to follow.
type noLog struct{}

func (noLog) Follow(context.Context, idrl.SessionID, int64, int, func(record.LogRow) error) error {
	return nil
}

// TestAPITextAfterTheBody: a body is one JSON object, also if it writes whole numbers with a fraction.
func TestAPITextAfterTheBody(t *testing.T) {
	b := newBench(t, nil)
	token := http.Header{"Authorization": {"Bearer " + b.token(identity.ScopeUpload, "")}}
	for body, wants := range map[string]string{
		`{"title":"x","budget":20} and more`:   "docs/api.md",
		`{"title":"x","budget":20.0} and more`: "docs/api.md",
		`{"title":"x","budget":20.0}{}`:        "docs/api.md",
		`{"title":"x","budget":20.0}`:          "ntrants must be a list",
	} {
		r := b.send(http.DefaultClient, "POST", "/api/v1/arenas", strings.NewReader(body), token)
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, wants) {
			t.Errorf("%s: %d %s, want %q", body, r.status, r.body, wants)
		}
	}
}
