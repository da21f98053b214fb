package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"go.yaml.in/yaml/v3"

	"tiebreak/internal/idrl"
)

// writeConfig writes a configuration file and returns its path.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.yaml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestConfigPrecedence: the command line counts before the environment, and that before the file.
func TestConfigPrecedence(t *testing.T) {
	file := writeConfig(t, "addr: 127.0.0.1:1\nlog: json\nbackup-keep: 3\norigin: https://study.example.org\nrest-after: 5m\nmetrics-anywhere: true\n")
	t.Setenv("TIEBREAK_LOG", "text")
	t.Setenv("TIEBREAK_BACKUP_EVERY", "2h")
	t.Setenv("TIEBREAK_ADDR", "127.0.0.1:2")
	t.Setenv("TIEBREAK_CONFIG", file)
	out := mustCLI(t, "config", "print", "--addr", "127.0.0.1:3", "--nats", "nats://ada:secret@host:4222,nats://other:4222")
	for _, want := range []string{
		"addr: 127.0.0.1:3  # --addr\n", "log: text  # TIEBREAK_LOG\n", "backup-every: 2h0m0s  # TIEBREAK_BACKUP_EVERY\n", "backup-keep: \"3\"  # " + file + ":3\n",
		"origin: https://study.example.org  # " + file + ":4\n", "rest-after: 5m0s  # " + file + ":5\n", "metrics-anywhere: \"true\"  # " + file + ":6\n", "backup-dir: \"\"\n", "ada:secret@",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	again := writeConfig(t, out)
	if said := mustCLI(t, "config", "check", again); !strings.Contains(said, "can be used") {
		t.Errorf("what it prints, checked: %s", said)
	}
	if out := mustCLI(t, "config", "print", "--redact", "--nats", "nats://ada:secret@host:4222,nats://other:4222"); strings.Contains(out, "secret") || !strings.Contains(out, "hidden@host:4222,nats://other:4222") {
		t.Errorf("redacted it prints\n%s", out)
	}
}

// TestConfigErrors: what is wrong is said with its line, before anything is made.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"unknown", "addr: 127.0.0.1:1\nbackup-evry: 24h\n", `serve.yaml:2: "backup-evry" is no flag of 'tiebreak serve'; did you mean backup-every?`},
		{"far from all", "colour: red\n", `serve.yaml:1: "colour" is no flag of 'tiebreak serve'; 'tiebreak serve --help' lists the flags`},
		{"no value that can be", "\nbackup-keep: many\n", `serve.yaml:2: backup-keep cannot be "many"`},
		{"twice", "log: json\nlog: text\n", "serve.yaml:2: log was already set in line 1"},
		{"a list", "proxy: [10.0.0.1, 10.0.0.2]\n", "proxy needs one value; several of a kind have commas between them"},
		{"nothing", "origin:\n", "origin needs one value"},
		{"not a list of flags", "- addr\n", "one 'flag: value' on each line"},
		{"no YAML", "a: b: c\n", "serve.yaml: "},
		{"two documents", "log: json\n---\nlog: text\n", "one 'flag: value' on each line"},
		{"another file", "config: other.yaml\n", "cannot name another one"},
		{"an origin", "origin: study\n", "is not the address of a site"},
		{"a schedule", "backup-every: 1s\n", "a minute or more"},
		{"a proxy", "proxy: nowhere\n", "is neither an address nor a network"},
		{"too long", strings.Repeat("# \n", maxConfig), "more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := writeConfig(t, test.text)
			if status, _, said := cli(t, "config", "check", file); status == 0 || !strings.Contains(said, test.want) {
				t.Errorf("check: status %d, %q; want %q", status, said, test.want)
			}
		})
	}
	data := filepath.Join(t.TempDir(), "data")
	if status, _, said := cli(t, "serve", "--data", data, "--config", writeConfig(t, "adr: 127.0.0.1:1\n")); status != 1 || !strings.Contains(said, "did you mean addr?") {
		t.Errorf("serve: status %d, %s", status, said)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("serve has made the data folder")
	}
	if status, _, said := cli(t, "config", "check", filepath.Join(data, "none")); status != 1 || !strings.Contains(said, "cannot be read") {
		t.Errorf("without a file: status %d, %s", status, said)
	}
	for text, want := range map[string]string{"": "sets 0 of", "# nothing\n": "sets 0 of", "log: json\n": "sets 1 of"} {
		if said := mustCLI(t, "config", "check", writeConfig(t, text)); !strings.Contains(said, want) {
			t.Errorf("%q: %s", text, said)
		}
	}
}

// TestServeByConfig: a server runs as a file says.
func TestServeByConfig(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	startServer(t, "serve", "--config", writeConfig(t, "data: "+data+"\naddr: "+addr+"\nbackup-every: 1h\n"))
	id, _ := newLink(t, data, addr)
	if said := mustCLI(t, "session", "list", "--data", data); !strings.Contains(said, id) {
		t.Errorf("the folder of the file holds %s", said)
	}
}

// FuzzConfig: a configuration is refused as invalid, or names flags with one value each, which are read again as they were.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"", "addr: 127.0.0.1:1\nlog: json # a comment\n", "log: &a json\nbackup-keep: *a\n", "? [a]\n: b\n", "<<: {log: json}\n", "log: !!binary aGk=\n",
		"log: json\n---\n", "'log': \"\\u202e\"\n", "{log: json, log: text}", "log: |\n  two\n  lines\n", "config: x\n", "log: ~\n", "\xff\xfe",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		fs := flag.NewFlagSet("serve", flag.ContinueOnError)
		new(serveFlags).declare(fs)
		got, err := parseConfig(fs, "serve.yaml", content)
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("the error %v is of kind %v", err, idrl.KindOf(err))
			}
			return
		}
		values := map[string]string{}
		for name, node := range got {
			if fs.Lookup(name) == nil || name == configFlag || node.Kind != yaml.ScalarNode {
				t.Fatalf("it sets %q to %v", name, node)
			}
			values[name] = node.Value
		}
		written, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseConfig(fs, "again.yaml", written)
		if err != nil || len(again) != len(values) {
			t.Fatalf("of %q, written %q: %d settings again, %v", content, written, len(again), err)
		}
		for name, value := range values {
			if again[name].Value != value {
				t.Errorf("%s is %q, and read again %q", name, value, again[name].Value)
			}
		}
	})
}
