package outside

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
)

// Limits of a description.
const (
	maxDescription = 64 << 10
	maxArguments   = 64
	maxArgument    = 4096
	maxVariables   = 64
	maxWrite       = 8
	maxHashed      = 4 << 20 // of a file among the arguments
	maxSeconds     = 600
	maxName        = 40
)

// IDPrefix begins the ids of outside environments.
const IDPrefix = "outside-"

// A Description says how an outside environment is started. It is a JSON file.
type Description struct {
	Title       string            `json:"title"`       // for people; default: what the environment calls itself
	About       string            `json:"description"` // for people
	Command     []string          `json:"command"`     // program and arguments; or
	Connect     string            `json:"connect"`     // unix:PATH or tcp:127.0.0.1:PORT of one that runs
	Folder      string            `json:"folder"`      // in which the command runs, seen from the file's folder; default that
	Environment map[string]string `json:"environment"` // variables besides those that are handed on
	Pass        []string          `json:"pass"`        // names of further variables of this program that are handed on
	Limits      Limits            `json:"limits"`
	Write       []string          `json:"write"`   // folders that it may write to on Linux, seen from Folder
	View        Crop              `json:"view"`    // of its pictures; default all of them
	StepMS      float64           `json:"step_ms"` // milliseconds that a step takes, as it was measured
	StartSec    float64           `json:"start_seconds"`
	AnswerSec   float64           `json:"answer_seconds"`

	ID string `json:"-"` // outside-NAME of the file NAME.json

	// Launcher is a program that calls Launch if it is started with LaunchCommand: on Linux it is the parent of the
	// command. Empty: the command is in a group of processes that is ended as a whole, without limits.
	Launcher string `json:"-"`
	Network  bool   `json:"-"` // the command may use the network

	bare bool // as where the system allows no namespaces, for tests
}

// Read reads the description at path. It returns an error of kind Invalid that says what to
// change if it is not well formed.
func Read(path string) (*Description, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	if !foreign.IsName(name, maxName) {
		return nil, idrl.Errorf(idrl.Invalid, "the file %s must be called NAME.json, where NAME has lower case letters, digits and hyphens, at most 40", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the description cannot be read: %v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDescription+1))
	if err != nil || len(b) > maxDescription {
		return nil, idrl.Errorf(idrl.Invalid, "%s cannot be read, or has more than %d bytes", path, maxDescription)
	}
	d := &Description{ID: IDPrefix + name}
	if err := foreign.Decode(bytes.NewReader(b), nil, d); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "%s is not a description of an environment: %v", path, err)
	}
	d.Folder = filepath.Join(filepath.Dir(path), filepath.FromSlash(d.Folder))
	if d.Folder, err = filepath.Abs(d.Folder); err != nil {
		return nil, fmt.Errorf("folder of %s: %w", path, err)
	}
	d.StartSec, d.AnswerSec = cmp.Or(d.StartSec, 60), cmp.Or(d.AnswerSec, 30)
	if d.Limits, err = d.Limits.withDefaults(); err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "%s: %v", path, err)
	}
	return d, nil
}

func (d *Description) check() error {
	switch {
	case (len(d.Command) == 0) == (d.Connect == ""):
		return fmt.Errorf(`say either "command" or "connect"`)
	case len(d.Command) > maxArguments:
		return fmt.Errorf("the command has %d words; the limit is %d", len(d.Command), maxArguments)
	case len(d.Environment)+len(d.Pass) > maxVariables:
		return fmt.Errorf("there are %d variables; the limit is %d", len(d.Environment)+len(d.Pass), maxVariables)
	case len(d.Write) > maxWrite:
		return fmt.Errorf("there are %d folders to write to; the limit is %d", len(d.Write), maxWrite)
	case !(d.StartSec > 0 && d.StartSec <= maxSeconds && d.AnswerSec > 0 && d.AnswerSec <= maxSeconds):
		return fmt.Errorf("start_seconds and answer_seconds must be above 0 and at most %d", maxSeconds)
	case !(d.StepMS >= 0 && d.StepMS <= 1000*maxSeconds):
		return fmt.Errorf("step_ms must be 0 to %d", 1000*maxSeconds)
	case !foreign.IsLine(d.Title, foreign.MaxTitle) || !foreign.IsLine(d.About, foreign.MaxAbout):
		return fmt.Errorf("the title may have %d characters and the description %d, in one line", foreign.MaxTitle, foreign.MaxAbout)
	}
	if err := d.View.check(); err != nil {
		return err
	}
	for _, word := range d.Command {
		if word == "" || len(word) > maxArgument || strings.ContainsRune(word, 0) {
			return fmt.Errorf("the command has a word that is empty or longer than %d bytes", maxArgument)
		}
	}
	for name, value := range d.Environment {
		if name == "" || strings.ContainsAny(name, "=\x00") || len(value) > maxArgument || strings.ContainsRune(value, 0) {
			return fmt.Errorf("the variable %q cannot be set", name)
		}
	}
	if d.Connect != "" {
		_, _, err := d.address()
		return err
	}
	return nil
}

// writable returns the folders that the program may write to.
func (d *Description) writable() (out []string) {
	for _, folder := range d.Write {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(d.Folder, folder)
		}
		out = append(out, folder)
	}
	return out
}

// address returns where to connect to. A TCP address lies on this machine.
func (d *Description) address() (network, address string, err error) {
	network, address, ok := strings.Cut(d.Connect, ":")
	switch {
	case ok && network == "unix" && address != "":
		if !filepath.IsAbs(address) {
			address = filepath.Join(d.Folder, address)
		}
		return network, address, nil
	case ok && network == "tcp":
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() {
			return network, address, nil
		}
	}
	return "", "", fmt.Errorf(`"connect" must be unix:PATH or tcp:127.0.0.1:PORT`)
}

func (d *Description) startLimit() time.Duration  { return seconds(d.StartSec) }
func (d *Description) answerLimit() time.Duration { return seconds(d.AnswerSec) }

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// hash returns what changes when the environment or its pictures do: the arguments of its command, the
// files among them, the view, and what it says of itself.
func (d *Description) hash(hello []byte) string {
	h := sha256.New()
	put := func(b []byte) { fmt.Fprintf(h, "%d:", len(b)); h.Write(b) }
	for i, word := range d.Command {
		if i == 0 {
			continue // where the interpreter is differs between machines
		}
		put([]byte(word))
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.Folder, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxHashed {
			if b, err := os.ReadFile(path); err == nil {
				put(b)
			}
		}
	}
	if len(d.View) > 0 {
		put(fmt.Append(nil, d.View))
	}
	put(hello)
	return hex.EncodeToString(h.Sum(nil)[:6])
}
