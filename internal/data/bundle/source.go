package bundle

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Source is a session at one moment. *store.Reading is one, and says what its methods do.
type Source interface {
	Spec() idrl.SessionSpec
	LastSeq(ctx context.Context) (seq int64, last idrl.AnswerID, err error)
	SeqOf(ctx context.Context, id idrl.AnswerID) (int64, error)

	Rows(ctx context.Context, p record.Part, yield func(record.Labelled) error) error
	Log(ctx context.Context, p record.Part, yield func(idrl.Answer) error) error
	Questions(ctx context.Context, p record.Part, yield func(a record.Assignment, again bool) error) error
	Clips(ctx context.Context, p record.Part, yield func(c idrl.Clip, drawn bool) error) error
	Episodes(ctx context.Context, p record.Part, yield func(idrl.StepsID, []byte) error) error
	Steps(ctx context.Context, name idrl.StepsID) ([]byte, error)
	Members(ctx context.Context) (out []record.Member, withdrawn int, err error)

	Policies(ctx context.Context, yield func(generation int64, c idrl.Candidate) error) error
	Snapshots(ctx context.Context, p record.Part, yield func(record.Snapshot) error) error
	Trainings(ctx context.Context, yield func(record.Adopted) error) error
	Fits(ctx context.Context) ([]record.LearntFit, error)
	Engines(ctx context.Context) ([]string, error)

	Instructions(ctx context.Context) ([]idrl.Instructions, error)
	Consents(ctx context.Context) ([]idrl.Consent, error)
	Pictures(ctx context.Context, yield func(record.Picture) error) error
	Known(ctx context.Context) ([]record.Known, error)
	Practice(ctx context.Context, yield func(record.Practice, record.Known) error) error
	Flags(ctx context.Context) ([]record.Flag, error)

	Load(ctx context.Context) (record.Record, error)

	Schema(ctx context.Context) (int64, error)
	RecordTables(ctx context.Context) ([]record.RecordTable, error)
	Records(ctx context.Context, t record.RecordTable, yield func([]any) error) error
}
