package web

import (
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/study/settings"
)

// chosenBy says which strategies choose the questions of a session, for people.
func chosenBy(spec idrl.SessionSpec) string {
	if !spec.Compares() {
		return acquisition.Title(spec.Acquisition)
	}
	var parts []string
	for _, c := range spec.Conditions() {
		parts = append(parts, acquisition.Title(c.Strategy)+" "+percentText(c.Share))
	}
	text := strings.Join(parts, ", ")
	if len(spec.Controls) == 0 {
		text = acquisition.Title(spec.Acquisition)
	}
	if spec.HeldOut > 0 {
		text += "; held out " + percentText(spec.HeldOut)
	}
	return text
}

// percentText writes a share in per cent, with up to three digits.
func percentText(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) + " %" }

// modelText names the model of the reward, the likelihood and the prior of a session, for
// people.
func modelText(spec idrl.SessionSpec) string {
	answers := "Gaussian rating"
	if spec.Model == idrl.NetworkModel { // its likelihood is fixed
		answers = settings.Get("likelihood").Title("bradley-terry")
		if spec.Noise == idrl.OwnNoise {
			answers = settings.Get("likelihood").Title("probit")
		}
		return "Neural network, " + answers
	}
	if spec.Kind.Made().Comparison() {
		answers = settings.Get("likelihood").Title(spec.Likelihood)
	}
	return answers + ", " + spec.Prior + " prior"
}
