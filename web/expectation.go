package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// Limits of the fields about time.
const (
	mostHours   = 100_000
	mostWage    = 1_000_000
	mostSeconds = 3600
)

// takeTime takes in the hours of people's time, the seconds that an answer takes and the wage. Hours set
// the number of answers unless that is given.
func (f *sessionForm) takeTime(c echo.Context) {
	for key, most := range map[string]float64{"hours": mostHours, "wage": mostWage, "seconds": mostSeconds} {
		text := strings.TrimSpace(strings.ReplaceAll(c.FormValue(key), ",", "."))
		if f.values[key] = text; text == "" {
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err != nil || !(v > 0 && v <= most) {
			f.errs[key] = fmt.Sprintf("Must be a number above 0, up to %v.", most)
		}
	}
	if hours := f.number("hours"); hours > 0 && f.values["budget"] == "" {
		f.spec.Budget = int(min(idrl.MaxBudget, max(1, math.Round(hours*3600/f.seconds()))))
	}
}

// number returns the value of a field about time, 0 if it is empty or wrong.
func (f *sessionForm) number(key string) float64 {
	if f.errs[key] != "" {
		return 0
	}
	v, _ := strconv.ParseFloat(f.values[key], 64) // checked
	return v
}

// seconds returns how long an answer takes.
func (f *sessionForm) seconds() float64 {
	if v := f.number("seconds"); v > 0 {
		return v
	}
	return rehearsed.SecondsOf(settings.Complete(f.spec).Kind)
}

// howMuch returns the fields about time, and what the answers are expected to give.
func (f *sessionForm) howMuch(env EnvChoice, kept rehearsed.Table, file string) templates.HowMuch {
	field := func(name, label, hint, usual string) templates.SettingField {
		return templates.SettingField{Name: name, Label: label, Hint: hint, Mode: "decimal", Field: templates.Field{Value: f.values[name], Error: f.errs[name], Default: usual}}
	}
	kind := settings.Complete(f.spec).Kind
	h := templates.HowMuch{
		Time: []templates.SettingField{
			field("hours", "Or hours of people’s time", "All people together. Sets the number of answers.", ""),
			field("seconds", "Seconds an answer takes", "The usual value is an assumption: a median of 3 s, of groups 9 s.", decimal(rehearsed.SecondsOf(kind))),
			field("wage", "Wage for an hour", "In any currency; for the cost.", ""),
		},
	}
	h.Answers, h.Cost = f.timeText()
	row, there := kept.Find(env.ID, kind)
	if !there {
		h.Unknown = fmt.Sprintf("There is no rehearsal of %s with questions of the type “%s”. This command makes 20 and keeps them, and this page shows them then:", env.Title, strings.ToLower(kindText(kind)))
		h.Command = rehearseCommand(env.ID, kind, file)
		return h
	}
	h.Rows, h.Who = f.expectations(row)
	h.Most = strconv.Itoa(row.Most())
	if n := f.spec.Budget; n > row.Most() {
		h.Beyond = fmt.Sprintf("%s answers were not rehearsed: the loss is probably not larger than after %s.", words.Count(n), words.Count(row.Most()))
	}
	return h
}

// timeText says how long the answers take and what they cost.
func (f *sessionForm) timeText() (answers, cost string) {
	n, seconds := f.spec.Budget, f.seconds()
	if n == 0 {
		return "No limit is set: people can answer until you end the session.", ""
	}
	answers = fmt.Sprintf("%s answers take about %s of people’s time, at %s s each. Instructions and breaks come besides.", words.Count(n), words.Took(spanOf(n, seconds)), decimal(seconds))
	if wage := f.number("wage"); wage > 0 {
		cost = "At this wage they cost about " + costText(float64(n)*seconds/3600*wage) + "."
	}
	return answers, cost
}

// expectations are the rows of the table of what so many answers are expected to give.
func (f *sessionForm) expectations(r rehearsed.Row) (rows []templates.ExpectedRow, who string) {
	points := []int{5, 10, 20, 30, 40}
	if n := f.spec.Budget; n > 0 && !slices.Contains(points, n) {
		points = append(points, n)
		slices.Sort(points)
	}
	for _, n := range points {
		at, ok := r.At(n)
		if !ok {
			continue
		}
		row := templates.ExpectedRow{
			Answers: strconv.Itoa(n), Time: words.Took(spanOf(n, f.seconds())), Wanted: n == f.spec.Budget,
			Median: lossText(at.Median), Interval: lossText(at.Low) + " to " + lossText(at.High),
		}
		if wage := f.number("wage"); wage > 0 {
			row.Cost = costText(float64(n) * f.seconds() / 3600 * wage)
		}
		rows = append(rows, row)
	}
	who = fmt.Sprintf("From %d rehearsals with default settings, each with one simulated person who is right about %s of random pairs of clips and answers after a median of %s s. Real people differ.",
		r.Runs(), percentText(r.Right), decimal(r.PaceS))
	if r.Against == "known" {
		who += " The best policy is here the best one that the session found."
	}
	return rows, who
}

// lossText writes a share of the range from the worst to the best policy in per cent, with one digit after
// the point.
func lossText(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// decimal writes a number without zeros at its end.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// costText writes a sum of money with two digits after the point.
func costText(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// spanOf returns how long n answers take that take so many seconds each.
func spanOf(n int, seconds float64) time.Duration {
	return time.Duration(float64(n) * seconds * float64(time.Second))
}

// rehearseCommand is the command line that rehearses sessions of an environment.
func rehearseCommand(env string, kind idrl.QueryKind, file string) string {
	text := "tiebreak simulate --runs 20 --env " + env
	if kind != idrl.CompareClips {
		text += " --kind " + string(kind)
	}
	return text + " --matched --right 0.8 --pace 3s --skip-idle --answers 40 --every 5 --seed 72000 --keep " + file
}
