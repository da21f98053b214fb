package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
)

// crowd returns the Crowd of the flags.
func (f *inviteFlags) crowd() (identity.Crowd, error) {
	c, err := identity.CrowdOf(f.platform)
	if err != nil {
		return c, err
	}
	if f.platform == "own" {
		c.Participant, c.Study, c.Submission = f.participant, f.study, f.submission
	} else if f.participant+f.study+f.submission != "" {
		return c, fmt.Errorf("%w: the parameter names of %s are fixed; give names only with --crowd own", errUsage, f.platform)
	}
	c.AsGiven, c.Return = f.asGiven, f.back
	return c, c.Check()
}

// checkNoCrowd returns an error if a flag was given that needs --crowd.
func (f *inviteFlags) checkNoCrowd() error {
	if f.participant+f.study+f.submission+f.back != "" || f.asGiven {
		return fmt.Errorf("%w: parameter names, --ids-as-given and --return apply only to crowd links; add --crowd", errUsage)
	}
	return nil
}

// inviteCrowd makes a crowd link and prints the address to enter on the platform.
func (f *inviteFlags) inviteCrowd(ctx context.Context, std stdio, links *auth.Auth, spec idrl.SessionSpec, base string, life time.Duration) error {
	c, err := f.crowd()
	if err != nil {
		return err
	}
	if c.AsGiven {
		warnOf(std.Err, "--ids-as-given")
	}
	token, err := links.NewCrowdInvitation(ctx, spec.ID, f.uses, life, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Annotator:  %s/join/%s?%s\n", base, token, c.Query())
	if strings.Contains(c.Return, "{code}") && spec.CompletionCode == "" {
		fmt.Fprintln(std.Out, "The session has no completion code (--completion-code); {code} in the return address will be empty.")
	}
	return nil
}
