package studyfile

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"

	"go.yaml.in/yaml/v3"
)

const head = "Settings of a study with Tiebreak; docs/study.md describes them.\nMake a session of them with: tiebreak session create -f FILE"

// Write returns the study file of a session's settings: every setting, with what it says
// and its default as comments. Read gives the same settings again.
func Write(spec idrl.SessionSpec) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, HeadComment: head + "\n\n"}
	for _, f := range Fields() {
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: f.Key, HeadComment: f.comment()}
		root.Content = append(root.Content, key, f.encode(f.value(&spec)))
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
	b.WriteString("# Each setting stands here with its default. Take the # away before those that you change.\n")
	for _, f := range Fields() {
		fmt.Fprintf(&b, "\n# %s\n# %s: %s\n", f.About, f.Key, f.Default)
	}
	return []byte(b.String())
}

func (f Field) comment() string { return fmt.Sprintf("%s; default: %s", f.About, f.Default) }

// encode returns the value of f in a spec as it stands in a file.
func (f Field) encode(v reflect.Value) *yaml.Node {
	if v.Kind() == reflect.Slice {
		return encodeControls(v)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v.Kind() {
	case reflect.Bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v.Bool())
	case reflect.Float64:
		n.Tag, n.Value = "!!float", strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Uint64:
		n.Tag, n.Value = "!!int", strconv.FormatUint(v.Uint(), 10)
	case reflect.Int, reflect.Int64:
		n.Tag, n.Value = "!!int", strconv.FormatInt(v.Int(), 10)
		if f.Key == "budget" && v.IsZero() {
			n.Tag, n.Value = "!!str", unlimited
		}
	default:
		n.Tag, n.Value = "!!str", v.String()
		if f.Key == "instructions_format" && v.String() == idrl.PlainText {
			n.Value = plainText
		}
		n.Style = style(n.Value)
	}
	return n
}

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
