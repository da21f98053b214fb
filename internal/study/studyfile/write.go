package studyfile

import (
	"bytes"
	"fmt"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"

	"go.yaml.in/yaml/v3"
)

const head = "Settings of a study with Tiebreak; docs/study.md describes them.\nMake a session with them: tiebreak session create -f FILE"

// Write returns the study file of a session's settings: every setting, with what it says
// and its default as comments. Read gives the same settings again.
func Write(spec idrl.SessionSpec) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, HeadComment: head + "\n\n"}
	for _, s := range settings.All() {
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: s.Key, HeadComment: fmt.Sprintf("%s; default: %s", about(s), shown(s))}
		root.Content = append(root.Content, key, encode(s, spec))
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write a study file: %w", err)
	}
	return b.Bytes(), enc.Close()
}

// Template returns a study file in which every setting is a comment with its default.
func Template() []byte {
	var b strings.Builder
	for line := range strings.Lines(head + "\n") {
		b.WriteString("# " + line)
	}
	b.WriteString("# Each setting is listed with its default. To change a setting, remove its # and change the value.\n")
	for _, s := range settings.All() {
		fmt.Fprintf(&b, "\n# %s\n# %s: %s\n", about(s), s.Key, shown(s))
	}
	return []byte(b.String())
}

// about says what s is, and which values it has.
func about(s settings.Setting) string { return s.Words + s.Limits() }

// shown returns the default of s as it would stand in a file, or in words.
func shown(s settings.Setting) string {
	if text := s.DefaultText(); text != "" {
		return text
	}
	if s.Type() == settings.Shares {
		return "[]"
	}
	return `""`
}

// Table returns the settings as the rows of a Markdown table.
func Table() string {
	var b strings.Builder
	b.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
	for _, s := range settings.All() {
		b.WriteString("| `" + s.Key + "` | " + kind(s) + " | " + shown(s) + " | " + about(s) + " |\n")
	}
	return b.String()
}

// kind says what the value of s is in a file, for people.
func kind(s settings.Setting) string {
	text := string(s.Type())
	switch {
	case s.Type() == settings.Shares:
		text += ", such as `[{strategy: uniform, share: 0.25}]`"
	case s.Type() == settings.Whole && s.ZeroWord != "":
		text += ", or " + s.ZeroWord
	}
	return text
}

// encode returns the value of s in a spec as it stands in a file.
func encode(s settings.Setting, spec idrl.SessionSpec) *yaml.Node {
	if s.Type() == settings.Shares {
		return encodeControls(spec.Controls)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s.Text(spec), Tag: tags[s.Type()]}
	if s.ZeroWord != "" && s.IsZero(spec) {
		n.Value, n.Tag = s.ZeroWord, "!!str"
	}
	if s.Type() == settings.Word {
		n.Style = style(n.Value)
	}
	return n
}

// tags are the tags of the values of settings.
var tags = map[settings.Is]string{settings.Word: "!!str", settings.Switch: "!!bool", settings.Whole: "!!int", settings.Number: "!!float"}

// style returns how a text stands in a file: a block if it has several plain lines, bare if
// it is a plain word, else in quotes.
func style(text string) yaml.Style {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	switch {
	case text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }):
		return 0 // the tag makes the encoder quote what would be read as another type
	case isBlock(text):
		return yaml.LiteralStyle
	}
	return yaml.DoubleQuotedStyle
}

// isBlock reports whether a text can stand as a block of lines without a loss.
func isBlock(text string) bool {
	if !strings.Contains(text, "\n") || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") || strings.HasPrefix(text, "\t") {
		return false
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); strings.TrimRight(line, " \t") != line {
			return false
		}
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') && (r < 0xa1 || r > 0x1fff) })
}
