package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
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
	done := web.BusyWithPages(b.web, 10*time.Millisecond)
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

// TestAPIUploadThatSaysItIsHuge: what a header says of the length of a body takes no memory.
func TestAPIUploadThatSaysItIsHuge(t *testing.T) {
	b := newBench(t, nil)
	b.addUploads()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(b.url, "http://")))(t)
	defer func() { must.Do(t, conn.Close()) }()
	_ = must.Get(fmt.Fprintf(conn, "POST /api/v1/sessions/s3/trajectories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 1125899906842624\r\n\r\n{", b.token(identity.ScopeUpload, "s3")))(t)
	must.Do(t, conn.(*net.TCPConn).CloseWrite())
	reply := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	if must.Do(t, reply.Body.Close()); reply.StatusCode != http.StatusBadRequest {
		t.Errorf("it is refused with %s", reply.Status)
	}
}
