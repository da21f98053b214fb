package bradley

import (
	"cmp"
	"math"
	"slices"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// A Person compares a person's answers with those of all others.
type Person struct {
	ID      idrl.AnnotatorID
	Answers int // that prefer one, or say 'equal'
	Ties    int // of these, 'equal'

	// Compared counts the preferences that can be compared with the others': the others have
	// answered, and find one of the two stronger. Agreed counts those for the stronger one.
	Compared int
	Agreed   int
	Interval         // of the share of Agreed, by Wilson's score
	Expected float64 // the share that the others' strengths predict
	Chance   bool    // the interval, of enough answers, is below Expected and contains ½: like random answers
	Reversed bool    // the 99.9 % interval is below ½: like answers with the sides exchanged
}

// enough is how many compared preferences it takes to call a person random.
const enough = 20

// people compares the answers of each person with those of the others.
func people(n int, outcomes []Outcome) ([]Person, error) {
	all, own := NewTable(n), map[idrl.AnnotatorID]*Table{}
	for _, o := range outcomes {
		if own[o.Person] == nil {
			own[o.Person] = NewTable(n)
		}
		own[o.Person].count(o)
		all.count(o)
	}
	var out []Person
	for id, t := range own {
		p, err := t.person(id, all)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Person) int { return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// person compares the answers t of a person with those of all others.
func (t *Table) person(id idrl.AnnotatorID, all *Table) (Person, error) {
	p := Person{ID: id, Answers: t.Answers()}
	others := NewTable(t.n)
	others.add(all, 1)
	others.add(t, -1)
	f, err := others.Fit(Weak)
	if err != nil {
		return p, err
	}
	for i := range t.n {
		for j := range t.n {
			if i < j {
				p.Ties += t.Ties(i, j)
			}
			if i == j || math.Abs(f.Strengths[i]-f.Strengths[j]) < tolerance {
				continue
			}
			wins, chance := t.Wins(i, j), f.Preferred(i, j)
			p.Compared += wins
			p.Expected += float64(wins) * max(chance, 1-chance)
			if chance > 0.5 {
				p.Agreed += wins
			}
		}
	}
	if p.Compared > 0 {
		p.Expected /= float64(p.Compared)
		p.Interval = wilson(p.Agreed, p.Compared, stats.Z95)
		p.Reversed = wilson(p.Agreed, p.Compared, stats.Z999).High < 0.5
		p.Chance = p.Compared >= enough && p.High < p.Expected && p.Low < 0.5 && !p.Reversed
	}
	return p, nil
}

// wilson returns the interval of a share whose score is at most z.
func wilson(k, n int, z float64) (i Interval) {
	i.Low, i.High = stats.Wilson(float64(k), n, z)
	return i
}
