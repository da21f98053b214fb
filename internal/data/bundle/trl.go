package bundle

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Preference is one in TRL's standard format, with implicit prompt.
type Preference struct {
	Chosen          string        `json:"chosen"` // the features of a clip in words, as Rejected
	Rejected        string        `json:"rejected"`
	ChosenSegment   idrl.ClipID   `json:"chosen_segment"`
	RejectedSegment idrl.ClipID   `json:"rejected_segment"`
	Label           idrl.AnswerID `json:"label_id"`
}

// PreferenceOf returns the preference of a comparison, whose answer is as it counts, and the places of its clips; ok is false if it prefers
// neither. features are the names of those of clips.
func PreferenceOf(r *record.Labelled, features []string) (p Preference, chosen, rejected int, ok bool) {
	switch r.Answer.Choice { //nolint:exhaustive // others prefer neither
	case idrl.ChoseA:
		chosen, rejected = 0, 1
	case idrl.ChoseB:
		chosen, rejected = 1, 0
	default:
		return p, 0, 0, false
	}
	return Preference{
		Chosen: inWords(r.Clips[chosen].Phi, features), Rejected: inWords(r.Clips[rejected].Phi, features),
		ChosenSegment: r.Query.Clips[chosen], RejectedSegment: r.Query.Clips[rejected], Label: r.Answer.ID,
	}, chosen, rejected, true
}

func (b *builder) trl(ctx context.Context, w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return b.pairs(ctx, func(r *record.Labelled) error {
		p, _, _, ok := PreferenceOf(r, b.spec.Features)
		if !ok {
			return nil
		}
		return out.Encode(p)
	})
}

// inWords says features in words, as a language model reads them: "speed 1.5, effort 0.25".
func inWords(phi []float64, features []string) string {
	parts := make([]string, len(phi))
	for i, v := range phi {
		parts[i] = strconv.FormatFloat(v, 'g', 6, 64)
		if i < len(features) {
			parts[i] = features[i] + " " + parts[i]
		}
	}
	return strings.Join(parts, ", ")
}
