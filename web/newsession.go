package web

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/http"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// newSession is GET /sessions/new.
func (s *Server) newSession(c echo.Context) error {
	if _, err := s.researcher(c, auth.CreateSession, ""); err != nil {
		return err
	}
	f := &sessionForm{values: map[string]string{}}
	return render(c, http.StatusOK, templates.NewSession(s.newSessionPage(c, f)))
}

// createSession is POST /sessions. What is wrong is said beside the field, and
// what was typed is kept.
func (s *Server) createSession(c echo.Context) error {
	if _, err := s.researcher(c, auth.CreateSession, ""); err != nil {
		return err
	}
	f := readSessionForm(c, s.cfg.Catalogue())
	if c.FormValue("do") == "preview" {
		return render(c, http.StatusOK, templates.NewSession(s.previewSession(c, f)))
	}
	spec := f.spec.WithDefaults()
	if len(f.errs) == 0 {
		if spec.Seed == 0 {
			spec.Seed = DrawSeed()
		}
		id, err := s.open(c, spec)
		if err == nil {
			return c.Redirect(http.StatusSeeOther, sessionURL(id))
		}
		if kindOf(err) != idrl.Invalid {
			return err
		}
		f.whole = s.explain(err)
	}
	return render(c, http.StatusBadRequest, templates.NewSession(s.newSessionPage(c, f)))
}

// previewSession shows the form with what annotators would read. Of what is wrong it says
// only what is wrong with that.
func (s *Server) previewSession(c echo.Context, f *sessionForm) templates.NewSessionPage {
	spec := f.spec
	f.errs = map[string]string{"instructions": f.errs["instructions"]}
	p := s.newSessionPage(c, f)
	if p.Instructions.Error == "" {
		p.Previewed, p.Preview = true, guideOf(spec, s.env(spec.Env))
	}
	return p
}

// open starts a session if the spec is a possible one.
func (s *Server) open(c echo.Context, spec idrl.SessionSpec) (idrl.SessionID, error) {
	if err := spec.Validate(); err != nil {
		return "", err
	}
	id, err := s.cfg.Sessions.Create(c.Request().Context(), spec)
	if err == nil && id == "" {
		err = errors.New("a session was created without an id")
	}
	return id, err
}

// DrawSeed returns a seed that JSON and spreadsheets keep exactly, not 0.
func DrawSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return 1 + uint64(binary.LittleEndian.Uint32(b[:]))
}

// newSessionPage shows a form with its values and errors.
func (s *Server) newSessionPage(c echo.Context, f *sessionForm) templates.NewSessionPage {
	p := templates.NewSessionPage{
		Layout: s.layout(c, "New session"), Action: "/sessions", Cancel: "/sessions", Error: f.whole,
		Title: f.field("title"), Instructions: f.field("instructions"), Budget: f.field("budget"), Seed: f.field("seed"),
		Candidates: f.field("candidates"), Ahead: f.field("ahead"), RepeatEvery: f.field("repeat_every"), GoldEvery: f.field("gold_every"), TrainEvery: f.field("train_every"),
		PriorVar: f.field("prior_var"), NoiseStd: f.field("noise_std"), TieBand: f.field("tie_band"), RatingVar: f.field("rating_var"),
		Env: f.choice("env", envOptions(s.cfg.Catalogue())), Kind: f.choice("kind", kindOptions()),
		Acquisition: f.choice("acquisition", acquisitionOptions()), Model: f.choice("model", modelOptions()), Solver: f.choice("solver", solverOptions()), Return: f.choice("return", returnOptions()), Prior: f.choice("prior", priorOptions()),
		Likelihood: f.choice("likelihood", likelihoodOptions()),
		Tolerance:  f.field("tolerance"), Doubt: f.field("doubt"), StopByItself: f.choice("stop_by_itself", stopOptions()),
		CompletionCode: f.field("completion_code"), AnswersEach: f.field("answers_each"), Consent: f.field("consent"), WithdrawDays: f.field("withdraw_days"), ShowLearnt: f.choice("show_learnt", learntOptions()), Questions: f.choice("questions", questionOptions()), More: f.more(),
		Strength: f.choice("strength", strengthOptions()), MuchBand: f.field("much_band"), Remarks: f.choice("remarks", remarkOptions()),
		Noise: f.choice("noise_model", noiseOptions()), RatingModel: f.choice("rating_model", ratingOptions()),
		Conditions: f.field("conditions"), HeldOut: f.field("held_out"),
		AdoptAfter: f.field("adopt_after"), MinDwell: f.field("min_dwell"), MaxRate: f.field("max_rate"),
	}
	return p
}

// envOptions returns the environments that sessions can be made of, and then the
// others, which cannot be chosen.
func envOptions(catalogue []EnvChoice) []templates.Option {
	var available, missing []templates.Option
	for _, e := range catalogue {
		if e.Unavailable == "" {
			available = append(available, templates.Option{Value: e.ID, Label: e.Title, Hint: e.Description})
		} else {
			missing = append(missing, templates.Option{Value: e.ID, Label: e.Title, Hint: sentence(e.Unavailable), Disabled: true})
		}
	}
	return append(available, missing...)
}

func kindOptions() (out []templates.Option) {
	hints := map[idrl.QueryKind]string{
		idrl.CompareClips:  "Which of two short clips is better? Easiest for people.",
		idrl.RateClip:      "How good is a short clip, from 0 to 10?",
		idrl.CompareStates: "Which of two still pictures is better?",
		idrl.RateState:     "How good is a still picture, from 0 to 10?",
		idrl.GroupClips:    "Which of six short clips is the best, and which the worst? Each answer tells more, and takes longer.",
	}
	for _, k := range idrl.QueryKinds() {
		out = append(out, templates.Option{Value: string(k), Label: kindText(k), Hint: hints[k]})
	}
	return out
}

func acquisitionOptions() (out []templates.Option) {
	for _, m := range acquisition.Live() {
		out = append(out, templates.Option{Value: m.Name, Label: m.Title, Hint: m.Hint})
	}
	return out
}

func modelOptions() (out []templates.Option) {
	for _, name := range idrl.RewardModels() {
		title, hint := rewardModelText(name)
		out = append(out, templates.Option{Value: name, Label: title, Hint: hint})
	}
	return out
}

func solverOptions() (out []templates.Option) {
	for _, name := range idrl.Solvers() {
		title, hint := solverText(name)
		out = append(out, templates.Option{Value: name, Label: title, Hint: hint})
	}
	return out
}

func priorOptions() (out []templates.Option) {
	labels := map[string][2]string{
		"linear": {"Independent weights", "For hand-made features."},
		"kernel": {"Similar weights", "For features that are types or states with a known similarity."},
	}
	for _, name := range idrl.Priors() {
		out = append(out, templates.Option{Value: name, Label: labels[name][0], Hint: labels[name][1]})
	}
	return out
}

func stopOptions() []templates.Option {
	return []templates.Option{
		{Value: "propose", Label: "Propose it", Hint: "The page of the session says so. Questions go on."},
		{Value: "stop", Label: "Stop", Hint: "No more questions are asked. It goes on if an answer is withdrawn."},
	}
}

func learntOptions() []templates.Option {
	return []templates.Option{
		{Value: "hide", Label: "Nothing", Hint: "So that what is learnt cannot sway their answers."},
		{Value: "show", Label: "What was learnt", Hint: "The best policy before the first answer and now, every ten answers and at the end; without names or rewards."},
	}
}

func strengthOptions() []templates.Option {
	return []templates.Option{
		{Value: "plain", Label: "Which clip is better", Hint: "The quickest answers."},
		{Value: "ask", Label: "Also whether it is much better", Hint: "Shift with the choice, or its second button. Comparisons with the model probit or Bradley–Terry."},
	}
}

func remarkOptions() []templates.Option {
	return []templates.Option{
		{Value: "none", Label: "Nothing more", Hint: "Annotators compare the clips, no more."},
		{Value: "take", Label: "Both bad, both good", Hint: "A remark beside the choice, if they like. For comparisons, as above; not with a network."},
	}
}

func questionOptions() []templates.Option {
	return []templates.Option{
		{Value: idrl.AnswerableQuestions, Label: "Those that people can answer", Hint: "Clips that move and look different, rather those that are probably answered; none like a recent one."},
		{Value: idrl.AnyQuestions, Label: "Any", Hint: "Whatever would tell most if it were answered."},
		{Value: idrl.EverythingQuestions, Label: "Everything", Hint: "Also what robots do after a fall, to measure what the choices above are worth."},
	}
}

func noiseOptions() []templates.Option {
	return []templates.Option{
		{Value: idrl.OwnNoise, Label: "Each annotator's own", Hint: "Learnt from the answers of two annotators or more. Where the models above have no such noise: the session's."},
		{Value: idrl.SharedNoise, Label: "The session's", Hint: "One for all annotators, as set below."},
	}
}

func ratingOptions() []templates.Option {
	labels := map[string][2]string{
		"clipped":  {"A scale that ends", "The lowest and the highest rating stand for what lies beyond them."},
		"gaussian": {"A number", "Every rating is taken for a number, as in sessions of earlier versions."},
	}
	var out []templates.Option
	for _, name := range idrl.RatingModels() {
		out = append(out, templates.Option{Value: name, Label: labels[name][0], Hint: labels[name][1]})
	}
	return out
}

func returnOptions() []templates.Option {
	return []templates.Option{
		{Value: idrl.AutoReturn, Label: "What suits the questions", Hint: "The mean reward of a step for imported rollouts; the sum over the episode for trained policies."},
		{Value: idrl.MeanReturn, Label: "Mean reward of a step", Hint: "For imported rollouts of any length: answers about clips of one length tell what a step is worth."},
		{Value: idrl.SumReturn, Label: "Sum over the episode", Hint: "A longer episode counts more, for better or worse."},
	}
}

func likelihoodOptions() (out []templates.Option) {
	for _, name := range idrl.Likelihoods() {
		title, hint := likelihoodText(name)
		out = append(out, templates.Option{Value: name, Label: title, Hint: hint})
	}
	return out
}
