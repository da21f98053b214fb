package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/envs"
	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/study/studyfile"
	"tiebreak/store"
)

// sessionFlags are the flags of session.
type sessionFlags struct {
	own own
	siteFlags
	instructions, consent string // paths of files
	file                  string // of the study; empty: none
	template              bool   // write one
	anyway                bool   // also if no place can train it
	print                 bool   // write the settings as a study file
	spec                  idrl.SessionSpec
	set                   *flag.FlagSet // all of these
}

func (f *sessionFlags) declare(fs *flag.FlagSet) {
	f.set = fs
	f.siteFlags.declare(fs)
	ownFlags(fs, &f.own)
	settings.Declare(fs, &f.spec, "instructions_format", "consent") // Markdown comes from files
	instructionsFileFlag(fs, &f.instructions)
	consentFileFlag(fs, &f.consent)
	fs.StringVar(&f.file, "f", "", "YAML `file` with the settings (docs/study.md); flags override it")
	anywayFlag(fs, &f.anyway)
	fs.BoolVar(&f.print, "print", false, "make no session; instead write its settings as a file for -f, as the form of the server does")
	fs.BoolVar(&f.template, "template", false, "make no session; instead write a file for -f with every setting and its default")
}

func sessionCommand() command {
	return shared.With(command{
		Name: "session", Summary: "make and control sessions", Usage: "[flags]",
		About: "Without a command it does what 'tiebreak session create' does. " + sessionAbout, Lists: sessionChoices,
		Example: "tiebreak session --data study --title 'Walk the grid' --env gridworld --kind state_rating --budget 40",
		Subs: slices.Concat(
			[]command{sessionCreateCommand(), sessionListCommand(), sessionShowCommand(), sessionScoresCommand(), sessionSamplesCommand(), sessionSetCommand()}, stateCommands(),
			[]command{sessionFreezeCommand(), sessionRenameCommand(), sessionExtendCommand(), sessionCloneCommand(), sessionKnownCommand()},
		),
	}, (*sessionFlags).declare, runSession)
}

// sessionCreateCommand makes a session. It is the default subcommand of session.
func sessionCreateCommand() command {
	return shared.With(command{
		Name: "session create", Summary: "make a session", Usage: "[flags]", About: sessionAbout, Lists: sessionChoices,
		Example: "tiebreak session create --data study --title 'Walk the grid' --env gridworld --kind state_rating --budget 40",
	}, (*sessionFlags).declare, runSession)
}

const sessionAbout = "Makes a session and prints its id and a link for annotators. The server may be running on the data folder."

// sessionChoices lists the available strategies and environments.
func sessionChoices() string {
	var b strings.Builder
	b.WriteString("Strategies for choosing questions:\n")
	for _, m := range acquisition.Live() {
		fmt.Fprintf(&b, "  %-10s %s\n", m.Name, m.About)
	}
	b.WriteString("evr is for comparisons only. tiebreak-lab bench compares these strategies and others.\n\n" +
		"Environments (in addition to models of your own and imported rollouts):\n  " + envs.Catalogue().Names())
	return b.String()
}

func runSession(ctx context.Context, io stdio, f *sessionFlags) (err error) {
	if f.template {
		_, err := io.Out.Write(studyfile.Template())
		return err
	}
	list, err := environments(f.own.at(f.data))
	if err != nil {
		return err
	}
	file, drawn, err := f.readFile()
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
	check := func(spec idrl.SessionSpec) error { return checkSpec(list, settings.Complete(spec)) }
	if err := check(f.spec); err != nil { // before the folder is touched
		if file != nil && file.Check(check) != nil {
			return file.Check(check)
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if f.print {
		if f.spec.Instructions == "" { // which have no format
			f.spec.InstructionsFormat = idrl.Markdown
		}
		b, err := studyfile.Write(settings.Complete(f.spec))
		if err == nil {
			_, err = io.Out.Write(b)
		}
		return err
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
	if err := placedBeside(ctx, io, db, list, f.spec, f.anyway); err != nil {
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
	return f.noteDefaultAddress(ctx, io, db)
}

// readFile reads the study file, if there is one, into f.spec, which flags override, and the
// pictures of its instructions.
func (f *sessionFlags) readFile() (*studyfile.File, instructionFile, error) {
	if f.file == "" {
		return nil, instructionFile{}, nil
	}
	file, told, err := readStudy(f.file)
	if err != nil {
		return nil, told, err
	}
	given := map[string]string{}
	f.set.Visit(func(g *flag.Flag) { given[g.Name] = g.Value.String() })
	f.spec = file.Spec
	for name, value := range given {
		err = errors.Join(err, f.set.Set(name, value))
	}
	if shared.Given(f.set, "instructions") {
		f.spec.InstructionsFormat, told = idrl.PlainText, instructionFile{}
	}
	if f.instructions != "" && !shared.Given(f.set, "instructions") {
		f.spec.Instructions = "" // the file of instructions overrides it
	}
	return file, told, err
}

// readStudy reads the study file at path and the pictures of its instructions, which are next to
// it.
func readStudy(path string) (*studyfile.File, instructionFile, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, instructionFile{}, idrl.Errorf(idrl.Invalid, "the folder of %s cannot be opened: %v", path, err)
	}
	defer root.Close()
	b, err := foreign.Refusal("").ReadFile(root, filepath.Base(path), studyfile.MaxFile)
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

// readInstructions reads the file of instructions, if there is one, into f.spec; otherwise it
// returns the instructions of the study file.
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

// anywayFlag declares the flag that makes a session that no place can train.
func anywayFlag(fs *flag.FlagSet, anyway *bool) {
	fs.BoolVar(anyway, "anyway", false, "make the session also if neither the server's machine nor a worker can train it now; labelling then waits for one that can")
}

// placedBeside returns an error if the server that runs on a data folder has no place that can train a session, unless it is to be
// made anyway.
func placedBeside(ctx context.Context, io stdio, db *store.DB, list envs.List, spec idrl.SessionSpec, anyway bool) error {
	if anyway {
		warnOf(io.Err, "--anyway")
		return nil
	}
	r, err := workersOf(ctx, db)
	if err == nil {
		err = placed(r, list, spec)
	}
	if idrl.KindOf(err) == idrl.Conflict {
		return fmt.Errorf("%w (--anyway)", err)
	}
	return err
}
