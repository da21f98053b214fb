package web_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// A small body of very many elements is refused at the cost of its bytes: each would become a
// struct of a hundred bytes or more.
func TestAPIUploadOfVeryManyElements(t *testing.T) {
	b := newBench(t, nil)
	b.addUploads()
	token := b.token(identity.ScopeUpload, "s3")
	list := func(element string, n int) string { return "[" + strings.Repeat(element+",", n-1) + element + "]" }
	const many = 1_000_000
	scene := `{"moving":` + list("0", 2000) + `}`
	for _, test := range []struct{ name, body, want string }{
		{"trajectories", list("{}", many), "more than 50 trajectories"},
		{"trajectories that are none", list("0", many), "more than 50 trajectories"},
		{"scenes", `[{"scenes":` + list("{}", many) + `}]`, "more than 1001 rows, pictures or scenes of a trajectory"},
		{"observations", `[{"observations":` + list("[]", many) + `}]`, "more than 1001 rows"},
		{"pictures", `[{"pictures":` + list(`""`, many) + `}]`, "more than 1001 rows"},
		{"shapes", `[{"scenes":[{"static":` + list("{}", many) + `}]}]`, "shapes"},
		{"shapes of many scenes", list(`{"scenes":`+list(scene, 50)+`}`, 10), "shapes in"},
		{"numbers", `[{"actions":[` + list("0", many) + `]}]`, "more than 4096 numbers in a row"},
		{"points", `[{"scenes":[{"static":[{"points":` + list("0", many) + `}]}]}]`, "more than 30000 numbers in the points of a shape"},
	} {
		body := `{"trajectories":` + test.body + `}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := b.api(token, "POST", "/s3/trajectories", body)
		runtime.ReadMemStats(&after)
		wantCode(t, test.name, r, 400, "invalid")
		var said struct{ Message string }
		if err := json.Unmarshal([]byte(r.body), &said); err != nil || !strings.Contains(said.Message, test.want) {
			t.Errorf("%s: %s, want %q", test.name, r.body, test.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%s: a body of %d KB took %d MB", test.name, len(body)>>10, took>>20)
		}
	}
}

// An upload that waits for another one is told to come again, and has all its time once it is
// its turn.
func TestAPIUploadWaits(t *testing.T) {
	b := newBench(t, nil)
	b.addUploads()
	token := b.token(identity.ScopeUpload, "s3")
	done := web.BusyWithUploads(b.web, 10*time.Millisecond)
	r := b.api(token, "POST", "/s3/trajectories", `{"trajectories":[]}`)
	wantCode(t, "while another upload is read", r, 503, "unavailable")
	if r.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come again")
	}
	done()
	if r := b.api(token, "POST", "/s3/trajectories", `{"trajectories":[]}`); r.status == 503 {
		t.Errorf("afterwards: %d %s", r.status, r.body)
	}
}

// A token has one upload that is read, and those of other tokens are read beside it, up to a number.
func TestUploadsOfSeveralTokens(t *testing.T) {
	b := newBench(t, nil)
	done := web.BusyWithUploads(b.web, 10*time.Millisecond)
	done()
	leave, err := web.EnterUpload(t.Context(), b.web, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := web.EnterUpload(t.Context(), b.web, "a"); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("a second one of a token: %v", err)
	}
	leave2, err := web.EnterUpload(t.Context(), b.web, "b")
	if err != nil {
		t.Errorf("one of another token: %v", err)
	}
	turn, err := web.TurnOfUpload(t.Context(), b.web)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := web.TurnOfUpload(ctx, b.web); err == nil {
		t.Error("two trajectories are read at once")
	}
	turn()
	leave()
	leave2()
	if leave, err = web.EnterUpload(t.Context(), b.web, "a"); err != nil {
		t.Errorf("the next one of the token: %v", err)
	} else {
		leave()
	}
}
