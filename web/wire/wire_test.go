package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/web/wire"

	"github.com/google/go-cmp/cmp"
)

const answer = `{"t":"answer","id":"1b4e28ba-2fa1-11d2-883f-0016d3cca427","assignment":"as1","choice":"a","shown_left":"b",` +
	`"shown_at":"2026-11-20T12:00:00.5Z","answered_ms":1234,"loops":2,"hidden_ms":100,"input":"keyboard","instructions_version":1}`

// with returns answer with the text old replaced by new.
func with(old, new string) string {
	if !strings.Contains(answer, old) {
		panic("the answer has no " + old)
	}
	return strings.Replace(answer, old, new, 1)
}

func TestDecode(t *testing.T) {
	shown := time.Date(2026, 11, 20, 12, 0, 0, 5e8, time.UTC)
	half := 0.5
	for _, test := range []struct {
		name, in string
		want     wire.FromClient
	}{
		{"hello", `{"t":"hello","outbox":["a-1","b.2:c_3"]}`, &wire.ClientHello{Outbox: []idrl.AnswerID{"a-1", "b.2:c_3"}}},
		{"hello without an outbox", `{"t":"hello"}`, &wire.ClientHello{}},
		{"undo", ` { "id":"u1", "of":"a1", "t":"undo" } `, &wire.Undo{ID: "u1", Of: "a1"}},
		{"renew", `{"t":"renew","assignment":"as1"}`, &wire.Renew{Assignment: "as1"}},
		{"answer", answer, &wire.Answer{
			ID: "1b4e28ba-2fa1-11d2-883f-0016d3cca427", Assignment: "as1", Choice: idrl.ChoseA,
			ShownLeft: idrl.SideB, ShownAt: shown, AnsweredMS: 1234, Loops: 2, HiddenMS: 100, Input: "keyboard", Instructions: 1,
		}},
		{
			"rating", `{"t":"answer","id":"x","assignment":"y","choice":"rated","rating":0.5,"shown_at":"2026-11-20T12:00:00.5Z",` +
				`"answered_ms":1,"input":"api","instructions_version":1}`,
			&wire.Answer{ID: "x", Assignment: "y", Choice: idrl.Rated, Rating: &half, ShownAt: shown, AnsweredMS: 1, Input: "api", Instructions: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must.Get(wire.Decode([]byte(test.in)))(t)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("message differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	many := make([]string, wire.MaxOutbox+1)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint("id", i))
	}
	long := strings.Repeat("x", wire.MaxID+1)
	id := "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
	for _, test := range []struct {
		name, in string
		code     wire.Code
		id       string // that the refusal names
		says     string
	}{
		{"nothing", ``, wire.Invalid, "", "not a JSON object"},
		{"not JSON", `hello`, wire.Invalid, "", "not a JSON object"},
		{"an array", `[1]`, wire.Invalid, "", "not a JSON object"},
		{"cut off", answer[:len(answer)-1], wire.Invalid, "", "not valid JSON"},
		{"cut off in a list", `{"t":"hello","outbox":["a"`, wire.Invalid, "", "not valid JSON"},
		{"two messages", `{"t":"hello"}{"t":"hello"}`, wire.Invalid, "", "after the message"},
		{"not text", "{\"t\":\"hello\xff\"}", wire.Invalid, "", "UTF-8"},
		{"no type", `{"id":"a1"}`, wire.Invalid, "a1", "no type"},
		{"type of another type", `{"t":3}`, wire.Invalid, "", "must be strings"},
		{"unknown type", `{"t":"vote","id":"a1"}`, wire.Unknown, "a1", "does not know"},
		{"a server's type", `{"t":"ack","id":"a1"}`, wire.Unknown, "a1", "does not know"},
		{"unknown field", with(`"loops":2`, `"loops":2,"speed":1`), wire.Invalid, id, "field is unknown"},
		{"field in other letters", with(`"loops":2`, `"Loops":2`), wire.Invalid, "", "not a field"},
		{"field twice", with(`"loops":2`, `"loops":2,"loops":3`), wire.Invalid, "", "twice"},
		{"deep", `{"t":"hello","outbox":[[["a"]]]}`, wire.Invalid, "", "nested"},
		{"object inside", with(`"loops":2`, `"loops":{"n":2}`), wire.Invalid, "", "nested"},
		{"fraction of a millisecond", with(`1234`, `1234.5`), wire.Invalid, id, "wrong type"},
		{"negative time", with(`1234`, `-1`), wire.Invalid, id, "answered_ms"},
		{"endless time", with(`1234`, `31622400001`), wire.Invalid, id, "answered_ms"},
		{"number out of range", with(`1234`, `1e999`), wire.Invalid, "", "not valid JSON"},
		{"negative hidden time", with(`"hidden_ms":100`, `"hidden_ms":-100`), wire.Invalid, id, "hidden_ms"},
		{"too many loops", with(`"loops":2`, `"loops":2000000000`), wire.Invalid, id, "loops"},
		{"unknown choice", with(`"choice":"a"`, `"choice":"left"`), wire.Invalid, id, "choice"},
		{"unknown side", with(`"shown_left":"b"`, `"shown_left":"c"`), wire.Invalid, id, "shown_left"},
		{"unknown input", with(`keyboard`, `telepathy`), wire.Invalid, id, "input"},
		{"no instructions", with(`"instructions_version":1`, `"instructions_version":0`), wire.Invalid, id, "instructions_version"},
		{"a time that is none", with(`2026-11-20T12:00:00.5Z`, `yesterday`), wire.Invalid, id, "wrong type"},
		{"a clock of antiquity", with(`2026-11-20`, `0020-11-20`), wire.Invalid, id, "clock"},
		{"rating too high", with(`"choice":"a"`, `"choice":"rated","rating":1.01`), wire.Invalid, id, "off its scale"},
		{"rating too low", with(`"choice":"a"`, `"choice":"rated","rating":-7`), wire.Invalid, id, "off its scale"},
		{"rating missing", with(`"choice":"a"`, `"choice":"rated"`), wire.Invalid, id, "rating is missing"},
		{"a moment of a success", with(`"choice":"a"`, `"choice":"rated","rating":1,"wrong_ms":5`), wire.Invalid, id, "only with a failure"},
		{"a moment of a choice", with(`"choice":"a"`, `"choice":"a","wrong_ms":5`), wire.Invalid, id, "only with a failure"},
		{"a moment before the clip", with(`"choice":"a"`, `"choice":"rated","rating":-1,"wrong_ms":-5`), wire.Invalid, id, "wrong_ms must be"},
		{"rating of a choice", with(`"choice":"a"`, `"choice":"a","rating":0`), wire.Invalid, id, "only with"},
		{"skip without a reason", with(`"choice":"a"`, `"choice":"skip"`), wire.Invalid, id, "reason"},
		{"skip with a made-up reason", with(`"choice":"a"`, `"choice":"skip","reason":"bored"`), wire.Invalid, id, "reason"},
		{"reason of a choice", with(`"choice":"a"`, `"choice":"a","reason":"broken"`), wire.Invalid, id, "only with"},
		{"id with a blank", with(id, `a b`), wire.Invalid, "as1", "must be an id"},
		{"id too long", with(id, long), wire.Invalid, "as1", "must be an id"},
		{"id that begins a formula", with(id, `-1`), wire.Invalid, "as1", "must be an id"},
		{"no assignment", with(`"as1"`, `""`), wire.Invalid, id, "assignment"},
		{"undo of nothing", `{"t":"undo","id":"u1"}`, wire.Invalid, "u1", "of must be an id"},
		{"undo without id", `{"t":"undo","of":"a1"}`, wire.Invalid, "", "id must be an id"},
		{"renew of nothing", `{"t":"renew"}`, wire.Invalid, "", "assignment"},
		{"bad id in the outbox", `{"t":"hello","outbox":["a","<b>"]}`, wire.Invalid, "", "outbox"},
		{"outbox too long", `{"t":"hello","outbox":[` + strings.Join(many, ",") + `]}`, wire.TooLarge, "", "at most 200"},
		{"too large", `{"t":"hello","outbox":["` + strings.Repeat("x", wire.MaxMessage) + `"]}`, wire.TooLarge, "", "bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := wire.Decode([]byte(test.in))
			var r *wire.Refused
			if !errors.As(err, &r) {
				t.Fatalf("message %v, error = %v, want a refusal", m, err)
			}
			if m != nil || r.Code != test.code || r.ID != test.id || !strings.Contains(r.Message, test.says) {
				t.Errorf("message %v, refusal %+v, want code %s of %q, saying %q", m, *r, test.code, test.id, test.says)
			}
			if nak := r.Nak(); nak.Message != r.Error() || nak.RetryMS != 0 || string(nak.Code) != string(r.Code) {
				t.Errorf("nak = %+v does not say what the refusal says", nak)
			}
		})
	}
}

func TestRow(t *testing.T) {
	m := must.Get(wire.Decode([]byte(with(`"2026-11-20T12:00:00.5Z"`, `"2026-11-20T14:00:00.5+02:00"`))))(t)
	shown := time.Date(2026, 11, 20, 12, 0, 0, 5e8, time.UTC)
	want := idrl.Answer{
		ID: "1b4e28ba-2fa1-11d2-883f-0016d3cca427", Assignment: "as1", Choice: idrl.ChoseA, Left: idrl.SideB, ShownAt: shown,
		AnsweredAt: shown.Add(1334 * time.Millisecond), ResponseMS: 1234, HiddenMS: 100, Loops: 2, Input: "keyboard", Instructions: 1,
	}
	if diff := cmp.Diff(want, m.(*wire.Answer).Row()); diff != "" {
		t.Errorf("row differs (-want +got):\n%s", diff)
	}
}

func TestClientMessagesSurviveTheWire(t *testing.T) {
	for _, m := range clientMessages() {
		got, err := wire.Decode(wire.Encode(m))
		if err != nil {
			t.Errorf("%T: %v", m, err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%T differs (-sent +received):\n%s", m, diff)
		}
	}
}

func clientMessages() []wire.FromClient {
	rating := -0.25
	return []wire.FromClient{
		&wire.ClientHello{Outbox: []idrl.AnswerID{"a"}},
		&wire.Answer{ID: "a", Assignment: "b", Choice: idrl.Rated, Rating: &rating, ShownAt: time.Unix(1.8e9, 0).UTC(), Input: "api", Instructions: 3},
		&wire.Undo{ID: "a", Of: "b"},
		&wire.Renew{Assignment: "b"},
	}
}

func TestServerMessagesSurviveTheWire(t *testing.T) {
	for _, m := range []wire.FromServer{
		&wire.Hello{Session: "s", Seq: 3, Kind: idrl.CompareClips, Env: "driver", Instructions: 1, Have: []idrl.AnswerID{"a"}},
		&wire.Query{Assignment: "a", Query: "q", Kind: idrl.RateClip, Clips: []string{"/c"}, LeaseUntil: time.Unix(1.8e9, 0).UTC()},
		&wire.Ack{ID: "a", Seq: 4, Replay: true},
		&wire.Nak{ID: "a", Code: wire.Conflict, Message: "no", RetryMS: 7},
		&wire.Status{Answers: 1, Mine: 1, Budget: 2, Open: []idrl.AssignmentID{"a"}, Undo: "b"},
		&wire.Bye{RetryMS: 500},
	} {
		got, err := wire.DecodeServer(wire.Encode(m))
		if err != nil {
			t.Errorf("%T: %v", m, err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%T differs (-sent +received):\n%s", m, diff)
		}
	}
}

func TestDecodeServerRefuses(t *testing.T) {
	for _, in := range []string{``, `[]`, `{"t":"vote"}`, `{"t":"ack","seq":"x"}`} {
		if m, err := wire.DecodeServer([]byte(in)); err == nil {
			t.Errorf("%s: message %v, want an error", in, m)
		}
	}
	if _, err := wire.DecodeServer([]byte(`{"t":"ack","id":"a","from_the_future":1}`)); err != nil {
		t.Errorf("an unknown field is refused: %v", err)
	}
}

func TestEncodeBeginsWithTheType(t *testing.T) {
	if got, want := string(wire.Encode(&wire.Bye{RetryMS: 5})), `{"t":"bye","retry_ms":5}`; got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
}

// FuzzDecode: no input crashes the decoder, and what it accepts comes back the
// same after a second journey.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(answer))
	for _, m := range clientMessages() {
		f.Add(wire.Encode(m))
	}
	f.Add([]byte(`{"t":"hello","outbox":[[]]}`))
	f.Add([]byte(`{"t":"vote","id":"a1"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := wire.Decode(in)
		var r *wire.Refused
		if err != nil {
			if !errors.As(err, &r) || m != nil || r.Message == "" || r.ID != "" && !wire.ValidID(r.ID) {
				t.Fatalf("message %v, error %#v", m, err)
			}
			if b := wire.Encode(r.Nak()); !json.Valid(b) {
				t.Fatalf("nak is not JSON: %s", b)
			}
			return
		}
		again, err := wire.Decode(wire.Encode(m))
		if err != nil {
			t.Fatalf("%s was accepted, but not once more: %v", in, err)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatalf("%s changed on the way:\n%s", in, diff)
		}
	})
}
