package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/session/insight"
	"tiebreak/templates"
)

// tastesShown is how many weights have their clips on the page at once.
const tastesShown = 8

// learntParts fills in what is shown of what a session has learnt.
func learntParts(ctx context.Context, session Session, p *templates.Charts) error {
	l, err := session.Learnt(ctx)
	if err != nil {
		return err
	}
	spec := session.Spec()
	p.Learnt = templates.LearntParts{Seq: fmt.Sprint(l.Seq), Policies: policyGroups(spec.ID, l), Next: nextPart(spec, l)}
	if len(l.Policies) > 0 {
		for _, m := range l.Policies[0].Clips {
			p.Learnt.Starts = append(p.Learnt.Starts, templates.PolicyStart{Key: momentKey(m), Name: momentName(m)})
		}
	}
	for i, t := range l.Tastes {
		card := tasteCard(spec.ID, i, t)
		if i <= tastesShown {
			p.Learnt.Tastes = append(p.Learnt.Tastes, card)
		} else {
			p.Learnt.More = append(p.Learnt.More, card)
		}
	}
	if n := len(p.Learnt.More); n > 0 {
		p.Learnt.MoreText = fmt.Sprintf("%s more, of which less is known", plural(n, "weight"))
	}
	if len(l.Tastes) == 0 {
		p.Learnt.None = "Shown from the first answer on: before it the reward likes all clips equally."
	}
	return nil
}

// Names of the groups of policies, for people.
var groupNames = map[insight.Group]string{
	insight.Recommended: "Recommended now", insight.AtFirst: "Recommended before the first answer", insight.InUse: "Candidates in use",
	insight.Prepared: "Prepared before the first answer", insight.Earlier: "Earlier candidates, the newest first",
}

// policyGroups lists policies in their groups.
func policyGroups(id idrl.SessionID, l *insight.Learnt) (out []templates.PolicyGroup) {
	for i, a := range l.Policies {
		if i == 0 || a.Group != l.Policies[i-1].Group {
			out = append(out, templates.PolicyGroup{Name: groupNames[a.Group]})
		}
		var clips, begins []string
		for _, m := range a.Clips {
			clips = append(clips, momentKey(m), clipURL(id, m.Clip))
			if l.Recorded {
				begins = append(begins, beginsKey(m))
			}
		}
		g := &out[len(out)-1]
		g.Policies = append(g.Policies, templates.PolicyChoice{ID: string(a.ID), Name: actorName(a), Clips: strings.Join(clips, " "), Begins: strings.Join(begins, " ")})
	}
	return out
}

// Origins of policies, for people; those of others say nothing that their names do not say.
var originNames = map[idrl.Origin]string{idrl.FromMean: "Mean-optimal ", idrl.FromSample: "Sample ", idrl.FromLibrary: "Library "}

func actorName(a insight.Actor) string {
	if a.Title != "" {
		return fmt.Sprintf("%s (%s)", a.Title, a.ID)
	}
	return originNames[a.Origin] + string(a.ID)
}

func momentKey(m insight.Moment) string { return fmt.Sprintf("%d.%d", m.Episode, m.Start) }

// beginsKey is one text without spaces for clips that begin alike, as recordings say: at one step of episodes from one start.
func beginsKey(m insight.Moment) string {
	if m.Begins == "" {
		return "?"
	}
	return fmt.Sprintf("%s@%d", url.QueryEscape(m.Begins), m.Start)
}

func momentName(m insight.Moment) string {
	return fmt.Sprintf("Episode %d, step %d", m.Episode+1, m.Start)
}

// Verdicts on clips and on weights, for people.
var (
	onClips   = map[insight.Verdict]string{insight.Likes: "liked", insight.Dislikes: "disliked", insight.Unknown: "not known yet"}
	onWeights = map[insight.Verdict]string{insight.Likes: "likes", insight.Dislikes: "dislikes", insight.Unknown: "not known yet"}
)

func tasteCard(id idrl.SessionID, i int, t insight.Taste) templates.TasteCard {
	c := templates.TasteCard{ID: cmp.Or(t.Name, "whole"), Name: t.Name, Class: "unknown"}
	if i > 0 {
		c.Value, c.Verdict = interval(t.Mean, t.Std), onWeights[t.Verdict]
	}
	if t.Verdict != insight.Unknown {
		c.Class = c.Verdict
	}
	if len(t.Most) == 0 {
		c.Same = "No two of the clips differ in this feature."
	}
	figures := func(list []insight.Liking) (out []templates.LikingFigure) {
		for _, l := range list {
			out = append(out, templates.LikingFigure{Clip: clipURL(id, l.Clip), Value: interval(l.Value, l.Std), Verdict: onClips[l.Verdict]})
		}
		return out
	}
	c.Most, c.Least = figures(t.Most), figures(t.Least)
	return c
}

// nextPart shows the question that the session would ask, and says what the answer would tell.
func nextPart(spec idrl.SessionSpec, l *insight.Learnt) (p templates.NextPart) {
	if l.Next == nil {
		p.None = "There is no question to ask now."
		if l.BasedOn < 0 {
			p.None = "Shown as soon as there are questions."
		}
		return p
	}
	var urls []string
	for _, id := range l.Next.Query.Clips {
		urls = append(urls, clipURL(spec.ID, id))
	}
	p.Clips = strings.Join(urls, " ")
	method, _ := acquisition.Find(spec.Acquisition)
	switch first, second := l.Next.First, l.Next.Second; {
	case first.ID == "" && method.NoPair != "":
		p.Text = append(p.Text, fmt.Sprintf("It compares no two policies: %s.", method.NoPair))
	case first.ID == "":
		p.Text = append(p.Text, "It compares no two policies.")
	case l.Next.Rivals == 2:
		p.Text = append(p.Text, fmt.Sprintf("The answer would tell %s from %s most of all, and from one more policy.", policyName(first), policyName(second)))
	case l.Next.Rivals > 2:
		p.Text = append(p.Text, fmt.Sprintf("The answer would tell %s from %s most of all, and from %d more policies.", policyName(first), policyName(second), l.Next.Rivals-1))
	default:
		p.Text = append(p.Text, fmt.Sprintf("The answer would tell whether %s or %s is better.", policyName(first), policyName(second)))
	}
	if l.Next.Query.Kind.Comparison() {
		p.Text = append(p.Text, fmt.Sprintf("The posterior gives the left, or upper, clip the higher reward with a probability of %s.", stats.Percent(l.Next.Better)))
	}
	if spec.Kind.Group() {
		p.Text = append(p.Text, "Other clips would be asked about together with these two.")
	}
	return p
}

// interval shows a mean with the half-width of its 95 % interval.
func interval(mean, std float64) string {
	const z95 = 1.96 // standard deviations
	return signed(mean, 2) + " ± " + signed(z95*std, 2)
}
