package bynats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// denials returns a connection of w1 that writes what NATS refuses to a channel.
func denials(t *testing.T, p *place) (*nats.Conn, <-chan string) {
	t.Helper()
	denied := make(chan string, 1000)
	return p.raw(t, "w1", nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err.Error() })), denied
}

// TestForbiddenSubjects: NATS refuses everything to a worker but its own part, also when the worker does
// not keep to the rules of this package.
func TestForbiddenSubjects(t *testing.T) {
	t.Parallel()
	p := start(t)
	server := p.server(t)
	nc, denied := denials(t, p)
	for _, subject := range []string{
		"tiebreak.from.w2.s.l", "tiebreak.offers.w2.a", "tiebreak.to.w2.s.l", "tiebreak.to.w1.s.l", "tiebreak.servers.s",
		"tiebreak.other.x", "other", "_INBOX.w2.x.1", "_INBOX.x",
		"$JS.API.STREAM.DELETE.TIEBREAK", "$JS.API.STREAM.DELETE.TIEBREAK_BLOBS", "$JS.API.STREAM.PURGE.TIEBREAK",
		"$JS.API.STREAM.PURGE.TIEBREAK_BLOBS",
		"$JS.API.STREAM.MSG.DELETE.TIEBREAK", "$JS.API.STREAM.MSG.DELETE.TIEBREAK_BLOBS", "$JS.API.STREAM.UPDATE.TIEBREAK", "$JS.API.STREAM.CREATE.MINE",
		"$JS.API.STREAM.MSG.GET.TIEBREAK", "$JS.API.DIRECT.GET.TIEBREAK.tiebreak.to.w2.s.l", "$JS.API.DIRECT.GET.TIEBREAK",
		"$JS.API.STREAM.INFO.TIEBREAK", "$JS.API.STREAM.SNAPSHOT.TIEBREAK",
		"$JS.API.CONSUMER.CREATE.TIEBREAK", "$JS.API.CONSUMER.CREATE.TIEBREAK.c", "$JS.API.CONSUMER.CREATE.TIEBREAK.c.tiebreak.to.w2.>",
		"$JS.API.CONSUMER.CREATE.TIEBREAK.c.tiebreak.to.>",
		"$JS.API.CONSUMER.DURABLE.CREATE.TIEBREAK.c", "$JS.API.CONSUMER.CREATE.TIEBREAK_BLOBS.c.tiebreak.blobs.>", "$JS.API.CONSUMER.NAMES.TIEBREAK", "$JS.API.CONSUMER.LIST.TIEBREAK",
		"$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.INFO.x",
	} {
		must.Do(t, nc.Publish(subject, nil))
		refusal(t, denied, "publish to", subject)
	}
	for _, subject := range []string{
		"tiebreak.to.w2.>", "tiebreak.to.>", "tiebreak.from.>", "tiebreak.offers.>", "tiebreak.>", ">",
		"_INBOX.>", "_INBOX.w2.>", "_INBOX.*.>", "tiebreak.blobs.>", "$JS.>", "$SYS.>",
	} {
		must.Get(nc.SubscribeSync(subject))(t)
		refusal(t, denied, "subscription to", subject)
	}
	reaches(t, server, p.worker(t, "w1"), "to.w1.s.l") // nothing is broken
}

// refusal fails the test unless the next refusal is that of an act on a subject.
func refusal(t *testing.T, denied <-chan string, act, subject string) {
	t.Helper()
	got := waittest.For(t, denied, "the refusal of "+subject)
	if !strings.Contains(strings.ToLower(got), strings.ToLower(fmt.Sprintf("%s %q", act, subject))) {
		t.Errorf("%s %s: %s", act, subject, got)
	}
}

// TestFilterCannotBeFalse: a worker cannot ask for another's messages under its own name of a filter.
func TestFilterCannotBeFalse(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.server(t)
	nc := p.raw(t, "w1")
	for _, filters := range []map[string]any{
		{"filter_subject": "tiebreak.to.w2.>"},
		{"filter_subject": "tiebreak.>"},
		{"filter_subject": ""},
		{"filter_subjects": []string{"tiebreak.to.w2.>"}},
		{"filter_subjects": []string{"tiebreak.to.w1.>", "tiebreak.to.w2.>"}},
		{"filter_subject": "tiebreak.to.w1.>", "filter_subjects": []string{"tiebreak.to.w2.>"}},
	} {
		config := map[string]any{"name": "c", "deliver_policy": "all", "ack_policy": "none"}
		for k, v := range filters {
			config[k] = v
		}
		request := must.Get(json.Marshal(map[string]any{"stream_name": "TIEBREAK", "config": config}))(t)
		m := must.Get(nc.Request("$JS.API.CONSUMER.CREATE.TIEBREAK.c.tiebreak.to.w1.>", request, waittest.Limit))(t)
		var answer struct {
			Error *jetstream.APIError `json:"error"`
		}
		must.Do(t, json.Unmarshal(m.Data, &answer))
		if answer.Error == nil {
			t.Errorf("with %v: %s", filters, m.Data)
		}
	}
}

// TestForgedMessages: NATS sends the answer to a request wherever the request says. What a worker has answered so under
// subjects of others is not handed over.
func TestForgedMessages(t *testing.T) {
	t.Parallel()
	p := start(t)
	server, other := p.server(t), p.worker(t, "w2")
	told := must.Get(other.Watch(t.Context(), "servers.>"))(t)
	offers := must.Get(server.Watch(t.Context(), "offers.>"))(t)
	down, up := receive(t, other, "to.w2.>"), receive(t, server, "from.w2.>")
	watched := must.Get(other.Watch(t.Context(), "to.w2.>"))(t)

	nc := p.raw(t, "w1")
	targets := []string{"servers.s", "offers.w2.a", "to.w2.s.l", "from.w2.s.l"}
	for k, target := range targets {
		for _, header := range []nats.Header{
			nil,
			{"Tiebreak-Subject": {target}, "Tiebreak-Number": {fmt.Sprint("x.", k)}},
			{"Tiebreak-Subject": {target}, "Tiebreak-Number": {fmt.Sprint("y.", k)}, "Nats-Stream": {}, "nats-stream": {}},
		} {
			chunk := fmt.Sprintf("tiebreak.blobs.forged%d.0", k)
			must.Get(nc.RequestMsg(&nats.Msg{Subject: chunk, Header: header, Data: []byte("forged")}, waittest.Limit))(t)
			must.Do(t, nc.PublishRequest("$JS.API.DIRECT.GET.TIEBREAK_BLOBS."+chunk, "tiebreak."+target, nil))
			// Its own acknowledgement, and a message that the server sent to it.
			must.Do(t, nc.PublishRequest("tiebreak.from.w1.s.l", "tiebreak."+target, []byte("forged")))
		}
		must.Do(t, server.Send(t.Context(), "to.w1.s.l", []byte("for w1 alone")))
		replay(t, nc, fmt.Sprint("c", k), map[string]any{}, "tiebreak."+target)
		replay(t, nc, fmt.Sprint("d", k), map[string]any{"deliver_subject": "tiebreak." + target}, "")
	}
	must.Do(t, nc.Flush())
	must.Do(t, server.Tell(t.Context(), "servers.s", []byte("true")))
	must.Do(t, other.Tell(t.Context(), "offers.w2.a", []byte("true")))
	must.Do(t, server.Send(t.Context(), "to.w2.s.l", []byte("true")))
	must.Do(t, other.Send(t.Context(), "from.w2.s.l", []byte("true")))
	for what, from := range map[string]<-chan message{
		"what servers tell": told, "offers": offers, "messages to w2": down, "messages from w2": up, "messages to w2, watched": watched,
	} {
		if got := waittest.For(t, from, what); string(got.Data) != "true" {
			t.Errorf("%s: %s %q", what, got.Subject, got.Data)
		}
	}
}

// replay has a consumer of w1 hand over w1's messages under target, if it is a pull consumer.
func replay(t *testing.T, nc *nats.Conn, name string, config map[string]any, target string) {
	t.Helper()
	for k, v := range map[string]any{"name": name, "deliver_policy": "all", "ack_policy": "none", "filter_subject": "tiebreak.to.w1.>"} {
		config[k] = v
	}
	request := must.Get(json.Marshal(map[string]any{"stream_name": "TIEBREAK", "config": config}))(t)
	answer := must.Get(nc.Request("$JS.API.CONSUMER.CREATE.TIEBREAK."+name+".tiebreak.to.w1.>", request, waittest.Limit))(t)
	t.Logf("%v: %.80s", config, answer.Data)
	if target != "" {
		must.Do(t, nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.TIEBREAK."+name, target, []byte(`{"batch":10,"no_wait":true}`)))
	}
}

// TestStreamsCannotBeDeletedByAnswers: an answer that a worker has sent to the API of JetStream deletes and purges nothing.
func TestStreamsCannotBeDeletedByAnswers(t *testing.T) {
	t.Parallel()
	p := start(t)
	server := p.server(t)
	name := must.Get(server.Put(t.Context(), []byte("a blob")))(t)
	must.Do(t, server.Send(t.Context(), "to.w1.s.l", nil))
	nc := p.raw(t, "w1")
	for k, call := range []string{"STREAM.DELETE.TIEBREAK", "STREAM.DELETE.TIEBREAK_BLOBS", "STREAM.PURGE.TIEBREAK", "STREAM.PURGE.TIEBREAK_BLOBS"} {
		target := "$JS.API." + call
		replay(t, nc, fmt.Sprint("c", k), map[string]any{"headers_only": true}, target) // an empty message, and the status that there are no more
		replay(t, nc, fmt.Sprint("d", k), map[string]any{"headers_only": true, "deliver_subject": target}, "")
		must.Get(nc.Request("tiebreak.blobs.x.0", nil, waittest.Limit))(t)
		must.Do(t, nc.PublishRequest("$JS.API.DIRECT.GET.TIEBREAK_BLOBS.tiebreak.blobs.x.0", target, nil))
	}
	must.Do(t, nc.Flush())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	<-ctx.Done() // there is no sign by which to know that NATS has done nothing
	if _, err := server.Get(t.Context(), name); err != nil {
		t.Errorf("a blob after that: %v", err)
	}
	cfg := must.Get(p.Carrier())(t)
	own := must.Get(nats.Connect("", cfg.Options...))(t)
	t.Cleanup(own.Close)
	js := must.Get(jetstream.New(own))(t)
	if s := must.Get(js.Stream(t.Context(), "TIEBREAK"))(t); s.CachedInfo().State.Msgs == 0 {
		t.Error("the messages are gone")
	}
}

// TestRules: the carrier of a worker refuses what NATS would not let through, and says why.
func TestRules(t *testing.T) {
	t.Parallel()
	p := start(t)
	server, w := p.server(t), p.worker(t, "w1")
	for _, err := range []error{
		w.Send(t.Context(), "from.w2.s.l", nil), w.Tell(t.Context(), "offers.w2.a", nil), w.Tell(t.Context(), "servers.s", nil), w.Send(t.Context(), "to.w1.s.l", nil),
		server.Send(t.Context(), "from.w1.s.l", nil), server.Tell(t.Context(), "offers.w1.a", nil),
	} {
		if idrl.KindOf(err) != idrl.Forbidden {
			t.Errorf("sending what others send: %v", err)
		}
	}
	for pattern, kind := range map[string]idrl.Kind{
		"to.w2.>": idrl.Forbidden, "to.*.x": idrl.Forbidden, "from.>": idrl.Forbidden, "*.w1.x": idrl.Forbidden,
		">": idrl.Invalid, "to.>.a": idrl.Invalid, "to. .a": idrl.Invalid,
	} {
		if _, err := w.Receive(t.Context(), pattern); idrl.KindOf(err) != kind {
			t.Errorf("receiving %s: %v", pattern, err)
		}
		if _, err := w.Watch(t.Context(), pattern); idrl.KindOf(err) != kind {
			t.Errorf("watching %s: %v", pattern, err)
		}
	}
}
