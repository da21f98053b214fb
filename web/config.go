// Package web serves Tiebreak's pages and sockets. It turns requests into calls
// of the interfaces below and their results into display strings; it decides
// nothing about rewards and stores nothing.
package web

import (
	"context"
	"log/slog"
	"time"

	"tiebreak/internal/auth"
	"tiebreak/internal/idrl"
	"tiebreak/internal/live"
)

// Session is one running session. Its methods may be called from any goroutine;
// a row is durable before Answer or Undo returns.
type Session interface {
	Spec() idrl.SessionSpec
	Claim(ctx context.Context, who idrl.AnnotatorID) (idrl.Offer, error)
	Answer(ctx context.Context, who idrl.AnnotatorID, a idrl.Answer) (idrl.Receipt, error)
	Undo(ctx context.Context, who idrl.AnnotatorID, id, of idrl.AnswerID) (idrl.Receipt, error)
	Renew(ctx context.Context, who idrl.AnnotatorID, a idrl.AssignmentID) error
	Have(ctx context.Context, who idrl.AnnotatorID, ids []idrl.AnswerID) ([]idrl.AnswerID, error)
	Status(ctx context.Context) (idrl.Status, error)
}

// Sessions finds and makes sessions.
type Sessions interface {
	// Session returns an error of kind NotFound if there is none.
	Session(ctx context.Context, id idrl.SessionID) (Session, error)
	// Create records spec, a valid one without ID, and starts the session. It
	// returns an error of kind Invalid if the parts do not fit together.
	Create(ctx context.Context, spec idrl.SessionSpec) (idrl.SessionID, error)
	// List returns every session, newest first.
	List(ctx context.Context) ([]idrl.Summary, error)
}

// Auth says who somebody is; auth.Auth is one. Tokens and cookies are secrets.
type Auth interface {
	// Actor returns the holder of a cookie, one of role None if there is none.
	Actor(ctx context.Context, cookie string) (auth.Actor, error)
	SignOut(ctx context.Context, cookie string) error

	// PeekResearcher and PeekInvitation say where a link leads without using
	// it, or return an error of kind NotFound.
	PeekResearcher(ctx context.Context, token string) (user string, err error)
	PeekInvitation(ctx context.Context, token string) (idrl.SessionID, error)
	RedeemResearcher(ctx context.Context, token string) (auth.Actor, string, error)
	Redeem(ctx context.Context, token, name string) (auth.Actor, string, error)
	NewInvitation(ctx context.Context, session idrl.SessionID, uses int, life time.Duration) (token string, err error)
}

// Clips holds the drawn form of clips.
type Clips interface {
	ClipMedia(ctx context.Context, session idrl.SessionID, clip idrl.ClipID) ([]byte, error)
	// AnnotatorMayFetch reports whether the clip belongs to a question that was
	// leased to the annotator.
	AnnotatorMayFetch(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, clip idrl.ClipID) (bool, error)
}

// Exports reads logs.
type Exports interface {
	// Rows yields the answers of a session by Seq, from one read of the database.
	Rows(ctx context.Context, session idrl.SessionID,
		yield func(a idrl.Answer, q idrl.Query, clips []idrl.Clip, why idrl.Why, undone bool) error) error
}

// People knows the names that annotators gave themselves.
type People interface {
	// AnnotatorNames returns an empty name where an annotator gave none.
	AnnotatorNames(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]string, error)
}

// EnvChoice is an environment that a session can be made of, or could be
// elsewhere.
type EnvChoice struct {
	ID, Title, Description string
	StillLabel             string // what a still shows; default "this moment"

	// Unavailable says what is lacking here, such that it goes on from
	// "environment "ant"": "needs MuJoCo: install …". It is empty if sessions can
	// be made.
	Unavailable string
}

// Config is what a Server is made of.
type Config struct {
	Sessions  Sessions    // required
	Hub       *live.Hub   // required
	Auth      Auth        // required
	Clips     Clips       // required
	Exports   Exports     // required
	People    People      // required
	Catalogue []EnvChoice // required; the default of the form is the first that is available

	// Origins are those that pages may be served from besides loopback
	// addresses: "https://study.example.org". Sockets and forms from any other
	// origin are refused.
	Origins []string

	SecureCookies bool         // the site is reached over HTTPS only
	Log           *slog.Logger // default: slog.Default()
}
