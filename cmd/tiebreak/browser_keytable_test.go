package main

import (
	"encoding/json"
	"fmt"
)

// keyTable lists keys with their meanings. choices: with the clips side by side, one
// above the other, and for a rating. sign: of the keys that are not answers.
var keyTable = []struct {
	stroke
	row, column, rating, sign string
}{
	{stroke{"ArrowLeft", "ArrowLeft", false}, "left", "", "", "arrowleft"},
	{stroke{"ArrowRight", "ArrowRight", false}, "right", "", "", "arrowright"},
	{stroke{"ArrowUp", "ArrowUp", false}, "equal", "left", "", "arrowup"},
	{stroke{"ArrowDown", "ArrowDown", false}, "cant_tell", "right", "cant_tell", "arrowdown"},
	{stroke{"ArrowLeft", "Numpad4", false}, "left", "", "", "arrowleft"}, // without Num Lock
	{stroke{"4", "Numpad4", false}, "", "", "rate:4", "4"},
	{stroke{"a", "KeyA", false}, "left", "", "", "a"},
	{stroke{"A", "KeyA", false}, "left", "", "", "a"}, // Caps Lock
	{stroke{"d", "KeyD", false}, "right", "", "", "d"},
	{stroke{"w", "KeyW", false}, "equal", "left", "", "w"},
	{stroke{"x", "KeyX", false}, "cant_tell", "right", "cant_tell", "x"},
	{stroke{"e", "KeyE", false}, "equal", "equal", "", "e"},
	{stroke{"c", "KeyC", false}, "cant_tell", "cant_tell", "cant_tell", "c"},
	{stroke{"0", "Digit0", false}, "", "", "rate:0", "0"},
	{stroke{")", "Digit0", true}, "", "", "", ""}, // neither 0 nor 10
	{stroke{"*", "Digit8", true}, "", "", "", ""},
	{stroke{"=", "Equal", false}, "", "", "rate:10", "="},
	{stroke{"+", "Equal", true}, "", "", "", ""},
	{stroke{"t", "KeyT", false}, "", "", "rate:10", "t"},
	{stroke{"?", "Slash", true}, "", "", "", "?"},
	{stroke{"[", "BracketLeft", false}, "", "", "", "["},
	{stroke{"]", "BracketRight", false}, "", "", "", "]"},

	// French AZERTY: A and Q, W and Z have changed places; digits need Shift.
	{stroke{"a", "KeyQ", false}, "left", "", "", "a"},
	{stroke{"q", "KeyA", false}, "", "", "", "q"},
	{stroke{"w", "KeyZ", false}, "equal", "left", "", "w"},
	{stroke{"z", "KeyW", false}, "", "", "", "z"}, // undo, as printed
	{stroke{"à", "Digit0", false}, "", "", "rate:0", "0"},
	{stroke{"0", "Digit0", true}, "", "", "rate:0", "0"},
	{stroke{"é", "Digit2", false}, "", "", "rate:2", "2"},
	{stroke{"_", "Digit8", false}, "", "", "rate:8", "8"},
	{stroke{",", "KeyM", false}, "", "", "", ","},
	{stroke{"?", "KeyM", true}, "", "", "", "?"},
	{stroke{".", "Comma", true}, "", "", "", "."},
	{stroke{":", "Period", false}, "", "", "", "."},
	{stroke{"Dead", "BracketLeft", false}, "", "", "", "["},
	{stroke{"$", "BracketRight", false}, "", "", "", "]"},

	// German QWERTZ: Y and Z have changed places; "=" is Shift 0.
	{stroke{"z", "KeyY", false}, "", "", "", "z"},
	{stroke{"y", "KeyZ", false}, "", "", "", "y"},
	{stroke{"=", "Digit0", true}, "", "", "rate:10", "="},
	{stroke{"?", "Minus", true}, "", "", "", "?"},
	{stroke{"ü", "BracketLeft", false}, "", "", "", "["},
	{stroke{"+", "BracketRight", false}, "", "", "", "]"},

	// Russian: letters count by their place.
	{stroke{"ф", "KeyA", false}, "left", "", "", "a"},
	{stroke{"Ф", "KeyA", true}, "left", "", "", "a"},
	{stroke{"в", "KeyD", false}, "right", "", "", "d"},
	{stroke{"ц", "KeyW", false}, "equal", "left", "", "w"},
	{stroke{"у", "KeyE", false}, "equal", "equal", "", "e"},
	{stroke{"с", "KeyC", false}, "cant_tell", "cant_tell", "cant_tell", "c"},
	{stroke{"я", "KeyZ", false}, "", "", "", "z"},
	{stroke{"ы", "KeyS", false}, "", "", "", "s"},
	{stroke{"е", "KeyT", false}, "", "", "rate:10", "t"},
	{stroke{"?", "Digit7", true}, "", "", "", "?"},
	{stroke{",", "Slash", true}, "", "", "", ","},
	{stroke{".", "Slash", false}, "", "", "", "."},
	{stroke{"б", "Comma", false}, "", "", "", ","},
	{stroke{"х", "BracketLeft", false}, "", "", "", "["},

	// Turkish F: another Latin letter than the place's says nothing.
	{stroke{"ğ", "KeyW", false}, "", "", "", ""},
	// Arabic digits count by their place.
	{stroke{"٣", "Digit3", false}, "", "", "rate:3", "3"},
}

// checksKeyTable asks the page what the keys of the table mean.
func (b *tab) checksKeyTable() {
	b.t.Helper()
	type event struct {
		Key   string `json:"key"`
		Code  string `json:"code"`
		Shift bool   `json:"shiftKey"`
	}
	var events []event
	for _, k := range keyTable {
		events = append(events, event{k.key, k.code, k.shift})
	}
	list, err := json.Marshal(events)
	if err != nil {
		b.t.Fatal(err)
	}
	got := evaluate[[][4]string](b, fmt.Sprintf(`import(document.querySelector("script[type=module]").src.replace("annotate.js", "keys.js"))
		.then(({ sign, comparisonKey, ratingKey }) => %s.map((e) => [comparisonKey(e, "row"), comparisonKey(e, "column"), ratingKey(e), sign(e)]))`, list))
	for i, k := range keyTable {
		if want := [4]string{k.row, k.column, k.rating, k.sign}; got[i] != want {
			b.t.Errorf("%+v: row, column, rating, sign = %q, want %q", k.stroke, got[i], want)
		}
	}
}
