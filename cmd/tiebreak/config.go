package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/studyfile"
)

// configFlag is the flag of serve that names a file with others.
const configFlag = "config"

// maxConfig is the most bytes that a configuration file has.
const maxConfig = 64 << 10

// A setting is a flag of serve as its configuration makes it.
type setting struct {
	flag *flag.Flag
	from string // "--addr", "TIEBREAK_ADDR", "serve.yaml:3"; empty for the default
}

// envName returns the variable of the environment for a flag.
func envName(flag string) string {
	return "TIEBREAK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configure sets the flags that the command line has not: from variables of the environment, and of the others from a file; an
// empty name is none. It returns all of them, in the order of their names. Its errors say which line or variable is wrong.
func configure(fs *flag.FlagSet, file string) (out []setting, err error) {
	values := map[string]*yaml.Node{}
	if file != "" {
		if values, err = readConfig(fs, file); err != nil {
			return nil, err
		}
	}
	var errs []error
	fs.VisitAll(func(f *flag.Flag) {
		s, text := setting{flag: f}, os.Getenv(envName(f.Name))
		switch line := values[f.Name]; {
		case f.Name == configFlag:
			return
		case shared.Given(fs, f.Name):
			s.from = "--" + f.Name
		case text != "":
			s.from = envName(f.Name)
		case line != nil:
			s.from, text = fmt.Sprintf("%s:%d", file, line.Line), line.Value
		}
		out = append(out, s)
		if s.from == "" || s.from == "--"+f.Name {
			return
		}
		if err := fs.Set(f.Name, text); err != nil {
			errs = append(errs, idrl.Errorf(idrl.Invalid, "%s: %s cannot be %q (%v)", s.from, f.Name, text, err))
		}
	})
	return out, errors.Join(errs...)
}

// readConfig reads a file of lines "flag: value", by the names of the flags.
func readConfig(fs *flag.FlagSet, file string) (map[string]*yaml.Node, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the configuration cannot be read (%v)", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil || len(content) > maxConfig {
		return nil, idrl.Errorf(idrl.Invalid, "the configuration %s cannot be read, or has more than %d bytes (%v)", file, maxConfig, err)
	}
	return parseConfig(fs, file, content)
}

// parseConfig reads the content of a configuration; the name of the file is for its errors.
func parseConfig(fs *flag.FlagSet, file string, content []byte) (map[string]*yaml.Node, error) {
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(content))
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) { // "yaml: line 3: …"
		return nil, idrl.Errorf(idrl.Invalid, "%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	out := map[string]*yaml.Node{}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return out, nil
	}
	root := doc.Content[0]
	if err := d.Decode(new(yaml.Node)); root.Kind != yaml.MappingNode || !errors.Is(err, io.EOF) {
		return nil, idrl.Errorf(idrl.Invalid, "%s: a configuration is one list of flags of 'tiebreak serve', one 'flag: value' on each line, such as addr: %s", file, defaultAddr)
	}
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := takeSetting(fs, out, root.Content[i], root.Content[i+1]); err != nil {
			errs = append(errs, idrl.Errorf(idrl.Invalid, "%s:%d: %v", file, root.Content[i].Line, err))
		}
	}
	return out, errors.Join(errs...)
}

// takeSetting takes a line of a configuration into out.
func takeSetting(fs *flag.FlagSet, out map[string]*yaml.Node, key, value *yaml.Node) error {
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	switch {
	case key.Value == configFlag:
		return errors.New("a configuration cannot name another one")
	case fs.Lookup(key.Value) == nil:
		hint := "; 'tiebreak serve --help' lists the flags"
		if near := studyfile.Nearest(key.Value, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return fmt.Errorf("%q is no flag of 'tiebreak serve'%s", key.Value, hint)
	case out[key.Value] != nil:
		return fmt.Errorf("%s was already set in line %d", key.Value, out[key.Value].Line)
	case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
		return fmt.Errorf("%s needs one value; several of a kind have commas between them", key.Value)
	}
	out[key.Value] = value
	return nil
}

func configCommand() command {
	return command{
		Name: "config", Summary: "check or print the configuration of a server",
		About: "A server is configured by the flags of 'tiebreak serve', by variables of the environment, and by a file, in this order: what\n" +
			"the command line says counts before TIEBREAK_ADDR, and that before 'addr: …' in the file that --config or TIEBREAK_CONFIG\n" +
			"names. Every flag has all three: --backup-every, TIEBREAK_BACKUP_EVERY and backup-every.",
		Example: "tiebreak config check serve.yaml",
		Subs:    []command{configCheckCommand(), configPrintCommand()},
	}
}

func configCheckCommand() command {
	return shared.With(command{
		Name: "config check", Summary: "check a configuration file", Usage: "FILE", Unflagged: configFlag,
		About:   "Says what is wrong with a file for 'tiebreak serve --config', with its lines: unknown flags, and values that cannot be.",
		Example: "tiebreak config check serve.yaml",
	}, func(f *serveFlags, fs *flag.FlagSet) {
		f.declare(fs)
		f.config = "" // whatever the environment says
	}, func(_ context.Context, io stdio, f *serveFlags) error {
		if f.config == "" {
			return fmt.Errorf("%w: name the file", errUsage)
		}
		list, err := f.checked()
		if err != nil {
			return err
		}
		n := 0
		for _, s := range list {
			if strings.HasPrefix(s.from, f.config+":") {
				n++
			}
		}
		fmt.Fprintf(io.Out, "%s can be used: it sets %d of %d flags.\n", f.config, n, len(list))
		return nil
	})
}

// printFlags are the flags of config print.
type printFlags struct {
	serveFlags
	redact bool
}

func (f *printFlags) declare(fs *flag.FlagSet) {
	f.serveFlags.declare(fs)
	fs.BoolVar(&f.redact, "redact", false, "hide passwords in addresses, and the path of --notify-url, so that the output can be shown to others")
}

func configPrintCommand() command {
	return shared.With(command{
		Name: "config print", Summary: "print what a server would use, and where that is from", Usage: "[flags of serve] [--redact]",
		About:   "Prints every flag of 'tiebreak serve' with its value, and whether it is from the command line, the environment, or a line of the\nfile; the others are defaults. The output is itself a file for --config.",
		Example: "tiebreak config print --config serve.yaml --redact",
	}, (*printFlags).declare, func(_ context.Context, io stdio, f *printFlags) error {
		list, err := f.checked()
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.flag.Name == "redact" {
				continue
			}
			value := s.flag.Value.String()
			if f.redact {
				value = withoutPassword(value)
			}
			if f.redact && s.flag.Name == notifyFlag {
				value = withoutPath(value)
			}
			line, err := yaml.Marshal(map[string]string{s.flag.Name: value})
			if err != nil {
				return err
			}
			text := strings.TrimSuffix(string(line), "\n")
			if s.from != "" {
				text += "  # " + s.from
			}
			fmt.Fprintln(io.Out, text)
		}
		return nil
	})
}

// withoutPassword hides the passwords in addresses with commas between them.
func withoutPassword(value string) string {
	parts := strings.Split(value, ",")
	for i, part := range parts {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil && u.User != nil {
			u.User = url.User("hidden")
			parts[i] = u.String()
		}
	}
	return strings.Join(parts, ",")
}

// withoutPath hides what follows the name of the site in an address, by which web hooks know who may post.
func withoutPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/hidden"
}

// checked configures f and checks what can be without a server. It returns all settings.
func (f *serveFlags) checked() ([]setting, error) {
	list, err := configure(f.flags, f.config)
	if err != nil {
		return nil, err
	}
	var errs []error
	if f.origin != "" {
		_, err := checkOrigin(f.origin)
		errs = append(errs, err)
	}
	_, err = checkProxies(f.proxies, f.behind())
	errs = append(errs, err)
	_, err = checkSchedule(f.backups)
	errs = append(errs, err, f.checkTLS())
	_, err = newLogger(io.Discard, f.log, f.verbose)
	return list, errors.Join(append(errs, err)...)
}
