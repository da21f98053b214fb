package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
)

// People go on where the labels end: they are asked about clips of the rollouts, and what they answer
// is learnt with the labels. Where there is nothing to see the session is closed, and people are told
// so if a researcher opens it again.
func TestLabelsGoOn(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{true, false} {
		rollouts := filepath.Join(labelSample, "rollouts")
		if seen {
			rollouts = filmedSample(t)
		}
		data, stdout := importedLabels(t, rollouts, filepath.Join(labelSample, "uni_rlhf"))
		if seen != strings.Contains(stdout, "both clips of 240 comparisons") {
			t.Errorf("seen %v: %s", seen, stdout)
		}
		list := must.Get(environments(own{}.at(data)))(t)
		rec := learntIn(t, data).rec
		id := rec.Spec.ID
		if rec.Settings.State.Ended() == seen {
			t.Errorf("seen %v: the session is %s", seen, rec.Settings.State)
		}
		labelledFolder{dir: data, worker: []string{"sh", "-c", "cat > /dev/null"}}.serve(t, list, func(a *app, base string) {
			s, err := a.manager.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if seen {
				token := must.Get(a.auth.NewInvitation(t.Context(), id, 1, time.Hour))(t)
				conn := must.Get(client.Dial(t.Context(), base+"/join/"+token))(t)
				defer conn.Close()
				must.Do(t, loadtest.New(conn, 3).Label(3))
			} else {
				if _, _, err := a.db.Control(t.Context(), id, record.ActResume, "test", time.Now()); err != nil {
					t.Fatal(err)
				}
				must.Do(t, s.Follow(t.Context()))
				offer, err := s.Claim(t.Context(), "a2")
				if err != nil || !offer.Done || len(offer.Open) != 0 || !strings.Contains(offer.Waiting, "have no pictures") {
					t.Errorf("%+v, %v", offer, err)
				}
			}
			status, err := s.Status(t.Context())
			if want := map[bool]int{true: 243, false: 240}[seen]; err != nil || status.Answers != want || len(status.Weights) != 3 || len(status.Regret) == 0 {
				t.Errorf("%d answers, want %d; weights %v; %v", status.Answers, want, status.Weights, err)
			}
			for _, r := range status.Recent {
				if (len(r.Clips) == 2) != seen {
					t.Errorf("answer %d shows the clips %q", r.Answer.Seq, r.Clips)
				}
			}
			for _, who := range status.Annotators {
				if imported := who.Annotator == "a1"; imported && (who.MedianTime != 0 || who.Sided != 0 || who.Answers != 240) {
					t.Errorf("%+v", who)
				}
			}
			media, err := a.db.ClipMedia(t.Context(), id, a.rowClip(t, id))
			if seen != (err == nil && len(media) > 0) {
				t.Errorf("seen %v: the clip of a label has %d bytes, %v", seen, len(media), err)
			}
		})
		if seen {
			continue
		}
		if status, _, stderr := cli(t, "session", "create", "--data", data, "--env", "rollouts-sample", "--acquisition", "igr"); status == 0 || !strings.Contains(stderr, "there can be no questions") {
			t.Errorf("a session of what cannot be seen: %d %s", status, stderr)
		}
	}
}

// The seed on the command line goes before that of a study file, also where it is the default; the
// title is made of that of the rollouts, however long this is.
func TestLabelsSettings(t *testing.T) {
	t.Parallel()
	rollouts := t.TempDir()
	must.Do(t, os.CopyFS(rollouts, os.DirFS(filepath.Join(labelSample, "rollouts"))))
	withManifest(t, rollouts, func(m map[string]any) { m["title"] = strings.Repeat("界", 80) })
	study := filepath.Join(t.TempDir(), "study.yaml")
	must.Do(t, os.WriteFile(study, []byte("title: Pilot\nseed: 5\nacquisition: igr\n"), 0o600))
	for _, test := range []struct {
		args  []string
		seed  uint64
		title string
	}{
		{nil, 1, "Labels of 界"},
		{[]string{"-f", study}, 5, "Pilot"},
		{[]string{"-f", study, "--seed", "1"}, 1, "Pilot"},
	} {
		data, _ := importedLabels(t, rollouts, filepath.Join(labelSample, "uni_rlhf"), test.args...)
		if got := learntIn(t, data).rec.Spec; got.Seed != test.seed || !strings.HasPrefix(got.Title, test.title) || utf8.RuneCountInString(got.Title) > idrl.MaxTitle {
			t.Errorf("%q: seed %d, want %d; title %q", test.args, got.Seed, test.seed, got.Title)
		}
	}
	if status, _, stderr := cli(t, "import", "--data", t.TempDir(), "--seed", "1", "b.zip"); status == 0 || !strings.Contains(stderr, "are for --labels") {
		t.Errorf("a seed without labels: %d %s", status, stderr)
	}
}

// An import of labels that is killed, or refused, leaves nothing behind, and can be run again; also
// withDatabase a server.
func TestLabelsAreWhole(t *testing.T) {
	t.Parallel()
	data := importedRollouts(t, filepath.Join(labelSample, "rollouts"))
	args := []string{"import", "--labels", filepath.Join(labelSample, "uni_rlhf"), "--env", "rollouts-sample", "--data", data}
	sessions := func() string {
		_, stdout, _ := cli(t, "export", "--data", data)
		return stdout
	}
	whole := func() int {
		list := sessions()
		if n := strings.Count(list, "\n"); n != strings.Count(list, "  240 answers") {
			t.Fatalf("half an import: %s", list)
		}
		return strings.Count(list, "\n")
	}
	for _, after := range []time.Duration{5, 40, 80, 120, 160, 240, 320} {
		cmd := exec.Command(program(t), args...)
		must.Do(t, cmd.Start())
		<-time.After(after * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		whole()
	}
	n := whole()
	first, second, given := released(t, filepath.Join(labelSample, "uni_rlhf"))
	change := func(list []float64, i int, v float64) []float64 {
		out := slices.Clone(list)
		out[i] = v
		return out
	}
	good, pickles := anArrayFolder(t, first, second, given), anArrayFolder(t, first, second, given)
	must.Do(t, errors.Join(os.Remove(filepath.Join(pickles, "human_label.npy")), os.WriteFile(filepath.Join(pickles, "human_label.pkl"), []byte("\x80\x04]."), 0o600)))
	for _, test := range []struct{ says, labels, args string }{
		{"labels-steps: the file names", good, ""},
		{"labels-steps: --segment-steps is 9, but", args[2], "--segment-steps 9"},
		{"labels-steps: --segment-steps is -1, and a segment has", good, "--segment-steps -1"},
		{"labels-steps: --segment-steps is -1, and a segment has", args[2], "--segment-steps -1"},
		{"labels-across: ", good, "--segment-steps 9223372036854775807"},
		{"labels-across: ", good, "--segment-steps 11"},
		{"labels-range: comparison 3", anArrayFolder(t, change(first, 3, 5000), second, given), "--segment-steps 10"},
		{"labels-length", anArrayFolder(t, first[1:], second, given), "--segment-steps 10"},
		{"labels-value: label 7", anArrayFolder(t, first, second, change(given, 7, 2)), "--segment-steps 10"},
		{"labels-row: number 7", anArrayFolder(t, change(first, 7, 0.5), second, given), "--segment-steps 10"},
		{"labels-missing", t.TempDir(), ""},
		{"labels-pickle: \"human_label.pkl\" is a pickle", pickles, "--segment-steps 10"},
		{"labels-env: gridworld", good, "--env gridworld --segment-steps 10"},
		{"there is no", filepath.Join(data, "none"), ""},
		{"are not in this data folder: import them", good, "--env rollouts-none --segment-steps 10"},
		{"with --labels give", good, "--name x"},
		{"with --labels give", good, "--rollouts x"},
	} {
		line := append([]string{"import", "--data", data, "--labels", test.labels, "--env", "rollouts-sample"}, strings.Fields(test.args)...)
		if status, _, stderr := cli(t, line...); status == 0 || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: %d %s, want %q", test.args, status, stderr, test.says)
		}
	}
	if status, _, stderr := cli(t, "import", "--data", data, "--title", "x", "b.zip"); status == 0 || !strings.Contains(stderr, "is for --labels and --lerobot") {
		t.Errorf("%d %s", status, stderr)
	}
	if whole() != n {
		t.Errorf("what was refused is there: %s", sessions())
	}
	if status, _, stderr := cli(t, args...); status != 0 {
		t.Fatal(stderr)
	}
	status, stdout, stderr := cli(t, "import", "--data", data, "--labels", good, "--env", "rollouts-sample", "--segment-steps", "14", "--leave-out")
	if status != 0 || !strings.Contains(stdout, "cross the end of a rollout") || strings.Contains(stdout, "Left out:    0 ") {
		t.Errorf("%d %s%s", status, stdout, stderr)
	}
	labelledFolder{dir: data}.serve(t, envs.Catalogue(), func(a *app, base string) {
		before := must.Get(a.db.Sessions(t.Context()))(t)
		for begun := time.Now(); ; { // on a busy machine it may take longer than answers may wait
			status, _, stderr := cli(t, args...)
			if status == 0 {
				break
			}
			if !strings.Contains(stderr, "import-busy") || time.Since(begun) > patience {
				t.Fatalf("beside a server: %s", stderr)
			}
		}
		if list, err := a.db.Sessions(t.Context()); err != nil || len(list) != len(before)+1 {
			t.Errorf("the server has %v, %v", list, err)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(data, ".import-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
