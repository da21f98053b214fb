package identity

import (
	"fmt"
	"net/url"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Crowd describes a link from a crowd platform: the names of the address parameters in which the
// platform puts ids, and the address to which people return. Ids in an address are not secret and do
// not prove an identity.
type Crowd struct {
	Platform    string // one of CrowdPlatforms()
	Participant string // name of the parameter with the id of the person
	Study       string // with that of the study; empty for none
	Submission  string // with that of this person's submission in it; empty for none

	// AsGiven keeps the ids of person and submission as they are. Otherwise a keyed hash of each is
	// kept, by which a person is recognised but not identified on the platform.
	AsGiven bool

	// Return is the https address to which people go at the end; {code} in it stands for the
	// completion code. Empty for none.
	Return string
}

// CrowdPlatforms returns the names of the platforms with known parameters, and "own".
func CrowdPlatforms() []string { return []string{"prolific", "mturk", "own"} }

// CrowdOf returns the Crowd of a platform; own names the parameters of the platform "own". It
// returns an error of kind Invalid if there is no such platform.
func CrowdOf(platform string) (Crowd, error) {
	switch platform {
	case "prolific":
		return Crowd{Platform: platform, Participant: "PROLIFIC_PID", Study: "STUDY_ID", Submission: "SESSION_ID"}, nil
	case "mturk":
		return Crowd{Platform: platform, Participant: "workerId", Study: "hitId", Submission: "assignmentId"}, nil
	case "own":
		return Crowd{Platform: platform}, nil
	}
	return Crowd{}, idrl.Errorf(idrl.Invalid, "unknown crowd platform %q; known: %s", platform, strings.Join(CrowdPlatforms(), ", "))
}

// Limits of the ids of a platform.
const (
	maxCrowdID     = 128  // characters
	maxCrowdReturn = 1000 // bytes
)

// previewed is the id of an assignment that Mechanical Turk sends for a preview of a task that was
// not accepted.
const previewed = "ASSIGNMENT_ID_NOT_AVAILABLE"

// Check returns an error of kind Invalid that says what to change.
func (c Crowd) Check() error {
	if _, err := CrowdOf(c.Platform); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range []string{c.Participant, c.Study, c.Submission} {
		if name != "" && (!plainCrowdID(name) || seen[name]) {
			return idrl.Errorf(idrl.Invalid, "%q cannot be the name of a parameter, or is given for two parameters", name)
		}
		seen[name] = true
	}
	if c.Participant == "" {
		return idrl.Errorf(idrl.Invalid, "a crowd link needs the name of the parameter with the id of the person")
	}
	if c.Return == "" {
		return nil
	}
	u, err := url.Parse(strings.ReplaceAll(c.Return, "{code}", "code"))
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(c.Return) > maxCrowdReturn || strings.ContainsFunc(c.Return, func(r rune) bool { return r <= ' ' || r > '~' }) ||
		!strings.HasPrefix(c.Return, "https://"+u.Host) { // the code cannot be in the host
		return idrl.Errorf(idrl.Invalid, "the address to return to must begin with https:// and name a host, in at most %d characters; got %q", maxCrowdReturn, c.Return)
	}
	return nil
}

// Read returns the participant of an address, from its parameters, and whether the page is only a
// preview. It returns an error of kind Invalid, in words for people, if an id is missing or not
// valid.
func (c Crowd) Read(parameters url.Values) (p record.Participant, preview bool, err error) {
	if c.Platform == "mturk" && parameters.Get(c.Submission) == previewed {
		return p, true, nil
	}
	for _, part := range []struct {
		name string
		dst  *string
	}{{c.Participant, &p.ID}, {c.Study, &p.Study}, {c.Submission, &p.Submission}} {
		if part.name == "" {
			continue
		}
		values := parameters[part.name]
		if len(values) == 0 && part.dst != &p.ID {
			continue
		}
		if len(values) != 1 || !plainCrowdID(values[0]) {
			return record.Participant{}, false, idrl.Errorf(idrl.Invalid, "This link has no valid participant id (%s). Open the study from the platform again.", part.name)
		}
		*part.dst = values[0]
	}
	return p, false, nil
}

// Query returns the parameters of a link's address, in the form in which the platform fills them
// in: with names in its own brackets, or "…" if the platform is not known.
func (c Crowd) Query() string {
	form := map[string]string{"prolific": "%[1]s={{%%%[1]s%%}}", "mturk": "%[1]s=${%[1]s}", "own": "%[1]s=…"}[c.Platform]
	var parts []string
	for _, name := range []string{c.Participant, c.Study, c.Submission} {
		if name != "" {
			parts = append(parts, fmt.Sprintf(form, name))
		}
	}
	return strings.Join(parts, "&")
}

// ReturnTo returns the address to which people return at the end, with a completion code.
func (c Crowd) ReturnTo(code string) string {
	return strings.ReplaceAll(c.Return, "{code}", url.QueryEscape(code))
}

func plainCrowdID(id string) bool {
	if id == "" || len(id) > maxCrowdID {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_.@:", r))
	})
}
