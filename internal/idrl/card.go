package idrl

import "unicode/utf8"

// A DataCard describes a study and its people, for data cards and reports: see SessionSpec.Authors.
type DataCard struct{ Authors, Licence, Recruitment, Payment string }

// Card returns the data card of a session.
func (s SessionSpec) Card() DataCard {
	return DataCard{s.Authors, s.Licence, s.Recruitment, s.Payment}
}

// SetCard sets the data card of a session.
func (s *SessionSpec) SetCard(c DataCard) {
	s.Authors, s.Licence, s.Recruitment, s.Payment = c.Authors, c.Licence, c.Recruitment, c.Payment
}

// Check returns an error of kind Invalid, in words for people, if a text is too long or cannot be shown.
func (c DataCard) Check() error {
	for _, t := range []struct {
		name, text string
		most       int
		line       bool
	}{
		{"authors", c.Authors, MaxAuthors, true},
		{"licence", c.Licence, MaxLicence, true},
		{"text on recruitment", c.Recruitment, MaxCardText, false},
		{"text on payment", c.Payment, MaxCardText, false},
	} {
		switch n := utf8.RuneCountInString(t.text); {
		case n > t.most:
			return Errorf(Invalid, "the %s must have at most %d characters; it has %d", t.name, t.most, n)
		case !IsVisible(t.text):
			return NotVisible(t.name)
		case t.line && !IsLine(t.text):
			return Errorf(Invalid, "the %s must be one line of printable characters", t.name)
		}
	}
	return nil
}
