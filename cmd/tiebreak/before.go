package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"tiebreak/internal/base/installation"
	"tiebreak/internal/base/record"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
	"tiebreak/web"
)

// setupKey is the key in the data folder of what the server was last started with.
const setupKey = "setup"

// lastActs is how many rows of the audit trail are read for times that go back.
const lastActs = 1000

// A before finds out what is missing before people are invited, for the page of that name and for 'tiebreak check'.
type before struct {
	db     *store.DB
	data   string
	setup  *installation.Setup // nil if it is not known
	verify bool                // read the last backup whole, which may take minutes
}

// setup returns what a server is started with.
func (s site) setup() *installation.Setup {
	if cert, err := filepath.Abs(s.cert); err == nil && s.cert != "" {
		s.cert = cert // a command may run in another folder
	}
	return &installation.Setup{
		Base: s.base, Origins: s.origins, Cert: s.cert, Every: s.backups.Every, Dir: s.backups.Dir, OptOuts: s.optOuts,
		Files: openFiles(), Sockets: web.MaxSockets,
	}
}

// record keeps the setup of the server for commands.
func (b *before) record(ctx context.Context) error {
	text, err := json.Marshal(b.setup)
	if err != nil {
		return err
	}
	return b.db.SetMeta(ctx, setupKey, string(text))
}

// lastSetup returns what the server was last started with; nil if it never was.
func lastSetup(ctx context.Context, db *store.DB) (*installation.Setup, error) {
	text, err := db.Meta(ctx, setupKey)
	if err != nil || text == "" {
		return nil, err
	}
	s := new(installation.Setup)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("read what the server was started with: %w", err)
	}
	return s, nil
}

// findings returns what was found, for an attempt to open the site.
func (b *before) findings(ctx context.Context, reach installation.Reach) ([]installation.Finding, error) {
	f := installation.Facts{
		Now: time.Now(), Line: commandLine, Data: b.data, Setup: b.setup, Reach: reach,
		Exposed: store.Exposed(b.data), NetworkDisk: store.NetworkDisk(b.data),
	}
	f.Free, f.FreeKnown = b.db.FreeBytes()
	f.ClockKept, f.ClockWithin, f.ClockKnown = keptClock()
	if info, err := os.Stat(filepath.Join(b.data, store.FileName)); err == nil {
		f.Size = info.Size() + b.db.LogBytes()
	}
	if b.setup != nil {
		b.certificate(&f)
		b.backups(ctx, &f)
	}
	for _, read := range []func(context.Context, *installation.Facts) error{b.accounts, b.times} {
		if err := read(ctx, &f); err != nil {
			return nil, err
		}
	}
	return f.Findings(), nil
}

// certificate checks the server's own certificate for the name that people open.
func (b *before) certificate(f *installation.Facts) {
	if b.setup.Cert == "" {
		return
	}
	text, err := os.ReadFile(b.setup.Cert)
	if err != nil {
		f.CertFault = err.Error()
		return
	}
	leaf, err := leafOf(text)
	if err == nil {
		f.CertExpires = leaf.NotAfter
		base, _ := url.Parse(b.setup.Base) // checkOrigin has parsed it
		err = leaf.VerifyHostname(base.Hostname())
	}
	if err != nil {
		f.CertFault = err.Error()
	}
}

// backups finds out about scheduled backups.
func (b *before) backups(ctx context.Context, f *installation.Facts) {
	if b.setup.Every == 0 {
		return
	}
	f.BackupFile, f.Backup = store.Schedule{Dir: b.setup.Dir}.LastFile()
	f.SameDisk = store.SameDisk(b.data, b.setup.Dir)
	if f.BackupRead = b.verify && f.BackupFile != ""; f.BackupRead {
		if _, err := store.VerifyBackup(ctx, f.BackupFile); err != nil {
			f.BackupFault = err.Error()
		}
	}
}

// accounts counts who can sign in as an admin.
func (b *before) accounts(ctx context.Context, f *installation.Facts) (err error) {
	if f.Links, err = b.db.Meta(ctx, addressKey); err != nil {
		return err
	}
	if f.SignedIn, err = b.db.SignedIn(ctx); err != nil {
		return err
	}
	users, err := b.db.Users(ctx)
	for _, u := range users {
		if f.Since.IsZero() || u.AddedAt.Before(f.Since) {
			f.Since = u.AddedAt
		}
		if u.Role != identity.Admin || !u.RevokedAt.IsZero() {
			continue
		}
		f.Admins++
		if u.Password {
			f.Passwords++
		}
	}
	return err
}

// times reads the last times of the audit trail.
func (b *before) times(ctx context.Context, f *installation.Facts) error {
	var later time.Time // of the row that was read before, which follows
	return b.db.AuditTrail(ctx, record.AuditFilter{Answers: true, Limit: lastActs}, func(e record.AuditEntry) error {
		if e.At.After(f.LastEvent) {
			f.LastEvent = e.At
		}
		if !later.IsZero() {
			f.Backwards = max(f.Backwards, e.At.Sub(later))
		}
		later = e.At
		return nil
	})
}
