package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// TestHostileAnnotator: everything that an annotator can send who means ill is refused with
// a stable code, or recorded with a mark; none of it reaches anybody as it is.
func TestHostileAnnotator(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	good, bad := join(t, link, 1), join(t, link, 2)
	if err := good.Label(2); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	must.Do(t, bad.Label(1))
	mine, theirs := fresh(t, bad.Conn), fresh(t, good.Conn)
	var given idrl.AnswerID // of the other
	for a := range good.Acked {
		given = a
	}
	now := time.Now().UTC()
	base := wire.Answer{
		ID: "h-0", Assignment: mine, Choice: idrl.ChoseA, ShownLeft: idrl.SideA, ShownAt: now, AnsweredMS: 900, Loops: 1, Input: "keyboard", Instructions: 1,
	}
	answer := func(change func(*wire.Answer)) wire.FromClient {
		a := base
		change(&a)
		return &a
	}
	const script = `<script>alert("x")</script>`
	for _, attack := range []struct {
		name string
		say  wire.FromClient
		want wire.Code
	}{
		{"a question of another", answer(func(a *wire.Answer) { a.Assignment = theirs }), wire.Forbidden},
		{"a question that there is not", answer(func(a *wire.Answer) { a.Assignment = "none.1" }), wire.NotFound},
		{"a path for a question", answer(func(a *wire.Answer) { a.Assignment = "../../etc/passwd" }), wire.Invalid},
		{"no id", answer(func(a *wire.Answer) { a.ID = "" }), wire.Invalid},
		{"a long id", answer(func(a *wire.Answer) { a.ID = idrl.AnswerID(strings.Repeat("x", wire.MaxID+1)) }), wire.Invalid},
		{"the id of another's answer", answer(func(a *wire.Answer) { a.ID = given }), wire.Conflict},
		{"a choice that there is not", answer(func(a *wire.Answer) { a.Choice = script }), wire.Invalid},
		{"the choice of a decision", answer(func(a *wire.Answer) { a.Choice = idrl.LeftOut }), wire.Invalid},
		{"the choice of an empty row", answer(func(a *wire.Answer) { a.Choice = idrl.Erased }), wire.Invalid},
		{"the choice of a withdrawal of data", answer(func(a *wire.Answer) { a.Choice = idrl.Withdrew }), wire.Invalid},
		{"a side that there is not", answer(func(a *wire.Answer) { a.ShownLeft = "left" }), wire.Invalid},
		{"a script for a reason", answer(func(a *wire.Answer) { a.Choice, a.Reason = idrl.Skip, script }), wire.Invalid},
		{"a script for an input", answer(func(a *wire.Answer) { a.Input = script }), wire.Invalid},
		{"a rating in a comparison", answer(func(a *wire.Answer) { r := 2.0; a.Choice, a.Rating = idrl.Rated, &r }), wire.Invalid},
		{"undo of another's answer", &wire.Undo{ID: "h-u", Of: given}, wire.Forbidden},
		{"undo of nothing", &wire.Undo{ID: "h-u", Of: "nothing"}, wire.NotFound},
		{"renewal of another's question", &wire.Renew{Assignment: theirs}, wire.Forbidden},
	} {
		if err := bad.Conn.Send(attack.say); err != nil {
			t.Fatalf("%s: %v", attack.name, err)
		}
		if n := refusal(t, bad.Conn); n.Code != attack.want || n.RetryMS != 0 || strings.Contains(n.Message, "<script") {
			t.Errorf("%s: %+v, want code %s", attack.name, n, attack.want)
		}
	}
	// Times and a side that cannot be true are recorded, and marked.
	forged := base
	forged.ID, forged.ShownAt, forged.AnsweredMS, forged.Instructions = "h-forged", now.Add(72*time.Hour), 1, 99
	if a := sayAnswer(t, bad.Conn, &forged); a.Replay {
		t.Errorf("the forged answer: %+v", a)
	}
	if a := sayAnswer(t, bad.Conn, &forged); !a.Replay {
		t.Errorf("the same again: %+v, want a replay", a)
	}
	other := forged
	other.Choice = idrl.ChoseB
	must.Do(t, bad.Conn.Send(&other))
	if n := refusal(t, bad.Conn); n.Code != wire.Conflict {
		t.Errorf("the same id with another choice: %+v", n)
	}
	rows := mustCLI(t, "export", "--data", data, "--session", id)
	if strings.Contains(rows, "script") || strings.Count(rows, "\n") != 4 {
		t.Errorf("the export has\n%s", rows)
	}
	for line := range strings.Lines(rows) {
		if strings.Contains(line, "h-forged") && (strings.Contains(line, `"doubts":null`) || !strings.Contains(line, "instructions")) {
			t.Errorf("what cannot be true is not marked: %s", line)
		}
	}
	hostileRequests(t, link, id)
	if err := good.Label(4); err != nil { // the others do not notice
		t.Errorf("another annotator afterwards: %v", err)
	}
}

// hostileRequests asks for pages as an annotator who means ill.
func hostileRequests(t *testing.T, link, id string) {
	t.Helper()
	u := must.Get(url.Parse(link))(t)
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, path, origin string, form url.Values) (int, http.Header) {
		req := must.Get(http.NewRequestWithContext(t.Context(), method, u.Scheme+"://"+u.Host+path, strings.NewReader(form.Encode())))(t)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/plain")
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		res := must.Get(browser.Do(req))(t)
		_ = res.Body.Close()
		return res.StatusCode, res.Header
	}
	if status, _ := send("POST", u.Path, "", url.Values{"name": {"Mallory"}}); status != 303 {
		t.Fatalf("join: status %d", status)
	}
	here := "/sessions/" + id
	for _, attack := range []struct {
		name, method, path, origin string
		form                       url.Values
		want                       int
	}{
		{"a foreign origin", "POST", here + "/withdraw", "https://evil.example", url.Values{"sure": {"yes"}}, 403},
		{"joining from a foreign origin", "POST", u.Path, "https://evil.example", nil, 403},
		{"a name of 1 MB", "POST", "/join/" + strings.TrimPrefix(u.Path, "/join/"), "", url.Values{"name": {strings.Repeat("x", 1<<20)}}, 413},
		{"the researcher's page", "GET", here, "", nil, 403},
		{"the export", "GET", here + "/export?participants=1", "", nil, 403},
		{"removing another", "POST", here + "/annotators/a1/remove", "", url.Values{"answers": {"leave out"}}, 403},
		{"erasing another", "POST", here + "/annotators/a1/withdraw", "", url.Values{"sure": {"yes"}}, 403},
		{"withdrawing where it is not offered", "POST", here + "/withdraw", "", url.Values{"sure": {"yes"}}, 403},
		{"another session", "GET", "/sessions/elsewhere/label", "", nil, 403},
		{"a path for a session", "GET", "/sessions/..%2f..%2fetc/label", "", nil, 404},
		{"a path for a clip", "GET", here + "/clips/..%2f..%2ftiebreak.db", "", nil, 404},
		{"a path for a file", "GET", "/static/..%2f..%2ftiebreak.db", "", nil, 404},
		{"a clip that was not asked about", "GET", here + "/clips/0123456789abcdef", "", nil, 404},
		{"another's key", "POST", here + "/rejoin", "", url.Values{"key": {"AAAAAAAAAAAAAAAAAAAAAA"}}, 403},
	} {
		status, header := send(attack.method, attack.path, attack.origin, attack.form)
		if status != attack.want {
			t.Errorf("%s: status %d, want %d", attack.name, status, attack.want)
		}
		if where := header.Get("Location"); strings.Contains(where, "//") {
			t.Errorf("%s: leads to %s", attack.name, where)
		}
	}
}

// fresh returns a question that a new tab of an annotator is offered.
func fresh(t *testing.T, conn *client.Conn) idrl.AssignmentID {
	t.Helper()
	must.Do(t, conn.Reconnect(t.Context()))
	must.Do(t, conn.Send(&wire.ClientHello{}))
	return next[*wire.Query](t, conn).Assignment
}

// refusal returns the next refusal, past any other messages.
func refusal(t *testing.T, conn *client.Conn) *wire.Nak { return next[*wire.Nak](t, conn) }

func next[M wire.FromServer](t *testing.T, conn *client.Conn) M {
	t.Helper()
	for {
		m := must.Get(conn.Recv())(t)
		if m, ok := m.(M); ok {
			return m
		}
	}
}

func sayAnswer(t *testing.T, conn *client.Conn, a *wire.Answer) *wire.Ack {
	t.Helper()
	must.Do(t, conn.Send(a))
	return next[*wire.Ack](t, conn)
}
