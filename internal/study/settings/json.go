package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
)

// exactly is the largest whole number up to which JSON keeps every one exactly.
const exactly = 1<<53 - 1

// SetJSON sets s in a spec to a value of JSON. Its error goes on from the key.
func (s Setting) SetJSON(spec *idrl.SessionSpec, raw []byte) error {
	if string(raw) == "null" {
		return fmt.Errorf("must be %s; leave it out for the default", s.Type())
	}
	text := string(raw)
	switch s.Type() {
	case Shares:
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		var list []struct {
			Strategy string  `json:"strategy"`
			Share    float64 `json:"share"`
		}
		if d.Decode(&list) != nil {
			return fmt.Errorf(`must be a list such as [{"strategy": "uniform", "share": 0.25}]`)
		}
		spec.Controls = nil
		for _, c := range list {
			spec.Controls = append(spec.Controls, idrl.StrategyShare{Strategy: c.Strategy, Share: c.Share})
		}
		return nil
	case Word:
		if json.Unmarshal(raw, &text) != nil {
			return fmt.Errorf("must be text; got %s", raw)
		}
	case Whole:
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) <= exactly {
			text = strconv.FormatInt(int64(v), 10) // also 25.0 and 1e3
		} else if err == nil && v > exactly {
			return fmt.Errorf("must be at most %d; got %s", exactly, raw)
		}
	case Switch, Number:
		if strings.HasPrefix(text, `"`) {
			return fmt.Errorf("must be %s, without quotes; got %s", s.Type(), raw)
		}
	}
	return s.Give(spec, text)
}

// Schema describes the values of s as JSON Schema.
func (s Setting) Schema() map[string]any {
	about := map[string]any{"description": s.Words + s.Limits()}
	switch is := s.Type(); is {
	case Shares:
		about["type"] = "array"
		about["items"] = map[string]any{
			"type": "object", "required": []string{"strategy", "share"}, "additionalProperties": false,
			"properties": map[string]any{"strategy": map[string]any{"type": "string"}, "share": map[string]any{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}},
		}
	case Switch:
		about["type"], about["default"] = "boolean", s.Default == "true"
	case Word:
		about["type"] = "string"
		if len(s.Values) > 0 {
			about["enum"] = s.Names()
		}
		if s.Low > 0 {
			about["minLength"] = int(s.Low)
		}
		if s.High > 0 {
			about["maxLength"] = int(s.High)
		}
		if s.Depends == "" && s.Low == 0 {
			about["default"] = s.Default
		}
	case Whole, Number:
		about["type"] = map[Is]string{Whole: "integer", Number: "number"}[is]
		s.bounds(about)
		if s.Depends == "" && s.Key != "seed" {
			about["default"] = json.Number(s.Default)
		}
	}
	return about
}

// bounds adds the range of a number to its schema.
func (s Setting) bounds(about map[string]any) {
	low, high, least, most := s.Low, s.High, "minimum", "maximum"
	if s.Low == 0 && s.High == 0 {
		high = exactly
	}
	if s.Open {
		least, most = "exclusiveMinimum", "exclusiveMaximum"
	}
	if s.Zero != "" { // zero is a value, whatever the range
		low, least = 0, "minimum"
	}
	about[least] = low
	if !math.IsInf(high, 1) {
		about[most] = high
	}
}
