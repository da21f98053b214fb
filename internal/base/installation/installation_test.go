package installation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/installation"
)

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// good are the facts of a server at which nothing is missing.
func good() installation.Facts {
	return installation.Facts{
		Now: now, Line: func(args ...string) string { return "tiebreak " + strings.Join(args, " ") }, Data: "study",
		Setup: &installation.Setup{
			Base: "https://study.example.org", Origins: []string{"https://study.example.org"},
			Every: 24 * time.Hour, Dir: "/mnt/backups", Files: 65536, Sockets: 20000,
		},
		Reach: installation.Reach{URL: "https://study.example.org", Expires: now.Add(60 * 24 * time.Hour)},
		Links: "https://study.example.org", Backup: now.Add(-5 * time.Hour), BackupFile: "/mnt/backups/auto.tar", BackupRead: true,
		Size: 50 << 20, Free: 100 << 30, FreeKnown: true, Since: now.Add(-10 * 24 * time.Hour), LastEvent: now.Add(-time.Minute),
		ClockKnown: true, ClockKept: true, ClockWithin: 20 * time.Millisecond, Admins: 1, Passwords: 1, SignedIn: true,
	}
}

func find(t *testing.T, list []installation.Finding, name string) installation.Finding {
	t.Helper()
	i := slices.IndexFunc(list, func(f installation.Finding) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no finding %q in %+v", name, list)
	}
	return list[i]
}

func TestNothingIsMissing(t *testing.T) {
	for _, f := range good().Findings() {
		if f.State != installation.OK || !strings.HasSuffix(f.Says, ".") {
			t.Errorf("%+v", f)
		}
	}
}

// Each fact that can be wrong changes one finding alone, which says what to do.
func TestFindings(t *testing.T) {
	const day = 24 * time.Hour
	type facts = installation.Facts
	for _, test := range []struct {
		name, finding string
		change        func(*facts)
		state         installation.State
		says, do      string // parts of the sentence, and of what to do with its command
	}{
		{"this machine alone", "address", func(f *facts) { f.Setup.Base, f.Links = "http://127.0.0.1:8080", "http://127.0.0.1:8080" }, installation.Missing, "people on other machines cannot open", "tiebreak serve --data study --origin https://"},
		{"not reached", "address", func(f *facts) { f.Reach.Fault = "connection refused" }, installation.Missing, "cannot be reached at https://study.example.org: connection refused", "tiebreak check --data study --url https://study.example.org"},
		{"another address", "address", func(f *facts) { f.Reach.URL = "https://other.example.org" }, installation.Missing, "refuses pages and sockets of https://other.example.org", "--origin https://other.example.org"},
		{"without HTTPS", "address", func(f *facts) { f.Reach.URL = "http://study.example.org" }, installation.Missing, "refuses pages", "--origin"},
		{"links of another address", "address", func(f *facts) { f.Links = "http://lab:8080" }, installation.LookAt, "begin with http://lab:8080", "make links that were handed over again"},
		{"not tried", "address", func(f *facts) { f.Reach = installation.Reach{URL: "http://127.0.0.1:8080", Expires: now.Add(60 * day)} }, installation.LookAt, "not tried", "tiebreak check"},
		{"unencrypted", "HTTPS", func(f *facts) {
			f.Setup.Base, f.Links, f.Reach.URL = "http://lab:8080", "http://lab:8080", "http://lab:8080"
		}, installation.Missing, "Nothing encrypts", "--tls-cert"},
		{"a certificate of another name", "HTTPS", func(f *facts) { f.Setup.Cert, f.CertFault = "cert.pem", "it is for other.example.org" }, installation.Missing, "cert.pem does not serve: it is for other", "made again"},
		{"the certificate ended", "HTTPS", func(f *facts) { f.Reach.Expires = now.Add(-day) }, installation.Missing, "ended 26 Nov 2026", "renewed"},
		{"the certificate ends", "HTTPS", func(f *facts) { f.Setup.Cert, f.CertExpires = "cert.pem", now.Add(14*day-time.Second) }, installation.LookAt, "13 days more", "certbot"},
		{"the certificate is kept", "HTTPS", func(f *facts) { f.Setup.Cert, f.CertExpires = "cert.pem", now.Add(14*day) }, installation.OK, "14 days more", ""},
		{"seen by a browser", "HTTPS", func(f *facts) { f.Reach.Expires = time.Time{} }, installation.OK, "This browser", "tiebreak check"},
		{"no backups", "backups", func(f *facts) { f.Setup.Every = 0 }, installation.Missing, "No backups", "tiebreak serve --data study --origin https://study.example.org --backup-every 24h --backup-dir"},
		{"no backup yet", "backups", func(f *facts) { f.Backup = time.Time{} }, installation.Missing, "there is none in /mnt/backups yet", "log"},
		{"old backup", "backups", func(f *facts) { f.Backup = now.Add(-48*time.Hour - time.Second) }, installation.Missing, "2 days old", "log"},
		{"backup in time", "backups", func(f *facts) { f.Backup = now.Add(-48 * time.Hour) }, installation.OK, "2 days old", ""},
		{"broken backup", "backups", func(f *facts) { f.BackupFault = "tiebreak.db has another checksum" }, installation.Missing, "cannot be restored: tiebreak.db", "tiebreak backup"},
		{"backup that was not read", "backups", func(f *facts) { f.BackupRead = false }, installation.OK, "5 hours old", "tiebreak restore --verify /mnt/backups/auto.tar"},
		{"backups on the same disk", "disk of backups", func(f *facts) { f.SameDisk = true }, installation.LookAt, "same file system", "--backup-dir"},
		{"full disk", "disk space", func(f *facts) { f.Size, f.Free = 1<<20, 64<<20-1 }, installation.Missing, "63 MiB are free", "Free space"},
		{"no room for a backup", "disk space", func(f *facts) { f.Free = 149 << 20 }, installation.LookAt, "149 MiB are free, and the database has 50 MiB", "two copies"},
		{"disk that fills up", "disk space", func(f *facts) { f.Size, f.Free = 10<<30, 30<<30-1 }, installation.LookAt, "29 GiB are free", "two copies"},
		{"disk that fills up within a month", "disk space", func(f *facts) { f.Since, f.Size, f.Free = now.Add(-2*day), 1<<30, 10<<30 }, installation.LookAt, "10 GiB", "in 2 days, the disk is full in 20 days"},
		{"disk of which nothing is known", "disk space", func(f *facts) { f.FreeKnown = false }, installation.LookAt, "does not say", ""},
		{"folder that others read", "data folder", func(f *facts) { f.Exposed = []string{"study"} }, installation.Missing, "can read study", "chmod go-rwx study"},
		{"network disk", "kind of disk", func(f *facts) { f.NetworkDisk = "NFS" }, installation.Missing, "(NFS)", "serve --data"},
		{"clock behind", "clock", func(f *facts) { f.LastEvent = now.Add(3 * time.Hour) }, installation.Missing, "3 hours before the last recorded act", "timedatectl"},
		{"clock that was set back", "clock", func(f *facts) { f.Backwards = 5 * time.Minute }, installation.LookAt, "set back by 5 minutes", "timedatectl"},
		{"clock that nothing keeps", "clock", func(f *facts) { f.ClockKept = false }, installation.LookAt, "no program keeps", "timedatectl"},
		{"clock of which nothing is known", "clock", func(f *facts) { f.ClockKnown = false }, installation.OK, "not before", ""},
		{"nobody signed in", "accounts", func(f *facts) { f.SignedIn = false }, installation.Missing, "Nobody", "tiebreak user link --data study"},
		{"no admin", "accounts", func(f *facts) { f.Admins, f.Passwords = 0, 0 }, installation.Missing, "Nobody", "tiebreak user link"},
		{"no password", "accounts", func(f *facts) { f.Passwords = 0 }, installation.Missing, "No admin has a password", "Your account"},
		{"few files", "open files", func(f *facts) { f.Setup.Files = 1024 }, installation.LookAt, "1024 files, which are enough for about 512 pages at a time; it takes up to 20000", "ulimit -n 65536"},
		{"as many files as sockets", "open files", func(f *facts) { f.Setup.Files = 20511 }, installation.LookAt, "19999 pages", "ulimit"},
		{"opt-out", "opt-out --x", func(f *facts) {
			f.Setup.OptOuts = []installation.OptOut{{Flag: "--x", Opens: "It opens x.", Instead: "Leave it."}}
		}, installation.LookAt, "It opens x.", "Leave it."},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := good()
			test.change(&f)
			got := find(t, f.Findings(), test.finding)
			if got.State != test.state || !strings.Contains(got.Says, test.says) || !strings.Contains(got.Do+" "+got.Command, test.do) || test.do == "" && got.Do != "" {
				t.Errorf("%+v; want %s, %q, %q", got, test.state, test.says, test.do)
			}
			for _, other := range f.Findings() {
				if other.Name != test.finding && other.State != installation.OK && test.finding != "HTTPS" && other.Name != "HTTPS" {
					t.Errorf("it also changes %+v", other)
				}
			}
		})
	}
}

// Before the first start much is not known, and the findings say so.
func TestNothingIsKnown(t *testing.T) {
	list := installation.Facts{Now: now, Line: good().Line, Data: "study"}.Findings()
	for name, want := range map[string]string{"address": "No server has run", "backups": "No backups", "open files": "when it has run"} {
		if got := find(t, list, name); got.State == installation.OK || !strings.Contains(got.Says, want) {
			t.Errorf("%+v", got)
		}
	}
	if n := installation.Count(list, installation.Missing); n != 4 {
		t.Errorf("%d are missing: %+v", n, list)
	}
}
