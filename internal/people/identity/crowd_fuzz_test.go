package identity

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzParticipants: whatever an address of a crowd platform holds, the ids that are taken from it are short, plain text.
func FuzzParticipants(f *testing.F) {
	f.Add("PROLIFIC_PID=abc&STUDY_ID=d&SESSION_ID=e")
	f.Add("workerId=A1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3")
	f.Add("PROLIFIC_PID=%E2%80%AE&PROLIFIC_PID=2&;=%00")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		for _, platform := range []string{"prolific", "mturk"} {
			c, err := CrowdOf(platform)
			if err != nil {
				t.Fatal(err)
			}
			p, preview, err := c.Read(values)
			if err != nil || preview {
				if p.ID+p.Study+p.Submission != "" {
					t.Errorf("%s, %v: %+v", query, err, p)
				}
				continue
			}
			for _, id := range []string{p.ID, p.Study, p.Submission} {
				if len(id) > maxCrowdID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
					t.Errorf("%q is taken from %s", id, query)
				}
			}
			if p.ID == "" {
				t.Errorf("nobody is taken from %s", query)
			}
		}
	})
}
