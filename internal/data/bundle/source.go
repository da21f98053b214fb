package bundle

import (
	"context"

	"tiebreak/internal/idrl"
)

// A Source is a session at one moment. *store.Reading is one, and says what its methods do.
type Source interface {
	Spec() idrl.SessionSpec
	LastSeq(ctx context.Context) (seq int64, last idrl.AnswerID, err error)
	SeqOf(ctx context.Context, id idrl.AnswerID) (int64, error)

	Rows(ctx context.Context, p idrl.Part, yield func(idrl.Labelled) error) error
	Log(ctx context.Context, p idrl.Part, yield func(idrl.Answer) error) error
	Questions(ctx context.Context, p idrl.Part, yield func(a idrl.Assignment, again bool) error) error
	Clips(ctx context.Context, p idrl.Part, yield func(c idrl.Clip, drawn bool) error) error
	Episodes(ctx context.Context, p idrl.Part, yield func(idrl.StepsID, []byte) error) error
	Steps(ctx context.Context, name idrl.StepsID) ([]byte, error)
	Members(ctx context.Context) (out []idrl.Member, withdrawn int, err error)

	Policies(ctx context.Context, yield func(generation int64, c idrl.Candidate) error) error
	Snapshots(ctx context.Context, p idrl.Part, yield func(idrl.Snapshot) error) error
	Trainings(ctx context.Context, yield func(idrl.Adopted) error) error
	Fits(ctx context.Context) ([]idrl.LearntFit, error)
	Engines(ctx context.Context) ([]string, error)

	Instructions(ctx context.Context) ([]idrl.Instructions, error)
	Consents(ctx context.Context) ([]idrl.Consent, error)
	Pictures(ctx context.Context, yield func(idrl.Picture) error) error
	Known(ctx context.Context) ([]idrl.Known, error)
	Practice(ctx context.Context, yield func(idrl.Practice, idrl.Known) error) error
	Flags(ctx context.Context) ([]idrl.Flag, error)

	Load(ctx context.Context) (idrl.Record, error)

	Schema(ctx context.Context) (int64, error)
	RecordTables(ctx context.Context) ([]idrl.RecordTable, error)
	Records(ctx context.Context, t idrl.RecordTable, yield func([]any) error) error
}
