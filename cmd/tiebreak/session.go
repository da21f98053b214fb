package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/studyfile"
	"tiebreak/internal/train/training"
)

// sessionFlags are the flags of session.
type sessionFlags struct {
	own own
	siteFlags
	instructions, consent string // paths of files
	file                  string // of the study; empty: none
	template              bool   // write one
	spec                  idrl.SessionSpec
}

func (f *sessionFlags) declare(fs *flag.FlagSet) {
	f.siteFlags.declare(fs)
	ownFlags(fs, &f.own)
	fs.StringVar(&f.spec.Title, "title", "Untitled session", "`name` of the session")
	fs.StringVar(&f.spec.Instructions, "instructions", "", "`text` for annotators, one point per line; without it they read what the environment brings")
	instructionsFileFlag(fs, &f.instructions)
	consentFileFlag(fs, &f.consent)
	fs.Uint64Var(&f.spec.Seed, "seed", 1, "seed of every random choice and of the environment's layout")
	fs.StringVar(&f.file, "f", "", "YAML `file` with the settings (docs/study.md); flags that are given besides go before it")
	fs.BoolVar(&f.template, "template", false, "make no session: write such a file, with every setting and its default")
	declareSpec(fs, &f.spec)
	declareModel(fs, &f.spec)
}

// declareModel declares the numbers of the models that a session learns by.
func declareModel(fs *flag.FlagSet, spec *idrl.SessionSpec) {
	fs.Float64Var(&spec.PriorVar, "prior-var", 0, "prior `variance` of each weight, on robots in units of its scale squared; 0: 1")
	fs.Float64Var(&spec.NoiseStd, "noise-std", 0, "standard deviation of the noise of comparisons, in units of `return`; 0: 3, of stills 0.5")
	fs.Float64Var(&spec.TieBand, "tie-band", 0, "half-width of equal, in units of `return`; 0: a quarter of --noise-std")
	fs.Float64Var(&spec.MuchBand, "much-band", 0, "half-width of what is not much better, in units of `return`, with --strength; 0: twice --noise-std")
	fs.Float64Var(&spec.RatingVar, "rating-var", 0, "`variance` of a rating, on a scale from -1 to 1; 0: 0.05")
	fs.StringVar(&spec.RatingModel, "rating-model", idrl.RatingModels()[0], "`model` of a rating: "+strings.Join(idrl.RatingModels(), ", ")+"; clipped: the ends of the scale stand for what lies beyond")
}

// declareSpec declares the flags of what a session is made of, but for its seed.
func declareSpec(fs *flag.FlagSet, spec *idrl.SessionSpec) {
	kinds := make([]string, 0, 4)
	for _, k := range idrl.QueryKinds() {
		kinds = append(kinds, string(k))
	}
	catalogue := envs.Catalogue()
	fs.StringVar(&spec.Env, "env", catalogue[0].ID, "`environment`: "+catalogue.Names()+"; and own models")
	fs.StringVar((*string)(&spec.Kind), "kind", kinds[0], "`query type`: "+strings.Join(kinds, ", "))
	fs.StringVar(&spec.Acquisition, "acquisition", idrl.DefaultAcquisition, "how questions are chosen: a `strategy` that 'tiebreak session --help' lists")
	fs.Var(&spec.Controls, "conditions", "control `strategies` that choose a share of the questions beside --acquisition, which has the rest, such as uniform=0.25,igr=0.1\n"+
		"(docs/study.md, section 4); not with --model network")
	fs.Float64Var(&spec.HeldOut, "held-out", 0, "`share` of the questions that are held out, up to 0.5: comparisons drawn at random, from which nothing learns, to judge what is learnt")
	fs.StringVar(&spec.Model, "model", idrl.RewardModels()[0], "`model` of the reward: features (of the environment), or network, which is learnt from observations and actions\n"+
		"(comparisons of clips, environments with continuous actions)")
	fs.StringVar(&spec.Solver, "solver", idrl.Solvers()[0], "`solver` of policies under hand-made features: auto (gaits for robots, else own); own, the environment's: exact, by\n"+
		"gradients, or a random search of linear policies; sac, soft actor-critic that goes on\n"+
		"from training to training (continuous actions; a network always has it); or gaits, searches among rhythmic motions that go on likewise (continuous actions)")
	fs.StringVar(&spec.Return, "return", idrl.Returns()[0], "`return` by which policies of imported rollouts are compared: mean, the mean reward of a step; sum, the sum over the episode;\n"+
		"or auto, the mean. Of simulated policies it is the sum (docs/rollouts.md)")
	fs.StringVar(&spec.Prior, "prior", idrl.Priors()[0], "prior of the reward: "+strings.Join(idrl.Priors(), ", "))
	fs.StringVar(&spec.Likelihood, "likelihood", idrl.Likelihoods()[0], "likelihood of a comparison: "+strings.Join(idrl.Likelihoods(), ", "))
	fs.StringVar(&spec.Noise, "noise-model", "", "`whose` noise of answers: own, each annotator's, learnt from the answers from the second annotator on; or shared, that of the session for all.\n"+
		"Default: own, but shared with --model network and with likelihoods without such a noise")
	fs.StringVar(&spec.Questions, "questions", idrl.QuestionRules()[0], "`which` are asked: answerable, those that a person can answer by what they see, rather those that are probably answered, and none\n"+
		"that looks like one of their last "+strconv.Itoa(learning.Remembered)+"; any; or everything, also what comes after a fall, to measure what the rule is worth")
	fs.IntVar(&spec.Budget, "budget", 0, "`answers` after which the session is complete; 0: no limit")
	fs.IntVar(&spec.AnswersEach, "answers-each", 0, "`answers` after which a person has done their part and sees the completion code, while the session goes on with others; 0: no limit")
	fs.Float64Var(&spec.Tolerance, "tolerance", idrl.DefaultTolerance, "loss that counts as small, as a `share` of the range from the worst to the best policy; not with --model network")
	fs.Float64Var(&spec.Doubt, "doubt", idrl.DefaultDoubt, "propose to stop when a larger loss has had at most this `probability` after three answers in a row; not with --model network")
	fs.BoolVar(&spec.StopByItself, "stop-by-itself", false, "stop asking questions as soon as the session would propose to stop; not with --model network")
	fs.StringVar(&spec.CompletionCode, "completion-code", "", "`code` that annotators see when they have done their part or nothing is left to answer, such as that of a crowd platform")
	fs.IntVar(&spec.WithdrawDays, "withdraw-days", 0, "offer people, for so many `days` after they joined, to withdraw their data themselves; 0: not; 'tiebreak annotator withdraw' does it for them")
	fs.BoolVar(&spec.ShowLearnt, "show-learnt", false, "show annotators what was learnt from the answers, every ten answers and at the end")
	fs.BoolVar(&spec.Strength, "strength", false, "let annotators say that a clip is much better (Shift with the choice); comparisons, with --likelihood probit or bradley-terry")
	fs.BoolVar(&spec.Remarks, "remarks", false, "let annotators remark beside a comparison that both clips are bad, or good; likewise, and not with --model network")
	fs.IntVar(&spec.Candidates, "candidates", 0, "sampled candidate `policies` of a generation; 0: 5")
	fs.IntVar(&spec.RepeatEvery, "repeat-every", 0, "repeat, every so many `questions` of an annotator, one that they have answered, with the sides swapped; 0: never; 'tiebreak quality' says what came of it")
	fs.IntVar(&spec.GoldEvery, "gold-every", idrl.DefaultGoldEvery, "hide, among about every so many `questions` of an annotator, one to which you know the answer ('tiebreak session known', or the session's page); 0: never")
	fs.Float64Var(&spec.MinDwell, "min-dwell", idrl.DefaultMinDwell, "mark answers that were given before this `share` of the clip was on screen; they count all the same; 0: none")
	fs.IntVar(&spec.MaxRate, "max-rate", idrl.DefaultMaxRate, "mark answers that come faster than so many a `minute`, over the last 20 of a person; they count all the same; 0: none")
	fs.IntVar(&spec.Ahead, "ahead", 0, "`questions` that an annotator holds, 1 to 10: with more of them one can go on longer without network, with fewer each follows from more answers; 0: 3")
	fs.Int64Var(&spec.TrainEvery, "train-every", 0, "`answers` between the starts of two trainings; 0: 1 where a training takes less than a second, else 3")
	fs.Int64Var(&spec.AdoptAfter, "adopt-after", 0,
		"adopt a generation exactly this many `answers` after its training began, so that a run can be repeated; 0: when it is ready")
}

func sessionCommand() command {
	return command{
		Name: "session", Summary: "make a labelling session in a data folder, and control it", Usage: "[flags]",
		About:   sessionAbout(),
		Example: "tiebreak session --data study --title 'Walk the grid' --env gridworld --kind state_rating --budget 40",
		Flags:   func(fs *flag.FlagSet) { new(sessionFlags).declare(fs) },
		Run:     runSession,
		Subs: slices.Concat(
			[]command{sessionCreateCommand(), sessionListCommand(), sessionShowCommand(), sessionScoresCommand(), sessionSetCommand()}, stateCommands(),
			[]command{sessionRenameCommand(), sessionExtendCommand(), sessionCloneCommand(), sessionKnownCommand()},
		),
	}
}

// sessionCreateCommand makes a session. It is the default subcommand of session.
func sessionCreateCommand() command {
	return command{
		Name: "session create", Summary: "make a session", Usage: "[flags]", About: sessionAbout(),
		Example: "tiebreak session create --data study --title 'Walk the grid' --env gridworld --kind state_rating --budget 40",
		Flags:   func(fs *flag.FlagSet) { new(sessionFlags).declare(fs) },
		Run:     runSession,
	}
}

// sessionAbout says what session does and lists the methods that it offers.
func sessionAbout() string {
	var b strings.Builder
	b.WriteString("Makes a session and prints its id and a link for annotators, as 'tiebreak session create' does. The server may be running\n" +
		"on the data folder.\n\nStrategies for choosing questions:\n")
	for _, m := range acquisition.Live() {
		fmt.Fprintf(&b, "  %-10s %s\n", m.Name, m.About)
	}
	b.WriteString("evr is for comparisons only. tiebreak-lab bench compares these methods and others.")
	return b.String()
}

func runSession(ctx context.Context, io stdio, args []string) (err error) {
	var f sessionFlags
	fs := flag.NewFlagSet("session", flag.ContinueOnError)
	f.declare(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	if f.template {
		_, err := io.Out.Write(studyfile.Template())
		return err
	}
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	file, drawn, err := f.readFile(fs)
	if err != nil {
		return err
	}
	if f.consent != "" {
		if f.spec.Consent, err = readConsent(f.consent); err != nil {
			return err
		}
	}
	told, err := f.readInstructions(drawn)
	if err != nil {
		return err
	}
	check := func(spec idrl.SessionSpec) error { return training.CheckSpec(list, spec.WithDefaults()) }
	if err := check(f.spec); err != nil { // before the folder is touched
		if file != nil && file.Check(check) != nil {
			return file.Check(check)
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err := f.checkSite(); err != nil {
		return err
	}
	db, err := openShared(ctx, f.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	base, err := f.address(ctx, db)
	if err != nil {
		return err
	}
	spec, err := newSession(ctx, db, list, f.spec)
	if err != nil {
		return err
	}
	if err := told.keep(ctx, db, spec.ID); err != nil {
		return err
	}
	token, err := auth.New(auth.Config{Store: db}).NewInvitation(ctx, spec.ID, linkUses, linkLife)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.Out, "Session:    %s\nAnnotator:  %s/join/%s\n", spec.ID, base, token)
	return f.sayAddress(ctx, io, db)
}

// readFile reads the study file, if there is one, into f.spec, where the flags that are
// given go before it, and the pictures that its instructions show.
func (f *sessionFlags) readFile(fs *flag.FlagSet) (*studyfile.File, instructionFile, error) {
	if f.file == "" {
		return nil, instructionFile{}, nil
	}
	file, told, err := readStudy(f.file)
	if err != nil {
		return nil, told, err
	}
	given := map[string]string{}
	fs.Visit(func(g *flag.Flag) { given[g.Name] = g.Value.String() })
	f.spec = file.Spec
	for name, value := range given {
		err = errors.Join(err, fs.Set(name, value))
	}
	if isGiven(fs, "instructions") {
		f.spec.InstructionsFormat, told = idrl.PlainText, instructionFile{}
	}
	if f.instructions != "" && !isGiven(fs, "instructions") {
		f.spec.Instructions = "" // the file of instructions goes before
	}
	return file, told, err
}

// readStudy reads the study file at path and the pictures that its instructions show, which
// lie beside it.
func readStudy(path string) (*studyfile.File, instructionFile, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, instructionFile{}, idrl.Errorf(idrl.Invalid, "the folder of %s cannot be opened: %v", path, err)
	}
	defer root.Close()
	b, err := readAtMost(root, filepath.Base(path), studyfile.MaxFile)
	if err != nil {
		return nil, instructionFile{}, fmt.Errorf("%s: %w", path, err)
	}
	file, err := studyfile.Read(path, b)
	if err != nil || file.Spec.InstructionsFormat != idrl.Markdown {
		return file, instructionFile{}, err
	}
	told, err := drawn(root, path, file.Spec.Instructions)
	file.Spec.Instructions = told.text
	return file, told, err
}

// readInstructions reads the file of instructions, if there is one, into f.spec; else it returns the
// one of the study file.
func (f *sessionFlags) readInstructions(ofStudy instructionFile) (instructionFile, error) {
	if f.instructions == "" {
		return ofStudy, nil
	}
	if f.spec.Instructions != "" {
		return instructionFile{}, fmt.Errorf("%w: give --instructions or --instructions-file, not both", errUsage)
	}
	h, err := readInstructionFile(f.instructions)
	f.spec.Instructions, f.spec.InstructionsFormat = h.text, idrl.Markdown
	return h, err
}
