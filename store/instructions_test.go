package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/store"
)

// instructed opens a store with one session and one annotator.
func instructed(t *testing.T) (*store.DB, string) {
	t.Helper()
	dir := t.TempDir()
	db := open(t, dir)
	must.Do(t, db.CreateSession(t.Context(), journaltest.Spec("s")))
	must.Get(db.CreateAnnotator(t.Context(), "s", "Ada"))(t)
	return db, dir
}

func TestInstructionsHaveVersions(t *testing.T) {
	db, dir := instructed(t)
	ctx, now := t.Context(), time.Now()
	set := func(format, text string) int64 {
		t.Helper()
		v := must.Get(db.SetInstructions(ctx, "s", format, text, "ada", now))(t)
		return v
	}
	first := journaltest.Spec("s").CurrentInstructions()
	before, err := db.Changes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if v := set(first.Format, first.Text); v != 1 {
		t.Errorf("the same instructions are version %d, want 1", v)
	}
	if n, err := db.Changes(ctx); n != before || err != nil {
		t.Errorf("what changes nothing counts as a change: %d after %d, %v", n, before, err)
	}
	if v := set(idrl.Markdown, "# New"); v != 2 {
		t.Errorf("other instructions are version %d, want 2", v)
	}
	if v := set(idrl.Markdown, ""); v != 3 {
		t.Errorf("no instructions are version %d, want 3", v)
	}
	set(idrl.Markdown, "Newest")
	must.Do(t, db.Close())
	db = open(t, dir)
	want := idrl.Instructions{Version: 4, Format: idrl.Markdown, Text: "Newest"}
	spec, err := db.Spec(ctx, "s")
	if got := spec.CurrentInstructions(); got != want || err != nil {
		t.Errorf("after a restart: %+v, %v", got, err)
	}
	s, err := db.Settings(ctx, "s")
	if s.Told != want || err != nil {
		t.Errorf("settings: %+v, %v", s.Told, err)
	}
	all, err := db.InstructionVersions(ctx, "s")
	if len(all) != 4 || all[0] != first || all[1] != (idrl.Instructions{Version: 2, Format: idrl.Markdown, Text: "# New"}) || all[3] != want || err != nil {
		t.Errorf("all versions: %+v, %v", all, err)
	}
	if _, err := db.InstructionVersions(ctx, "x"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("versions of no session: %v", err)
	}
	list, err := db.Sessions(ctx)
	if err != nil || len(list) != 1 || list[0].Spec.CurrentInstructions() != want {
		t.Errorf("the list of sessions has %+v, %v", list, err)
	}
}

func TestInstructionsRefused(t *testing.T) {
	db, _ := instructed(t)
	for name, test := range map[string]struct {
		id           idrl.SessionID
		format, text string
		want         idrl.Kind
	}{
		"too long":       {"s", idrl.Markdown, strings.Repeat("x", idrl.MaxInstructions+1), idrl.Invalid},
		"another format": {"s", "html", "<b>", idrl.Invalid},
		"no text":        {"s", idrl.Markdown, "a\x00b", idrl.Invalid},
		"no session":     {"x", idrl.Markdown, "a", idrl.NotFound},
	} {
		if v, err := db.SetInstructions(t.Context(), test.id, test.format, test.text, "ada", time.Now()); err == nil || idrl.KindOf(err) != test.want {
			t.Errorf("%s: version %d, %v; want an error of kind %v", name, v, err, test.want)
		}
	}
}

func TestAcknowledged(t *testing.T) {
	db, _ := instructed(t)
	ctx := t.Context()
	must.Get(db.SetInstructions(ctx, "s", idrl.Markdown, "New", "ada", time.Now()))(t)
	for _, step := range []struct {
		version, want int64
		kind          idrl.Kind
		refused       bool
	}{
		{version: 1, want: 1},
		{version: 2, want: 2},
		{version: 1, want: 2}, // it came late
		{version: 3, want: 2, kind: idrl.Invalid, refused: true},
		{version: 0, want: 2, kind: idrl.Invalid, refused: true},
	} {
		err := db.AcknowledgeInstructions(ctx, "s", "a1", step.version)
		if (err != nil) != step.refused || err != nil && idrl.KindOf(err) != step.kind {
			t.Errorf("acknowledge version %d: %v", step.version, err)
		}
		if got, err := db.AcknowledgedInstructions(ctx, "s", "a1"); got != step.want || err != nil {
			t.Errorf("after version %d: acknowledged %d, %v; want %d", step.version, got, err, step.want)
		}
	}
	if err := db.AcknowledgeInstructions(ctx, "s", "a9", 1); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("nobody acknowledges: %v", err)
	}
	if _, err := db.AcknowledgedInstructions(ctx, "s", "a9"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("nobody has acknowledged: %v", err)
	}
}

func TestPictures(t *testing.T) {
	db, _ := instructed(t)
	ctx, now := t.Context(), time.Now()
	picture := func(n int) record.Picture {
		return record.Picture{ID: record.PictureID(fmt.Sprintf("%016d", n)), Type: "image/png", Content: []byte{byte(n)}}
	}
	for n := range record.MaxPictures {
		must.Do(t, db.AddPicture(ctx, "s", picture(n), "ada", now.Add(time.Duration(n))))
	}
	if err := db.AddPicture(ctx, "s", picture(0), "ada", now); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := db.AddPicture(ctx, "s", picture(9), "ada", now); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("one too many: %v", err)
	}
	if err := db.AddPicture(ctx, "x", picture(9), "ada", now); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("one of no session: %v", err)
	}
	list, err := db.Pictures(ctx, "s")
	if len(list) != record.MaxPictures || err != nil || list[1].ID != picture(1).ID || list[1].Content != nil {
		t.Errorf("list: %+v, %v", list, err)
	}
	if p, err := db.Picture(ctx, "s", picture(3).ID); err != nil || p.Type != "image/png" || string(p.Content) != "\x03" {
		t.Errorf("picture 3: %+v, %v", p, err)
	}
	if _, err := db.Picture(ctx, "x", picture(3).ID); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("of another session: %v", err)
	}
	must.Get(db.SetInstructions(ctx, "s", idrl.Markdown, "![](picture:"+string(picture(2).ID)+")", "ada", now))(t)
	if err := db.RemovePicture(ctx, "s", picture(2).ID, "ada", now); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("remove what is shown: %v", err)
	}
	if err := db.RemovePicture(ctx, "s", picture(1).ID, "ada", now); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := db.RemovePicture(ctx, "s", picture(1).ID, "ada", now); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("remove again: %v", err)
	}
}
