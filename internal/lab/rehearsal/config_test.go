package rehearsal

import (
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

func TestBadConfig(t *testing.T) {
	good := Config{Link: "http://127.0.0.1:1/join/x", Answers: 1, Expert: Expert{Kind: Experts()[0], Temperature: 1}}
	must.Get(New(good))(t)
	for _, test := range []struct {
		name   string
		change func(*Config)
		says   string
	}{
		{"no answers", func(c *Config) { c.Answers = 0 }, "--answers"},
		{"negative patience", func(c *Config) { c.Patience = -1 }, "--patience"},
		{"negative pace", func(c *Config) { c.Pace = -time.Second }, "--pace"},
		{"every without data", func(c *Config) { c.Every = 1 }, "--data"},
		{"matched without data", func(c *Config) { c.Expert = Expert{Matched: true} }, "--data"},
		{"no temperature", func(c *Config) { c.Expert.Temperature = 0 }, "--expert perfect"},
		{"unknown expert", func(c *Config) { c.Expert.Kind = "oracle" }, `"oracle"`},
		{"not a link", func(c *Config) { c.Link = "hello" }, "/join/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := good
			test.change(&c)
			if _, err := New(c); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one of kind Invalid with %q", err, test.says)
			}
		})
	}
}
