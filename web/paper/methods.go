package paper

import (
	"fmt"
	"strconv"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// A Paragraph of a methods section: complete sentences in the past tense.
type Paragraph struct{ Title, Text string }

// A Methods is the text of a methods section, with what it cites.
type Methods struct {
	Paragraphs []Paragraph
	References []string // a line for each
	BibTeX     string
}

// MethodsOf writes the methods section of a session or an arena from its settings and what has happened in it.
func MethodsOf(s Source) Methods {
	parts := []Paragraph{
		{"Task", task(s)},
		{"Choice of questions", choice(s)},
		{"Model of the answers", model(s)},
		{"Policies", policies(s)},
		{"People and exclusions", participants(s)},
		{"Agreement", agreed(s)},
		{"Predictions", predictions(s)},
		{"Stopping", stopped(s)},
		{"Software", software(s)},
	}
	if s.Spec.IsArena() {
		parts = []Paragraph{
			{"Task", task(s)},
			{"Choice of questions", arenaChoice(s)},
			{"Analysis", arenaAnalysis(s)},
			{"People and exclusions", participants(s)},
			{"Agreement", agreed(s)},
			{"Stopping", arenaStop(s)},
			{"Software", software(s)},
		}
	}
	var out Methods
	used := map[string]bool{}
	for _, p := range parts {
		if p.Text != "" {
			out.Paragraphs = append(out.Paragraphs, Paragraph{p.Title, cite(p.Text, used)})
		}
	}
	for _, r := range references {
		if used[r.key] {
			out.References = append(out.References, r.line())
			out.BibTeX += r.bibtex()
		}
	}
	return out
}

// text joins sentences; empty ones are left out.
func text(sentences ...string) string {
	var out []string
	for _, s := range sentences {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// number writes a number without needless digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// percent writes a share in per cent.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'g', 3, 64) + " %" }

// task says what was asked.
func task(s Source) string {
	spec := s.Spec
	asked := map[idrl.QueryKind]string{
		idrl.CompareClips:  "People saw two short clips side by side and chose the better one",
		idrl.RateClip:      "People saw one short clip at a time and rated it from 0 to 10",
		idrl.CompareStates: "People saw two still pictures side by side and chose the better one",
		idrl.RateState:     "People saw one still picture at a time and rated it from 0 to 10",
		idrl.JudgeClip:     "People saw one short clip at a time and said whether it showed a success, a partial success or a failure",
		idrl.GroupClips:    fmt.Sprintf("People saw %d short clips and named the best and the worst of them", idrl.GroupSize),
	}[spec.Kind]
	switch {
	case spec.Kind.Comparison():
		asked += ", or said that both were equal, or that they could not tell."
	default:
		asked += ", or said that they could not tell."
	}
	return text(
		fmt.Sprintf("Preferences were collected in the environment “%s” (%s).", s.Env, spec.Env), asked,
		when(spec.Strength, "They could also say that a clip was much better."),
		when(spec.Remarks, "They could add the remark that both clips were bad, or both good."),
		purpose(s.Purpose),
		either(spec.Instructions != "", "They read the instructions that are reproduced in the report.", "They read the guide that the software has for the environment."),
		when(spec.Consent != "", "They agreed to a consent text before the first question."),
		either(spec.ShowLearnt, "Every ten answers they saw the policy that had been learnt beside the first one.", "They did not see what was learnt from their answers."),
	)
}

func purpose(said string) string {
	if said == "" {
		return ""
	}
	return "They were asked to judge by this: “" + strings.TrimSuffix(said, ".") + "”."
}

func when(is bool, sentence string) string {
	if is {
		return sentence
	}
	return ""
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// software says with what it was done.
func software(s Source) string {
	last := ""
	if at := s.about().Last; !at.IsZero() {
		last = fmt.Sprintf(" The last answer came on %s UTC.", at.UTC().Format("2 January 2006, 15:04"))
	}
	return fmt.Sprintf("The data were collected and analysed with %s; all random choices followed from the seed %d.%s", s.Program, s.Spec.Seed, last)
}

// participants says who answered and whose answers are left out.
func participants(s Source) string {
	about, spec, out := s.about(), s.Spec, s.leftOut()
	var turned, names []string
	marked := 0
	for _, p := range s.Quality.People {
		if p.Turned > 0 && !p.LeftOut {
			turned = append(turned, fmt.Sprintf("%s (%s)", p.Annotator, words.Plural(p.Turned, "answer")))
		}
		marked += p.Marked
	}
	for _, p := range out {
		names = append(names, string(p.Annotator))
	}
	sentences := []string{
		sentenced(spec.Recruitment), sentenced(spec.Payment),
		fmt.Sprintf("%s gave %s that count.", either(about.People == 1, "One person", fmt.Sprintf("%d people", about.People)), words.Plural(about.Answers, "answer")),
	}
	if len(out) > 0 {
		sentences = append(sentences, fmt.Sprintf("The answers of %s (%s) were left out by a researcher or a rule.", words.Plural(len(out), "annotator"), words.List(names)))
	} else {
		sentences = append(sentences, "Nobody's answers were left out.")
	}
	if len(turned) > 0 {
		sentences = append(sentences, "Answers of people who had confused the sides counted the other way round: "+words.List(turned)+".")
	}
	if s.Withdrawn > 0 {
		sentences = append(sentences, fmt.Sprintf("%s withdrew their data, which are in no number here.", either(s.Withdrawn == 1, "One person", fmt.Sprintf("%d people", s.Withdrawn))))
	}
	sentences = append(sentences, hurried(spec, marked), checks(s), exclusions(spec))
	return text(sentences...)
}

// sentenced returns a text of the researcher as a part of a paragraph.
func sentenced(said string) string {
	said = strings.Join(strings.Fields(said), " ")
	if said == "" || strings.ContainsAny(said[len(said)-1:], ".!?") {
		return said
	}
	return said + "."
}

// hurried says which answers are marked.
func hurried(spec idrl.SessionSpec, marked int) string {
	var rules []string
	if spec.MinDwell > 0 {
		rules = append(rules, fmt.Sprintf("before %s of the clip had been on the screen", percent(spec.MinDwell)))
	}
	if spec.MaxRate > 0 {
		rules = append(rules, fmt.Sprintf("faster than %d a minute", spec.MaxRate))
	}
	if len(rules) == 0 {
		return ""
	}
	return fmt.Sprintf("Answers that were given %s were marked but not left out: %d.", strings.Join(rules, " or "), marked)
}

// exclusions says by which rules the program left out answers; empty for none.
func exclusions(spec idrl.SessionSpec) string {
	if !spec.Excludes() {
		return ""
	}
	var rules []string
	add := func(share float64, what string) {
		if share > 0 {
			rules = append(rules, fmt.Sprintf(what, percent(share)))
		}
	}
	add(spec.ExcludeGold, "answered fewer than %s of the gold questions as the researcher did")
	add(spec.ExcludeRepeats, "answered fewer than %s of the repeated questions as before")
	add(spec.ExcludeMarked, "had more than %s of their answers marked")
	return fmt.Sprintf("By rules stated before, the answers of a person were left out who, from %d of what a rule counts on, %s.", spec.ExcludeAfter, strings.Join(rules, ", or "))
}

// checks says how answers were checked by known and repeated questions.
func checks(s Source) string {
	gold, right, repeats, same := 0, 0, 0, 0
	for _, p := range s.Quality.People {
		gold, right, repeats, same = gold+p.Gold, right+p.GoldRight, repeats+p.Repeats, same+p.SaidSame
	}
	out := ""
	if s.Spec.GoldEvery > 0 && gold > 0 {
		out = fmt.Sprintf("About every %s question of a person was one whose right answer a researcher had given; %d of %d such answers agreed with it.", ordinal(s.Spec.GoldEvery), right, gold)
	}
	if s.Spec.RepeatEvery > 0 && repeats == 0 {
		return text(out, fmt.Sprintf("Every %s question of a person was to repeat an earlier one with the sides exchanged; none of these has been answered yet.", ordinal(s.Spec.RepeatEvery)))
	}
	if s.Spec.RepeatEvery > 0 {
		out = text(out, fmt.Sprintf("Every %s question of a person repeated an earlier one with the sides exchanged;", ordinal(s.Spec.RepeatEvery)))
		if s.Quality.Rated {
			return out + fmt.Sprintf(" %s.", words.Plural(repeats, "rating")+" came a second time")
		}
		out += fmt.Sprintf(" %d of %d repeats got the same answer.", same, repeats)
	}
	return out
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
		return fmt.Sprintf("%dth", n)
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// agreed says how well people agreed.
func agreed(s Source) string {
	q := s.Quality
	if q.Questions == 0 {
		return "No question was answered by two people, so their agreement is not known."
	}
	between := fmt.Sprintf("Over %s that two people or more answered,", words.Plural(q.Questions, "question"))
	if q.Alpha == nil {
		return between + " Krippendorff’s α [krippendorff2004] is not defined."
	}
	alpha := fmt.Sprintf("%s Krippendorff’s α [krippendorff2004] was %s%s.", between, words.Signed(q.Alpha.Value, 2), ranged(q.Alpha, 1, 2, ""))
	if q.Raw != nil {
		alpha += fmt.Sprintf(" Of pairs of answers to one question, %s were the same%s.", words.Signed(100*q.Raw.Value, 0)+" %", ranged(q.Raw, 100, 0, " %"))
	}
	return alpha
}

// predictions says how well answers were predicted before they were given.
func predictions(s Source) string {
	if s.Insight == nil || s.Insight.Fit.N == 0 {
		return ""
	}
	f := s.Insight.Fit
	return fmt.Sprintf("Each answer was predicted from the answers before it. Of %s, %s were the most probable one; the expected calibration error [guo2017] was %.3f, where %.3f to %.3f are expected by chance of predictions that are right.",
		words.Plural(f.N, "answer"), percentWhole(f.Right), f.ECE, f.ByChance[0], f.ByChance[1])
}

// ranged writes the interval of a coefficient in brackets; nothing if it is not known.
func ranged(c *quality.Coefficient, factor float64, decimals int, unit string) string {
	if c.Low == nil || c.High == nil {
		return ""
	}
	method := "bootstrap"
	if c.Wilson {
		method = "Wilson"
	}
	return fmt.Sprintf(" (95 %% %s interval over questions %s to %s%s)", method, words.Signed(factor**c.Low, decimals), words.Signed(factor**c.High, decimals), unit)
}
