package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/labels"
	"tiebreak/internal/recordings"
	"tiebreak/internal/session"
	"tiebreak/internal/steps"
	"tiebreak/internal/training"
	"tiebreak/store"
)

// labelFlags are the flags of import about labels.
type labelFlags struct {
	labels, env, title, file string
	seed                     uint64
	steps                    int
	leaveOut                 bool
}

func (f *labelFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.labels, "labels", "", "`folder` with the labels of Uni-RLHF or Preference Transformer, or of a bundle's adapters/uni_rlhf (docs/labels.md)")
	fs.StringVar(&f.env, "env", "", "with --labels, `environment` of the rollouts that they are of: rollouts-NAME")
	fs.IntVar(&f.steps, "segment-steps", 0, "with --labels, `steps` of a segment, if the names of the files do not say")
	fs.BoolVar(&f.leaveOut, "leave-out", false, "with --labels, leave out comparisons whose segments go across the end of a rollout, or are of rollouts that were not imported; they are refused else")
	fs.StringVar(&f.title, "title", "", "with --labels, `name` of the session")
	fs.Uint64Var(&f.seed, "seed", 1, "with --labels, seed of every random choice of the session")
	fs.StringVar(&f.file, "f", "", "with --labels, YAML `file` with the settings of the session (docs/study.md)")
}

// importer is who has given answers that were imported.
const importer = "Imported labels"

// maxDrawn is how many bytes of clips are drawn of imported comparisons.
const maxDrawn = 256 << 20

// A labelImport is one import of labels.
type labelImport struct {
	labelFlags
	std  stdio
	list envs.List
	told handout
	spec idrl.SessionSpec
	set  *recordings.Set

	pairs  []labels.Pair
	counts labels.Counts

	clips map[labels.Segment]idrl.Clip
	drawn int // comparisons of which both clips are
}

// importLabels makes a session of labels that were given elsewhere: all of it, or nothing.
func importLabels(ctx context.Context, std stdio, f importFlags) (err error) {
	if f.from != "" || f.as != "" || f.anew || f.rollouts != "" || f.name != "" || f.env == "" && f.file == "" {
		return fmt.Errorf("%w: with --labels give --env rollouts-NAME, and no bundle, --rollouts, --name, --as or --new-id", errUsage)
	}
	for _, path := range []string{f.labels, f.data} { // before the data folder is made
		if err := present(path); err != nil {
			return err
		}
	}
	in := &labelImport{labelFlags: f.labelFlags, std: std, clips: map[labels.Segment]idrl.Clip{}}
	if in.list, err = environments(own{}.at(f.data)); err != nil {
		return err
	}
	if err := in.settings(); err != nil {
		return err
	}
	if err := in.join(); err != nil {
		return err
	}
	db, err := openShared(ctx, f.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dir, remove, err := db.Scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	err = in.record(ctx, db, dir)
	in.progress("")
	fmt.Fprint(std.err, "\r")
	if err == nil {
		in.print(f.data)
	}
	return err
}

// settings reads those of the session.
func (in *labelImport) settings() (err error) {
	spec := &in.spec
	if in.file != "" {
		file, told, err := readStudy(in.file)
		if err != nil {
			return err
		}
		*spec, in.told = file.Spec, told
	}
	spec.Env = cmp.Or(in.env, spec.Env)
	if in.file == "" || in.seed != 1 {
		spec.Seed = in.seed
	}
	if in.set, err = training.Recorded(in.list, *spec); err != nil {
		return err
	}
	if in.set == nil {
		return idrl.Errorf(idrl.Invalid, "labels-env: %s is no environment of rollouts: import the trajectories that the labels are of first ('tiebreak import --rollouts', docs/labels.md), and give --env rollouts-NAME", spec.Env)
	}
	spec.Title = cmp.Or(in.title, spec.Title, "Labels of "+in.set.Title())
	if spec.Acquisition == "" && !in.set.Named() {
		spec.Acquisition = "igr" // others need policies
	}
	if *spec, err = namedSession(in.list, *spec); err != nil {
		return err
	}
	if spec.Kind != idrl.CompareClips || len(spec.Controls) > 0 || spec.HeldOut > 0 || spec.AdoptAfter > 0 {
		return idrl.Errorf(idrl.Invalid, "labels-settings: labels are comparisons of clips that nobody has chosen by a strategy: they go into a session of the kind %s, without conditions, held-out, and adopt-after", idrl.CompareClips)
	}
	return nil
}

// join reads the labels and finds their segments in the rollouts.
func (in *labelImport) join() error {
	set, err := labels.Read(in.labels)
	if err != nil {
		return err
	}
	switch {
	case in.steps == 0 && set.Steps == 0:
		return idrl.Errorf(idrl.Invalid, "labels-steps: the names of the files do not say how many steps a segment has: give --segment-steps, such as 100, the default of Preference Transformer")
	case in.steps != 0 && set.Steps != 0 && in.steps != set.Steps, in.steps < 0:
		return idrl.Errorf(idrl.Invalid, "labels-steps: --segment-steps is %d, and the names of the files say %d", in.steps, set.Steps)
	}
	in.steps = cmp.Or(in.steps, set.Steps)
	in.pairs, in.counts, err = set.Join(in.set.Rows(), in.steps, in.leaveOut)
	return err
}

// record makes the session in dir, and copies it to db.
func (in *labelImport) record(ctx context.Context, db *store.DB, dir string) (err error) {
	made, err := store.Open(ctx, filepath.Join(dir, "made"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if err := made.CreateSession(ctx, in.spec); err != nil {
		return err
	}
	if err := in.told.keep(ctx, made, in.spec.ID); err != nil {
		return err
	}
	who, err := made.CreateAnnotator(ctx, in.spec.ID, importer)
	if err != nil {
		return err
	}
	if err := in.generation(ctx, made); err != nil {
		return err
	}
	if err := in.answers(ctx, made, who); err != nil {
		return err
	}
	if in.set.Unseen() { // nobody can be asked
		if _, _, err := made.Control(ctx, in.spec.ID, idrl.ActClose, byCommand, time.Now()); err != nil {
			return err
		}
	}
	return made.Read(ctx, in.spec.ID, func(r *store.Reading) error {
		from, err := newRecords(ctx, r)
		if err == nil {
			in.spec, err = db.ImportSession(ctx, from, in.spec.ID, judge(), dir, byCommand)
		}
		return err
	})
}

// generation records the first generation, with the clips that were compared.
func (in *labelImport) generation(ctx context.Context, db *store.DB) error {
	in.progress("reading the rollouts")
	t, err := training.New(in.list, in.spec)
	if err != nil {
		return err
	}
	model, err := training.Model(in.list, in.spec)
	if err != nil {
		return err
	}
	g, err := t.Train(ctx, idrl.TrainJob{Posterior: model.Prior(), Seed: in.spec.Seed, First: true})
	if err != nil {
		return err
	}
	if err := in.cut(ctx, &g); err != nil {
		return err
	}
	if err := in.draw(ctx); err != nil {
		return err
	}
	for _, c := range in.clips {
		if _, known := g.Clips[c.ID]; !known {
			c.Snapshots = nil
			g.Clips[c.ID] = c
		}
	}
	return db.Adopt(ctx, in.spec.ID, g, 0)
}

// cut cuts the segments that were compared, and adds the raw steps that they are of to g.
func (in *labelImport) cut(ctx context.Context, g *idrl.Generation) error {
	var segments []labels.Segment
	for _, p := range in.pairs {
		segments = append(segments, p.Segments[:]...)
	}
	slices.SortFunc(segments, func(a, b labels.Segment) int {
		return cmp.Or(cmp.Compare(a.Rollout, b.Rollout), cmp.Compare(a.Start, b.Start))
	})
	segments = slices.Compact(segments)
	var t *idrl.Trajectory
	for i, s := range segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == 0 || s.Rollout != segments[i-1].Rollout {
			of, episode, err := in.set.Trajectory(s.Rollout)
			if err != nil {
				return err
			}
			t = of
			meta := idrl.Steps{Env: in.spec.Env, Version: in.set.New().Spec().Version, Seed: in.spec.Seed, Episode: uint64(episode)} //nolint:gosec // not negative
			name, content, err := steps.Encode(steps.Of(t, meta))
			if err != nil {
				return err
			}
			t.Raw, g.Steps[name] = name, content
		}
		in.clips[s] = idrl.Segment(t, s.Start, in.steps)
	}
	return nil
}

// draw draws the clips of the first comparisons, until they take maxDrawn bytes.
func (in *labelImport) draw(ctx context.Context) error {
	if in.set.Unseen() {
		return nil
	}
	env := in.set.New()
	total := 0
	for i, p := range in.pairs {
		if total > maxDrawn || ctx.Err() != nil {
			return ctx.Err()
		}
		in.progress(fmt.Sprintf("drawing comparison %d", i+1))
		both := true
		for _, s := range p.Segments {
			c := in.clips[s]
			if c.Media == nil {
				media, err := clip.Encode(env, c)
				if idrl.KindOf(err) == idrl.Invalid { // longer than clips may be
					both = false
					continue
				}
				if err != nil {
					return err
				}
				c.Media = media
				in.clips[s], total = c, total+len(media)
			}
		}
		if both {
			in.drawn++
		}
	}
	return nil
}

// answers records the labels as answers.
func (in *labelImport) answers(ctx context.Context, db *store.DB, who idrl.AnnotatorID) error {
	rec, err := db.Load(ctx, in.spec.ID)
	if err != nil {
		return err
	}
	cfg, err := sessionConfig(in.list, rec)
	if err != nil {
		return err
	}
	cfg.Journal, cfg.Publisher, cfg.Log = db, unheard{}, slog.New(slog.DiscardHandler)
	s, err := session.New(cfg)
	if err != nil {
		return err
	}
	var all []session.Comparison
	for _, p := range in.pairs {
		q := idrl.NewComparison(in.clips[p.Segments[0]], in.clips[p.Segments[1]])
		all = append(all, session.Comparison{ID: idrl.AnswerID(fmt.Sprintf("label-%d", p.N)), Query: q, Choice: p.Choice})
	}
	return s.TakeIn(ctx, who, all, func(done int) { in.progress(fmt.Sprintf("learning from label %d of %d", done, len(all))) })
}

// unheard is a publisher without watchers.
type unheard struct{}

// Publish implements session.Publisher.
func (unheard) Publish(idrl.SessionID, idrl.Event) {}

func (in *labelImport) progress(what string) { fmt.Fprintf(in.std.err, "\r%-50s", what) }

// print says what was made.
func (in *labelImport) print(data string) {
	c, out := in.counts, in.std.out
	fmt.Fprintf(out, "Comparisons: %d taken in: %d first is better, %d second, %d equal\n", len(in.pairs), c.First, c.Second, c.Equal)
	fmt.Fprintf(out, "Left out:    %d of %d: %d across the end of a rollout, %d in rows that were not imported, %d of a segment with itself\n", c.LeftOut(), c.Comparisons, c.Across, c.Missing, c.Same)
	rollouts := map[int]bool{}
	for s := range in.clips {
		rollouts[s.Rollout] = true
	}
	fmt.Fprintf(out, "Segments:    %d of %d steps, of %d rollouts\n", len(in.clips), in.steps, len(rollouts))
	if in.set.Unseen() {
		fmt.Fprintf(out, "Drawn:       none: there is nothing to see of these rollouts, so nobody is asked more: the session is closed\n")
	} else {
		fmt.Fprintf(out, "Drawn:       both clips of %d comparisons\n", in.drawn)
		if n := in.set.ClipSteps(); n != in.steps {
			fmt.Fprintf(out, "Note:        new questions show clips of %d steps; for those of the labels import the rollouts with \"clip_steps\": %d\n", n, in.steps)
		}
	}
	fmt.Fprintf(out, "Session:     %s\nTitle:       %s\nNext:        %s\n", in.spec.ID, in.spec.Title, commandLine("serve", "--data", data))
	if !in.set.Unseen() {
		fmt.Fprintf(out, "             %s\n", commandLine("invite", "new", "--data", data, "--session", string(in.spec.ID)))
	}
}

// madeRecords are the records of a session that was made in a database of its own.
type madeRecords struct {
	ctx    context.Context //nolint:containedctx // of the reading, which lives as long
	from   *store.Reading
	schema int64
	tables []idrl.RecordTable
}

var _ store.Records = (*madeRecords)(nil)

func newRecords(ctx context.Context, from *store.Reading) (*madeRecords, error) {
	schema, err := from.Schema(ctx)
	if err != nil {
		return nil, err
	}
	tables, err := from.RecordTables(ctx)
	return &madeRecords{ctx, from, schema, tables}, err
}

// Session implements store.Records.
func (r *madeRecords) Session() idrl.SessionID { return r.from.Spec().ID }

// Schema implements store.Records.
func (r *madeRecords) Schema() int64 { return r.schema }

// Has implements store.Records.
func (r *madeRecords) Has(table string) bool {
	return slices.ContainsFunc(r.tables, func(t idrl.RecordTable) bool { return t.Name == table })
}

// Records implements store.Records: with the name of the annotator, who is no person.
func (r *madeRecords) Records(t idrl.RecordTable, yield func([]any) error) error {
	return r.from.Records(r.ctx, t, func(values []any) error {
		values = slices.Clone(values)
		for i, c := range t.Columns {
			if b, ok := values[i].([]byte); ok && b == nil { // an empty blob, which is not NULL
				values[i] = []byte{}
			}
			if t.Name == "annotator" && c.Name == "name" && values[i] == "" {
				values[i] = importer
			}
		}
		return yield(values)
	})
}
