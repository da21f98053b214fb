package licences

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are those that programs are built for: one may need modules that others do not.
var systems = []string{"darwin", "linux", "windows"}

// legal finds the files of a module that have terms of use or name those who hold rights.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// A module is one of which code is built into a program.
type module struct{ path, version, dir string }

// Text returns the modules of the main package in folder with the files of their licences; a file
// that several modules have stands there once. The first part lists module, version and licence.
// It fails if a module has no licence or one whose kind is not known here.
func Text(ctx context.Context, folder string) (string, error) {
	modules, err := list(ctx, folder)
	if err != nil {
		return "", err
	}
	table, texts := &strings.Builder{}, &strings.Builder{}
	fmt.Fprintf(table, "%s is built with the modules below. Their licences follow.\n\n", filepath.Base(folder))
	holders := map[string][]string{} // by text
	var order []string
	for _, m := range modules {
		files, err := filesOf(m)
		if err != nil {
			return "", err
		}
		kinds := []string{}
		for _, f := range files {
			for _, k := range kindsOf(f.text) {
				if !slices.Contains(kinds, k) {
					kinds = append(kinds, k)
				}
			}
			if holders[f.text] == nil {
				order = append(order, f.text)
			}
			holders[f.text] = append(holders[f.text], m.path+" ("+f.name+")")
		}
		if len(kinds) == 0 {
			return "", fmt.Errorf("no licence that is known here in %s %s: read it, and extend marks", m.path, m.version)
		}
		fmt.Fprintf(table, "%-38s %-38s %s\n", m.path, m.version, strings.Join(kinds, ", "))
	}
	for _, text := range order {
		fmt.Fprintf(texts, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(holders[text], "\n"), text)
	}
	return table.String() + texts.String(), nil
}

// list returns the modules that go into the main package in folder, by path, the standard library first.
func list(ctx context.Context, folder string) ([]module, error) {
	root, err := output(exec.CommandContext(ctx, "go", "env", "GOROOT"), folder)
	if err != nil {
		return nil, err
	}
	found := map[module]bool{}
	for _, system := range systems {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := output(cmd, folder)
		if err != nil {
			return nil, err
		}
		for line := range strings.FieldsFuncSeq(out, func(r rune) bool { return r == '\n' }) {
			if part := strings.Split(line, "\t"); len(part) == 3 && part[2] != "" {
				found[module{part[0], part[1], part[2]}] = true
			}
		}
	}
	modules := []module{{"Go, its standard library", "", strings.TrimSpace(root)}}
	for m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules[1:], func(a, b module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// output runs a command in a folder; an error has what it printed.
func output(cmd *exec.Cmd, folder string) (string, error) {
	var failed bytes.Buffer
	cmd.Dir, cmd.Stderr = folder, &failed
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, failed.String())
	}
	return string(out), nil
}

type file struct{ name, text string }

// filesOf returns the legal files in the folder of m.
func filesOf(m module) (files []file, err error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{e.Name(), strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))})
	}
	return files, nil
}

// marks are words by which a licence is known.
var marks = []struct{ kind, words string }{
	{"Apache-2.0", "apache license"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"OFL-1.1", "sil open font license"},
	{"CC-BY-4.0", "creative commons attribution 4.0"},
	{"CC-BY-4.0", "creativecommons.org/licenses/by/4.0"},
	{"FTL", "freetype license"},
	{"ISC", "permission to use, copy, modify, and/or distribute"},
	{"MIT", "permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "neither the name of"},
	{"BSD-3-Clause", "the names of its contributors"},
	{"BSD-2-Clause", "redistributions in binary form"},
	{"public domain", "public domain"},
}

// kindsOf names the licences that a text has; none in a grant of patents.
func kindsOf(text string) (kinds []string) {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, m := range marks {
		shorter := m.kind == "BSD-2-Clause" && slices.Contains(kinds, "BSD-3-Clause") // has the words of the other
		aside := m.kind == "public domain" && len(kinds) > 0                          // a licence speaks of it
		if strings.Contains(words, m.words) && !slices.Contains(kinds, m.kind) && !shorter && !aside {
			kinds = append(kinds, m.kind)
		}
	}
	return kinds
}
