package episodes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// Format is the name of the export that this package writes.
const Format = "lerobot"

// GoodShare is the share of the episodes of a task that are good, where nothing else is wanted.
const GoodShare = 0.5

// Names of the files.
const (
	preferencesName = "preferences.parquet"
	episodesName    = "episodes.parquet"
	wordsName       = "preferences.jsonl"
	goodName        = "good_episodes.json"
	readmeName      = "README.md"
)

// Config says what is written. All of it is required.
type Config struct {
	// Read calls its argument with the session as it is at one moment.
	Read func(context.Context, func(bundle.Source) error) error

	// Recorded returns the rollouts that the session is about; nil if it is about no recordings.
	Recorded func(idrl.SessionSpec) (*recordings.Set, error)

	// Complete returns the settings with the names of features.
	Complete func(idrl.SessionSpec) (idrl.SessionSpec, error)

	// Acted returns the policy of the rollouts that a candidate of the session is.
	Acted func(*recordings.Set, idrl.Candidate) (recordings.Policy, bool)

	// Scores returns the score of each rollout by what the session has learnt; of an arena that of each entrant.
	Scores func(context.Context, bundle.Source, *recordings.Set) ([]Score, error)

	// Uncut reports whether the session is an arena whose clips are still being cut.
	Uncut func(context.Context) (bool, error)

	Program   string  // its name and version
	GoodShare float64 // of the episodes of each task with a score, above 0, at most 1
}

// About reports whether a session is about recordings, so that it has labels of episodes.
func About(spec idrl.SessionSpec) bool { return strings.HasPrefix(spec.Env, recordings.IDPrefix) }

// A Score is the value of an episode: the posterior of its reward, in units of the weights, or of a strength, in log-odds.
type Score struct{ Mean, Std float64 }

// CheckShare returns an error of kind Invalid unless share is one of GoodShare.
func CheckShare(share float64) error {
	if !(share > 0 && share <= 1) {
		return idrl.Errorf(idrl.Invalid, "the share of good episodes must be above 0 and at most 1, such as %g; got %g", GoodShare, share)
	}
	return nil
}

// WriteZip is Write into a zip archive, in a folder of that name.
func WriteZip(ctx context.Context, w io.Writer, folder string, cfg Config) error {
	z := bundle.NewZip(w, folder)
	if err := Write(ctx, z, cfg); err != nil {
		return err
	}
	return z.Close()
}

// Write writes the labels of a session about recordings to sink. It reads one moment; the result is a function of that moment and of cfg, to
// the byte. It returns an error of kind Invalid if the session is about no recordings, and of kind NotFound if there are no answers.
func Write(ctx context.Context, sink bundle.Sink, cfg Config) error {
	if err := CheckShare(cfg.GoodShare); err != nil {
		return err
	}
	return cfg.Read(ctx, func(from bundle.Source) error {
		spec, err := cfg.Complete(from.Spec())
		if err != nil {
			return err
		}
		set, err := cfg.Recorded(spec)
		if err != nil {
			return err
		}
		if set == nil {
			return idrl.Errorf(idrl.Invalid, "session %s is about the environment %s, whose episodes are no recordings: there is no data set for the labels to stand beside. Use the format %s", spec.ID, spec.Env, bundle.Format)
		}
		w := &writer{cfg: cfg, sink: sink, from: from, spec: spec}
		if w.uncut, err = cfg.Uncut(ctx); err != nil {
			return err
		}
		if w.places, err = findPlaces(ctx, from, set, cfg.Acted); err != nil {
			return err
		}
		return w.write(ctx)
	})
}

// A writer writes the files of one session.
type writer struct {
	cfg    Config
	sink   bundle.Sink
	from   bundle.Source
	spec   idrl.SessionSpec
	places places
	uncut  bool // clips of the arena

	episodes []episodeRow
	counts   counts
}

// counts are what the README says.
type counts struct {
	Preferences, Decisive, Equal, Unclear int
	Verdicts                              int
	Episodes, Good                        int
}

func (w *writer) write(ctx context.Context) error {
	w.episodes = w.places.rows()
	entrants, err := w.preferences(ctx)
	if err != nil {
		return err
	}
	if err := w.verdicts(ctx); err != nil {
		return err
	}
	if w.counts.Preferences+w.counts.Verdicts == 0 {
		return idrl.Errorf(idrl.NotFound, "session %s has no answers about two clips and no verdicts about success yet, so there is nothing to write beside the data set", w.spec.ID)
	}
	scores, err := w.cfg.Scores(ctx, w.from, w.places.set)
	if err != nil {
		return err
	}
	if err := w.score(scores, entrants); err != nil {
		return err
	}
	good := markGood(w.episodes, w.cfg.GoodShare)
	w.counts.Episodes, w.counts.Good = len(w.episodes), len(good)
	if err := w.file(episodesName, func(out io.Writer) error {
		_, err := bundle.WriteTable(out, nil, func(add func(episodeRow) error) error { return each(w.episodes, add) })
		return err
	}); err != nil {
		return err
	}
	if err := w.file(wordsName, func(out io.Writer) error { return w.words(ctx, out) }); err != nil {
		return err
	}
	if err := w.file(goodName, func(out io.Writer) error { return json.NewEncoder(out).Encode(good) }); err != nil {
		return err
	}
	return w.file(readmeName, w.readme)
}

// preferences writes the table of answers, and counts what they say of each episode. It returns which entrant of an arena each policy of the
// recordings is, by its place.
func (w *writer) preferences(ctx context.Context) (entrants map[int]int, err error) {
	entrants = map[int]int{}
	err = w.file(preferencesName, func(out io.Writer) (err error) {
		w.counts.Preferences, err = bundle.WriteTable(out, nil, func(add func(preferenceRow) error) error {
			return bundle.Comparisons(ctx, w.from, func(c bundle.Comparison) error {
				var at [2]int
				for side := range at {
					if at[side], err = w.places.of(&c.Clips[side]); err != nil {
						return err
					}
					if k, ok := w.spec.Arena.EntrantOf(c.Clips[side].From); ok && w.spec.IsArena() {
						entrants[w.places.about[at[side]].Policy] = k
					}
				}
				w.count(at, c.Answer.Choice)
				return add(w.preference(c, at))
			})
		})
		return err
	})
	return entrants, err
}

// count adds an answer to what is said of its two episodes.
func (w *writer) count(at [2]int, choice idrl.Choice) {
	a, b := &w.episodes[at[0]], &w.episodes[at[1]]
	a.Answers++
	if at[0] != at[1] {
		b.Answers++
	}
	switch choice { //nolint:exhaustive // Comparisons has no others
	case idrl.ChoseA:
		a.Wins, b.Losses = a.Wins+1, b.Losses+1
		w.counts.Decisive++
	case idrl.ChoseB:
		a.Losses, b.Wins = a.Losses+1, b.Wins+1
		w.counts.Decisive++
	case idrl.Equal:
		if a.Ties++; at[0] != at[1] {
			b.Ties++
		}
		w.counts.Equal++
	default:
		w.counts.Unclear++
	}
}

// score gives the episodes their scores.
func (w *writer) score(scores []Score, entrants map[int]int) error {
	for i := range w.episodes {
		place := i
		if w.spec.IsArena() {
			k, ok := entrants[w.places.about[i].Policy]
			if !ok {
				continue
			}
			place = k
		}
		if place >= len(scores) {
			return idrl.Errorf(idrl.Internal, "there are %d scores, and none of place %d", len(scores), place)
		}
		w.episodes[i].Score, w.episodes[i].ScoreStd = &scores[place].Mean, &scores[place].Std
	}
	return nil
}

// words writes the answers that prefer one clip in the form of TRL.
func (w *writer) words(ctx context.Context, out io.Writer) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	return bundle.Comparisons(ctx, w.from, func(c bundle.Comparison) error {
		p, chosen, rejected, ok := bundle.PreferenceOf(c.Labelled, w.spec.Features)
		if !ok {
			return nil
		}
		row := preferenceLine{Preference: p}
		for _, of := range []struct {
			clip int
			dst  *piece
		}{{chosen, &row.ChosenPiece}, {rejected, &row.RejectedPiece}} {
			at, err := w.places.of(&c.Clips[of.clip])
			if err != nil {
				return err
			}
			*of.dst = piece{w.episodes[at].Index, int64(c.Clips[of.clip].Start), int64(c.Clips[of.clip].Steps)}
		}
		return lines.Encode(row)
	})
}

// file writes one file.
func (w *writer) file(name string, fill func(io.Writer) error) error {
	out, err := w.sink.Create(name, name == preferencesName || name == episodesName)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := fill(out); err != nil {
		_ = out.Close() // what was written is thrown away
		return err
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func each[T any](list []T, f func(T) error) error {
	for _, v := range list {
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}
