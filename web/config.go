package web

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"tiebreak/internal/base/installation"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/notice"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/templates"
)

// Session is one running session. Its methods may be called from any goroutine;
// a row is durable before Answer or Undo returns.
type Session interface {
	Spec() idrl.SessionSpec
	Claim(ctx context.Context, who idrl.AnnotatorID) (view.Offer, error)
	Answer(ctx context.Context, who idrl.AnnotatorID, a idrl.Answer) (view.Receipt, error)
	Undo(ctx context.Context, who idrl.AnnotatorID, id, of idrl.AnswerID) (view.Receipt, error)
	Renew(ctx context.Context, who idrl.AnnotatorID, a idrl.AssignmentID) error
	Have(ctx context.Context, who idrl.AnnotatorID, ids []idrl.AnswerID) ([]idrl.AnswerID, error)
	Status(ctx context.Context) (view.Status, error)
	Posterior(ctx context.Context) (view.Held, error)
	// Upload adds clips that a program made, and returns when they are durable and in use.
	Upload(ctx context.Context, given idrl.Generation) (view.Uploaded, error)
	// Conditions returns how well the posterior of each condition predicts what is held out.
	Conditions(ctx context.Context) (view.ConditionScores, error)
	// Given returns the annotator's answers that can still be withdrawn, the last one first.
	Given(ctx context.Context, who idrl.AnnotatorID) ([]view.Given, error)
	// Effect returns what annotators may see of what was learnt, or an error of kind NotFound.
	Effect(ctx context.Context) (view.Effect, error)
	// Examples returns at most two questions about clips that obviously differ, to practise with;
	// none while there are no clips.
	Examples(ctx context.Context) ([]idrl.Query, error)
	// Insight returns how well answers were predicted, how the posterior became what it is, and
	// how labelling goes.
	Insight(ctx context.Context) (*insight.Report, error)
	// Learnt returns what the session has learnt, to be looked at by researchers.
	Learnt(ctx context.Context) (*insight.Learnt, error)
	// Open returns the questions that are reserved for annotators.
	Open(ctx context.Context) ([]record.Assignment, error)
	// Trainings returns at most limit ended trainings, the last one first; all if the number is 0.
	Trainings(ctx context.Context, most int) ([]record.PastTraining, error)
	// Questions returns questions that were answered, newest first, and whether there are earlier ones.
	Questions(ctx context.Context, w insight.Wanted) ([]insight.Question, bool, error)
	// Follow makes the session apply its recorded settings, and returns when that is durable.
	Follow(ctx context.Context) error
	// CancelTraining ends the current training. It returns an error of kind Conflict with the
	// reason if it cannot.
	CancelTraining(ctx context.Context) error
}

// Sessions finds and makes sessions.
type Sessions interface {
	// Session returns an error of kind NotFound if there is none, and of kind Invalid,
	// Damaged or Internal if it is recorded but cannot run.
	Session(ctx context.Context, id idrl.SessionID) (Session, error)
	// Spec returns the settings of a session, also of one that cannot run.
	Spec(ctx context.Context, id idrl.SessionID) (idrl.SessionSpec, error)
	// Create records spec, a valid one without ID, and starts the session, which the account owner
	// owns. It returns an error of kind Invalid if the parts do not fit together, and of kind Conflict
	// if no place can train the session, unless it is to be made anyway.
	Create(ctx context.Context, spec idrl.SessionSpec, owner string, anyway bool) (idrl.SessionID, error)
	// Clone makes a session with the settings of another one, without starting it. The account
	// actor owns it. An empty title is derived from that of the other. It returns an error of kind
	// Conflict as Create does.
	Clone(ctx context.Context, id idrl.SessionID, title string, seed uint64, actor string, anyway bool) (idrl.SessionID, error)
	// List returns every session, newest first, and reports which of them cannot run.
	List(ctx context.Context) ([]record.Summary, error)
}

// Auth identifies people and programs; auth.Auth implements it. Tokens and cookies are secrets.
type Auth interface {
	// Object returns a session as the object of an account or a program, or an error of kind NotFound.
	Object(ctx context.Context, who auth.Actor, session idrl.SessionID) (auth.Object, error)
	// Watchable returns which sessions an account or a program may watch.
	Watchable(ctx context.Context, who auth.Actor) (func(idrl.SessionID) bool, error)
	// Actor returns the holder of a cookie, one of role None if there is none.
	Actor(ctx context.Context, cookie string) (auth.Actor, error)
	SignOut(ctx context.Context, cookie string) error
	// Program returns the holder of a token of the HTTP API, one of role None if there is none.
	Program(ctx context.Context, token string) (auth.Actor, error)

	// PeekResearcher and PeekInvitation say where a link leads without using
	// it, or return an error of kind NotFound.
	PeekResearcher(ctx context.Context, token string) (user string, err error)
	PeekInvitation(ctx context.Context, token string) (idrl.SessionID, error)
	// InvitationSession returns the session of a link, even if the link is used up.
	InvitationSession(ctx context.Context, token string) (idrl.SessionID, error)
	// NewLink returns the token of a link that signs an account in, which is added if it is new.
	NewLink(ctx context.Context, user string, role identity.Role) (token string, err error)
	// SignInByPassword returns an account and its cookie, or an error of kind Forbidden.
	SignInByPassword(ctx context.Context, user, password string) (auth.Actor, string, error)
	// SetPassword changes a password; old must be right if there is one. Errors are of kind Invalid
	// and Forbidden, in words for people.
	SetPassword(ctx context.Context, user, old, password string) error
	RedeemResearcher(ctx context.Context, token string) (auth.Actor, string, error)
	Redeem(ctx context.Context, token, name string) (auth.Actor, string, error)
	// RejoinKey gives an annotator a key for Rejoin; "" if the key that their browser holds stays
	// valid. Rejoin signs the same annotator in again; it returns an error of kind Forbidden if the
	// key is not valid in the session.
	RejoinKey(ctx context.Context, who auth.Actor, key string) (fresh string, err error)
	Rejoin(ctx context.Context, session idrl.SessionID, key string) (auth.Actor, string, error)
	// Crowd returns how people come by a link from a crowd platform, also one that is used up;
	// an error of kind NotFound if it is none, has expired or is revoked.
	Crowd(ctx context.Context, token string) (idrl.SessionID, identity.Crowd, error)
	// RedeemParticipant is Redeem of such a link; a known participant continues as the same
	// annotator.
	RedeemParticipant(ctx context.Context, token string, p record.Participant) (auth.Actor, string, error)
	NewCrowdInvitation(ctx context.Context, session idrl.SessionID, uses int, life time.Duration, c identity.Crowd) (token string, err error)
	NewInvitation(ctx context.Context, session idrl.SessionID, uses int, life time.Duration) (token string, err error)
	// NewToken returns the text of a token for a program, and what is recorded of it.
	NewToken(ctx context.Context, t identity.Token, life time.Duration, actor string) (token string, made identity.Token, err error)
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
	Rows(ctx context.Context, session idrl.SessionID, yield func(record.Labelled) error) error
	// Follow yields at most limit rows of the log after one of them, by Seq.
	Follow(ctx context.Context, session idrl.SessionID, after int64, limit int, yield func(record.LogRow) error) error
	// Participants returns who came from crowd platforms.
	Participants(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]record.Participant, error)
}

// Learnt makes files of the results of sessions.
type Learnt interface {
	// LearntFiles returns the reward and the policies of a session. It returns an error of kind
	// NotFound if nothing has been learnt yet.
	LearntFiles(ctx context.Context, session idrl.SessionID) ([]export.File, error)
}

// Bundles writes sessions as data sets.
type Bundles interface {
	// WriteBundle writes the bundle of a session as a zip archive, from one read of the database.
	WriteBundle(ctx context.Context, session idrl.SessionID, w io.Writer, opt bundle.Options) error

	// WriteLabels writes the labels of a session about recordings, which stand beside their data set, as a zip archive, from one read of
	// the database (package episodes). share is that of the episodes that are good.
	WriteLabels(ctx context.Context, session idrl.SessionID, w io.Writer, share float64) error
}

// Settings records the changes that researchers make to a session, with their names. A session
// applies them when Follow is called.
type Settings interface {
	// Control applies an action to a session as a whole (record.ActPause and similar) and returns the
	// state before and after it.
	Control(ctx context.Context, id idrl.SessionID, action, actor string, now time.Time) (before, after record.SessionState, err error)
	// Audit records an act of actor upon a session that no other method records.
	Audit(ctx context.Context, id idrl.SessionID, actor, action, object string, now time.Time) error
	// AuditTrail yields rows of the audit trail, the last one first.
	AuditTrail(ctx context.Context, f record.AuditFilter, yield func(record.AuditEntry) error) error
	// Controls returns these acts, the first one first.
	Controls(ctx context.Context, id idrl.SessionID) ([]record.Control, error)
	// Acts returns the last other acts of researchers upon a session, the last one first.
	Acts(ctx context.Context, id idrl.SessionID, limit int) ([]record.Act, error)
	Rename(ctx context.Context, id idrl.SessionID, title, actor string, now time.Time) error
	SetTags(ctx context.Context, id idrl.SessionID, tags, actor string, now time.Time) error
	SetCard(ctx context.Context, id idrl.SessionID, card idrl.DataCard, actor string, now time.Time) error
	SetBudget(ctx context.Context, id idrl.SessionID, budget int, actor string, now time.Time) error
	// SetInstructions returns the version that is in use afterwards, a new one if the text changes.
	SetInstructions(ctx context.Context, id idrl.SessionID, format, text, actor string, now time.Time) (int64, error)
	RevokeInvitation(ctx context.Context, session idrl.SessionID, link int64, actor string, now time.Time) error
	// RevokeAnnotator ends a person's part. Their answers are left out, or still count (turned
	// answers stay turned).
	RevokeAnnotator(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, leaveOut bool, actor string, now time.Time) error
	// DecideAnswers sets how a person's answers count: idrl.TakenIn, idrl.LeftOut, or idrl.Turned,
	// which applies to the answers until now.
	DecideAnswers(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, how idrl.Choice, actor string, now time.Time) error
	// Withdraw erases a person's data and returns how many rows of the log it emptied, 0 if they
	// were erased before.
	Withdraw(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, actor string, now time.Time) (rows int, err error)
}

// People knows who joined a session, and by which links.
type People interface {
	// Invitations returns the links into a session, the newest first.
	Invitations(ctx context.Context, session idrl.SessionID) ([]identity.Invitation, error)
	// Annotators returns who joined a session, in that order.
	Annotators(ctx context.Context, session idrl.SessionID) ([]identity.Annotator, error)
	// AnnotatorNames returns an empty name where an annotator gave none.
	AnnotatorNames(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]string, error)
	// Consent returns the consent text in use of a session, and the latest version that the
	// annotator has agreed to, 0 for none.
	Consent(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (c idrl.Consent, agreed int64, err error)
	// Agree records that an annotator agrees to a version. It returns an error of kind Conflict, in
	// words for people, if another version is in use.
	Agree(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, version int64, now time.Time) error
	// Participates reports whether an annotator is a participant who came by a link of c.
	Participates(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, c identity.Crowd, p record.Participant) (bool, error)
	// CrowdOf returns the crowd platform by which an annotator came; the zero Crowd if there is
	// none.
	CrowdOf(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (identity.Crowd, error)
	// Withdrew reports whether a participant who comes by a link of c has withdrawn their data from a session.
	Withdrew(ctx context.Context, session idrl.SessionID, c identity.Crowd, p record.Participant) (bool, error)
	// Receipt returns a secret text with which an annotator who withdraws their data can check
	// later whether the data are erased.
	Receipt(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (string, error)
	// Withdrawn returns an annotator who withdrew their data and has the receipt, or an error of kind NotFound.
	Withdrawn(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, receipt string) (identity.Annotator, error)
	// Joined returns an annotator of a session, or an error of kind NotFound.
	Joined(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (identity.Annotator, error)
	// AcknowledgeInstructions records that an annotator has read a version of the
	// instructions. It returns an error of kind Invalid if there is no such version.
	AcknowledgeInstructions(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, version int64) error
	// AcknowledgedInstructions returns the latest version that an annotator has
	// acknowledged, 0 if none.
	AcknowledgedInstructions(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (int64, error)
}

// Accounts knows the accounts, and their rights in sessions. Its errors of kind Conflict and NotFound
// are in words for people.
type Accounts interface {
	// Users returns the accounts, by name.
	Users(ctx context.Context) ([]identity.User, error)
	// SetRole changes the role of an account, and restores a revoked one.
	SetRole(ctx context.Context, user string, role identity.Role, actor string, now time.Time) error
	// RevokeUser ends logins, links, tokens and the password of an account.
	RevokeUser(ctx context.Context, user, actor string, now time.Time) error
	// LogOut ends the logins and links of an account.
	LogOut(ctx context.Context, user, actor string, now time.Time) (logins, links int64, err error)
	// Refused records an attempt to sign in with a wrong password; user is empty for no account.
	Refused(ctx context.Context, user string, now time.Time) error
	// Shares returns to whom a session was given, the owner first.
	Shares(ctx context.Context, session idrl.SessionID) ([]identity.Share, error)
	// Share gives an account a right in a session; identity.NoRight takes it away.
	Share(ctx context.Context, s identity.Share, actor string, now time.Time) error
}

// Health reports the problems of the store.
type Health interface {
	// Problems returns the reasons why the server cannot do all of its work; none if it can. Every
	// page of a researcher calls it.
	Problems(ctx context.Context) []record.Problem
}

// EnvChoice is an environment of which a session can be made, or could be made on another server.
type EnvChoice struct {
	ID, Title, Description string
	StillLabel             string // what a still shows; default "this moment"
	Guide                  templates.Guide

	// Unavailable says what is missing here, as a continuation of 'environment "ant"': "needs
	// MuJoCo: install …". It is empty if sessions can be made.
	Unavailable string

	Runs  string // what it takes to run it, a sentence or two
	Own   bool   // it does not come with the program
	Shown bool   // Config.Examples has clips of it
}

// Config holds the parts and settings of a Server.
type Config struct {
	Sessions  Sessions           // required
	Hub       *live.Hub          // required
	Auth      Auth               // required
	Clips     Clips              // required
	Exports   Exports            // required
	Learnt    Learnt             // required
	Bundles   Bundles            // required
	People    People             // required
	Accounts  Accounts           // required
	Settings  Settings           // required
	Pictures  Pictures           // required
	Known     Known              // required
	Flags     Flags              // required
	Tokens    Tokens             // required
	Quality   Quality            // required
	Arenas    Arenas             // required
	Health    Health             // required
	Catalogue func() []EnvChoice // required; what there is now, at least one that is available; the default of the form is the first that is available

	// Workers are those that do training jobs; nil: pages show none.
	Workers Workers

	// Notices returns what researchers should know of a session, as the list of sessions shows; nil: nothing.
	Notices func(idrl.SessionID) []notice.Notice

	// Before checks what people need before they are invited, for an attempt to open the site; nil: nothing is checked.
	Before func(context.Context, installation.Reach) ([]installation.Finding, error)

	// WorkerStarts are the ways to have workers on other machines, which the page of workers shows.
	WorkerStarts []templates.WorkerStart

	// Env returns one of Catalogue by its ID, without making all of them; nil: from Catalogue.
	Env func(id string) (EnvChoice, bool)

	// Examples returns drawn clips that show what questions of a type are about in an environment, the
	// first two of one question, or an error of kind NotFound; nil: there are none.
	Examples func(ctx context.Context, env string, kind idrl.QueryKind) ([][]byte, error)

	// Rehearsals returns what sessions were found to give; nil: nothing is known. RehearsalsFile is the
	// path of the file where the command line puts more of them, as in a command.
	Rehearsals     func() rehearsed.Table
	RehearsalsFile string

	// Rehearser rehearses what forms are about to make; nil: nothing is rehearsed.
	Rehearser Rehearser

	// Importer imports data sets of LeRobot; nil: requests import none.
	Importer Importer

	// Presets are the settings that accounts keep under names; nil: they cannot.
	Presets Presets

	// Base is how people reach the site, and begins the links that pages show:
	// "https://study.example.org". If it is empty the links are paths.
	Base string

	// Origins are the origins besides loopback addresses from which pages may be served:
	// "https://study.example.org". Sockets and forms from any other origin are refused. If there is
	// none, a page that is requested under another name than that of a loopback address only
	// explains this.
	Origins []string

	// Program is the name and version of the program, which figures and reports state; default "tiebreak".
	Program string

	// SignInCommand is the command line that prints a sign-in link; pages show it to researchers
	// who are not signed in; default "tiebreak user link".
	SignInCommand string

	// Proxies are the addresses of reverse proxies in front of the server. A request from one of
	// them is charged to the last other address in its X-Forwarded-For. Behind a proxy that is not
	// listed, all people share the limits of one address.
	Proxies []netip.Prefix

	// Rehearses lets people join sessions that are rehearsals (idrl.SessionSpec.Rehearsal): those of this server are simulated.
	Rehearses bool

	SecureCookies bool         // the site is reached over HTTPS only
	Log           *slog.Logger // default: slog.Default()
}
