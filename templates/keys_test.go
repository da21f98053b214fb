package templates

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestKeyTable: the list of keys of a page has the keys of all its buttons, and of no others, and so has the list after an
// answer of practice for the buttons that answer.
func TestKeyTable(t *testing.T) {
	for name, p := range map[string]LabelPage{
		"comparison":             {Comparison: true},
		"comparison, more said":  {Comparison: true, Strength: true, Remarks: true},
		"comparison of pictures": {Comparison: true, Still: true},
		"rating":                 {},
		"success":                {Verdict: true},
		"best and worst":         {Group: true},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := parse(t, Label(p))
			all, answers := map[string]bool{}, map[string]bool{}
			if p.Group { // the script draws their buttons
				for _, k := range "123456" {
					all[string(k)], answers[string(k)] = true, true
				}
			}
			if !p.Still {
				for k := range strings.FieldsSeq("Space , . [ ]") {
					all[k] = true
				}
			}
			all["V"], all["F"] = true, true // of films of several cameras; of a button in a dialog
			for _, n := range nodes {
				for _, key := range []string{"aria-keyshortcuts", "data-row-keys", "data-column-keys"} {
					v, _ := attr(n, key)
					for k := range strings.FieldsSeq(v) {
						for _, sign := range signs(k) {
							all[sign] = true
							if is(n, "data-choice") || is(n, "data-remark") || is(n, "data-wrong") || is(n, "data-again") {
								answers[sign] = true
							}
						}
					}
				}
			}
			for list, want := range map[*html.Node]map[string]bool{find(nodes, "data-keys", "*"): all, find(nodes, "data-practice-keys", "*"): answers} {
				if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(listed(list)))); diff != "" {
					t.Errorf("keys of the buttons (-) and those of the list (+):\n%s", diff)
				}
			}
		})
	}
}

// signs are how a key of aria-keyshortcuts stands in the list.
func signs(key string) []string {
	if plain, ok := strings.CutPrefix(key, "Shift+"); ok {
		return append(signs(plain), "⇧")
	}
	names := map[string]string{"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", "Escape": "Esc"}
	if sign, ok := names[key]; ok {
		return []string{sign}
	}
	return []string{key}
}

func is(n *html.Node, key string) bool { _, ok := attr(n, key); return ok }

// listed returns the keys of a list. "0 … 9" are ten.
func listed(list *html.Node) map[string]bool {
	out, last, to := map[string]bool{}, "", false
	for n := range list.Descendants() {
		if n.Data != "kbd" || n.Type != html.ElementNode {
			continue
		}
		key := n.FirstChild.Data
		if key == "…" {
			to = true
			continue
		}
		for ; to && last < key; last = string(last[0] + 1) {
			out[last] = true
		}
		out[key], last, to = true, key, false
	}
	return out
}
