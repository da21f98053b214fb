package web

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
	"tiebreak/web/wire"
)

// declared is an interface of wire.d.ts.
type declared struct {
	extends string
	fields  map[string]string // name, with a ? where it may be absent → type
}

// typings returns the interfaces of wire.d.ts, and its unions of texts.
func typings(t *testing.T) (interfaces map[string]declared, unions map[string][]string) {
	t.Helper()
	b := must.Get(os.ReadFile("../static/js/wire.d.ts"))(t)
	interfaces, unions = map[string]declared{}, map[string][]string{}
	field := regexp.MustCompile(`(?m)^  (\w+\??): (.+);$`)
	for _, m := range regexp.MustCompile(`(?m)^export interface (\w+)(?: extends (\w+))? \{\n((?:  .*\n)+)\}`).FindAllStringSubmatch(string(b), -1) {
		d := declared{extends: m[2], fields: map[string]string{}}
		for _, f := range field.FindAllStringSubmatch(m[3], -1) {
			d.fields[f[1]] = f[2]
		}
		interfaces[m[1]] = d
	}
	for _, m := range regexp.MustCompile(`(?m)^export type (\w+) = ("[^;]*);$`).FindAllStringSubmatch(string(b), -1) {
		unions[m[1]] = strings.Split(strings.ReplaceAll(m[2], `"`, ""), " | ")
	}
	return interfaces, unions
}

// TestTypings holds the types that the scripts are checked with to the JSON of the
// messages: every field, its type, and whether it may be absent.
func TestTypings(t *testing.T) {
	interfaces, unions := typings(t)
	messages := map[string]any{
		"ClientHello": wire.ClientHello{}, "Answer": wire.Answer{}, "Undo": wire.Undo{}, "Renew": wire.Renew{},
		"Hello": wire.Hello{}, "Query": wire.Query{}, "Ack": wire.Ack{}, "Nak": wire.Nak{}, "Status": wire.Status{}, "Bye": wire.Bye{},
		"State": stateMessage{}, "Problems": problemsMessage{}, "Conditions": conditionsMessage{}, "Key": keyReply{}, "Given": givenAnswer{}, "Telling": tellingAnswers{},
	}
	names := map[reflect.Type]string{} // of the interfaces that stand for Go types
	todo := []reflect.Type{}
	for name, m := range messages {
		names[reflect.TypeOf(m)] = name
		todo = append(todo, reflect.TypeOf(m))
	}
	for typ, name := range map[reflect.Type]string{
		reflect.TypeFor[trainingState](): "Training", reflect.TypeFor[statementState](): "Statement", reflect.TypeFor[objectionState](): "Objection", reflect.TypeFor[networkState](): "Network",
		reflect.TypeFor[regretPoint](): "RegretPoint", reflect.TypeFor[candidateState](): "Candidate",
		reflect.TypeFor[weightState](): "Weight", reflect.TypeFor[whyState](): "Why", reflect.TypeFor[openState](): "Open",
		reflect.TypeFor[recentState](): "Asked", reflect.TypeFor[annotatorState](): "Annotator", reflect.TypeFor[problemState](): "Problem", reflect.TypeFor[wire.Learning](): "Learning",
		reflect.TypeFor[conditionState](): "Condition",
	} {
		names[typ] = name
		todo = append(todo, typ)
	}
	for _, typ := range todo {
		name := names[typ]
		got, ok := interfaces[name]
		if !ok {
			t.Errorf("wire.d.ts has no interface %s for %v", name, typ)
			continue
		}
		delete(interfaces, name)
		extends, want := fieldsOf(typ, names, unions, got.fields)
		if _, message := messages[name]; message && typ.PkgPath() == reflect.TypeFor[wire.Hello]().PkgPath() {
			want["t"] = got.fields["t"] // Encode writes it; TestTags holds its value
		}
		if got.extends != extends || !maps.Equal(got.fields, want) {
			t.Errorf("interface %s of wire.d.ts extends %q and has\n%v\nbut %v is %q and\n%v", name, got.extends, got.fields, typ, extends, want)
		}
	}
	for name := range interfaces {
		t.Errorf("interface %s of wire.d.ts stands for no message", name)
	}
}

// fieldsOf returns the TypeScript of a Go struct: what it embeds, and its fields.
// A text may be declared more narrowly, as a union of known texts.
func fieldsOf(typ reflect.Type, names map[reflect.Type]string, unions map[string][]string, got map[string]string) (extends string, fields map[string]string) {
	fields = map[string]string{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			extends = names[f.Type]
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if option == "omitempty" {
			name += "?"
		}
		fields[name] = typeScript(f.Type, option == "omitempty", names)
		narrow, _, _ := strings.Cut(got[name], ` | ""`)
		if fields[name] == "string" && (unions[narrow] != nil || name == "t") {
			fields[name] = got[name]
		}
	}
	return extends, fields
}

func typeScript(typ reflect.Type, optional bool, names map[reflect.Type]string) string {
	switch {
	case names[typ] != "":
		return names[typ]
	case typ.Kind() == reflect.Pointer && optional:
		return typeScript(typ.Elem(), false, names)
	case typ.Kind() == reflect.Pointer:
		return typeScript(typ.Elem(), false, names) + " | null"
	case typ.Kind() == reflect.Slice:
		return typeScript(typ.Elem(), false, names) + "[]"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	case typ.Kind() == reflect.Int, typ.Kind() == reflect.Int64, typ.Kind() == reflect.Float64:
		return "number"
	}
	return "string" // also a time.Time
}

// TestTags holds the field t of each interface to what the messages are sent with.
func TestTags(t *testing.T) {
	interfaces, _ := typings(t)
	sent := map[string]any{
		"ClientHello": &wire.ClientHello{}, "Answer": &wire.Answer{}, "Undo": &wire.Undo{}, "Renew": &wire.Renew{},
		"Hello": &wire.Hello{}, "Query": &wire.Query{}, "Ack": &wire.Ack{}, "Nak": &wire.Nak{}, "Status": &wire.Status{}, "Bye": &wire.Bye{},
	}
	encoded := map[string][]byte{
		"State":    encodeState(view.Status{}, nil, func(idrl.AnnotatorID) bool { return false }),
		"Problems": encodeProblems(nil),
	}
	for name, m := range sent {
		encoded[name] = wire.Encode(m)
	}
	for name, text := range encoded {
		if tag := interfaces[name].fields["t"]; !strings.HasPrefix(string(text), `{"t":`+tag+`,`) {
			t.Errorf("interface %s has t: %s, but the message is %s", name, tag, text)
		}
	}
}

// TestUnions holds the unions of wire.d.ts to the sets that the protocol knows.
func TestUnions(t *testing.T) {
	_, unions := typings(t)
	for name, want := range map[string][]string{
		"Side":   texts(idrl.SideA, idrl.SideB, "c", "d", "e", "f"),
		"Choice": texts(idrl.ChoseA, idrl.ChoseB, idrl.Equal, idrl.CantTell, idrl.Skip, idrl.TechnicalFailure, idrl.Rated, idrl.BestWorst),
		"Remark": texts(idrl.BothBad, idrl.BothGood),
		"Input":  idrl.Inputs(),
		"Kind":   texts(idrl.QueryKinds()...),
		"Code": texts(wire.Invalid, wire.NotFound, wire.Conflict, wire.Forbidden, wire.Unavailable, wire.Internal,
			wire.TooLarge, wire.Unknown),
	} {
		if !slices.Equal(slices.Sorted(slices.Values(unions[name])), slices.Sorted(slices.Values(want))) {
			t.Errorf("type %s = %q, want %q", name, unions[name], want)
		}
		delete(unions, name)
	}
	for name := range unions {
		t.Errorf("no test knows the values of type %s", name)
	}
}

func texts[S ~string](list ...S) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}
