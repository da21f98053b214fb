package identity

import (
	"net/url"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func TestCrowdRead(t *testing.T) {
	prolific, _ := CrowdOf("prolific")
	mturk, _ := CrowdOf("mturk")
	for _, test := range []struct {
		name    string
		crowd   Crowd
		query   string
		want    record.Participant
		preview bool
		bad     bool
	}{
		{"prolific", prolific, "PROLIFIC_PID=5a9d64f5f6dfdd0001eaa73d&STUDY_ID=s1&SESSION_ID=x9", record.Participant{ID: "5a9d64f5f6dfdd0001eaa73d", Study: "s1", Submission: "x9"}, false, false},
		{"the person alone", prolific, "PROLIFIC_PID=p", record.Participant{ID: "p"}, false, false},
		{"mturk", mturk, "workerId=A1B2&hitId=H&assignmentId=3X", record.Participant{ID: "A1B2", Study: "H", Submission: "3X"}, false, false},
		{"a preview", mturk, "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H", record.Participant{}, true, false},
		{"a preview elsewhere is no preview", prolific, "PROLIFIC_PID=p&SESSION_ID=ASSIGNMENT_ID_NOT_AVAILABLE", record.Participant{ID: "p", Study: "", Submission: "ASSIGNMENT_ID_NOT_AVAILABLE"}, false, false},
		{"nobody", prolific, "STUDY_ID=s1", record.Participant{}, false, true},
		{"an empty id", prolific, "PROLIFIC_PID=", record.Participant{}, false, true},
		{"placeholder", prolific, "PROLIFIC_PID={{%25PROLIFIC_PID%25}}", record.Participant{}, false, true},
		{"two ids", prolific, "PROLIFIC_PID=a&PROLIFIC_PID=b", record.Participant{}, false, true},
		{"markup", prolific, "PROLIFIC_PID=%3Cscript%3E", record.Participant{}, false, true},
		{"a path", prolific, "PROLIFIC_PID=../../etc", record.Participant{}, false, true},
		{"a formula", prolific, "PROLIFIC_PID=p&STUDY_ID=%3D1%2B1", record.Participant{}, false, true},
		{"a line", prolific, "PROLIFIC_PID=a%0Ab", record.Participant{}, false, true},
		{"nothing but the longest", prolific, "PROLIFIC_PID=" + strings.Repeat("x", 128), record.Participant{ID: strings.Repeat("x", 128)}, false, false},
		{"too long", prolific, "PROLIFIC_PID=" + strings.Repeat("x", 129), record.Participant{}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			q, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			got, preview, err := test.crowd.Read(q)
			if got != test.want || preview != test.preview || (idrl.KindOf(err) == idrl.Invalid && err != nil) != test.bad {
				t.Errorf("%+v, preview %v, %v", got, preview, err)
			}
		})
	}
}

func TestCrowdCheck(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "https://app.prolific.com/submissions/complete?cc={code}": true, "https://{code}.example.org/": false,
		"http://app.prolific.com/": false, "javascript:alert(1)": false, "//example.org/": false, "/relative": false, "https://": false,
		"https://user:word@example.org/": false, "https://example.org/\r\nx": false, "https://example.org/ä": false,
		"https://example.org/" + strings.Repeat("x", 1000): false,
	} {
		c, _ := CrowdOf("prolific")
		c.Return = address
		if err := c.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
	for name, c := range map[string]Crowd{
		"no platform": {}, "another platform": {Platform: "x", Participant: "p"}, "own without names": {Platform: "own"},
		"one name twice": {Platform: "own", Participant: "p", Study: "p"}, "a name with =": {Platform: "own", Participant: "p=q"},
	} {
		if c.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := Crowd{Return: "https://example.org/?cc={code}"}
	if got := c.ReturnTo("A&B c"); got != "https://example.org/?cc=A%26B+c" {
		t.Errorf("return to %s", got)
	}
}
