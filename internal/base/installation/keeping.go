package installation

import (
	"fmt"
	"strings"
	"time"
)

const (
	// full is where the server stops to be ready for the disk: the same as minFree of package store.
	full = 64 << 20
	// room is for how long the disk should last: a study of a month.
	room = 30 * 24 * time.Hour
	// copies is how many databases must fit beside one: a backup and its scratch copy, while the database grows.
	copies = 3
	// clockSlack is how far a clock may be off: the shortest time that anything is kept by is a minute.
	clockSlack = time.Minute
	// spareFiles is for all but sockets: the database and its readers, files of pages and clips, pipes of worker processes,
	// a backup.
	spareFiles = 512
)

// backups checks the schedule and the last backup.
func (f Facts) backups() Finding {
	out := Finding{Name: "backups", State: Missing}
	age := f.Now.Sub(f.Backup)
	switch {
	case f.Setup == nil || f.Setup.Every == 0:
		out.Says, out.Do = "No backups are made: with the disk all answers would be lost.", "Have the server make one every day, on another disk."
		out.Command = f.serve("--backup-every", "24h", "--backup-dir", "/mnt/backups")
	case f.Backup.IsZero():
		out.Says, out.Do = fmt.Sprintf("Backups are made every %s, but there is none in %s yet.", span(f.Setup.Every), f.Setup.Dir), "The server makes one when it starts. If it runs, its log says why there is none."
	case age > 2*f.Setup.Every:
		out.Says, out.Do = fmt.Sprintf("The last backup is %s old, and one is due every %s.", span(age), span(f.Setup.Every)), "The server makes it while it runs; its log says why it could not."
	case f.BackupFault != "":
		out.Says, out.Do = "The last backup, "+f.BackupFile+", cannot be restored: "+strings.TrimSuffix(f.BackupFault, ".")+".", "Check the disk of the backups, and make another one."
		out.Command = f.Line("backup", "--data", f.Data, "--out", "study.tar")
	case !f.BackupRead:
		out.State, out.Says = OK, fmt.Sprintf("The last backup is %s old; its database was checked when it was made.", span(age))
		out.Do, out.Command = "To compare every file in it with its checksum:", f.Line("restore", "--verify", f.BackupFile)
	default:
		out.State, out.Says = OK, fmt.Sprintf("The last backup is %s old, and every file in it has its checksum.", span(age))
	}
	return out
}

// backupDisk checks that a broken disk leaves backups.
func (f Facts) backupDisk() Finding {
	if f.SameDisk {
		return Finding{
			Name: "disk of backups", State: LookAt, Says: "Backups are on the same file system as the data: if its disk breaks, both are lost.",
			Do: "Keep them on another disk, or copy them to another machine.", Command: f.serve("--backup-every", "24h", "--backup-dir", "/mnt/backups"),
		}
	}
	return Finding{Name: "disk of backups", State: OK, Says: "Backups are on another file system than the data."}
}

// disk compares the free space with what the database has taken so far.
func (f Facts) disk() Finding {
	out := Finding{Name: "disk space", State: OK}
	if !f.FreeKnown {
		out.State, out.Says = LookAt, "This system does not say how much space is free on the disk of the data folder."
		return out
	}
	out.Says = fmt.Sprintf("%s are free, and the database has %s.", size(f.Free), size(uint64(max(f.Size, 0))))
	used := f.Now.Sub(f.Since)
	lasts := room
	if grown := float64(f.Size); !f.Since.IsZero() && used >= 24*time.Hour && grown > 0 {
		if left := float64(f.Free) / (grown / float64(used)); left < float64(room) {
			lasts = time.Duration(left)
		}
	}
	switch {
	case f.Free < full:
		out.State, out.Do = Missing, "Free space: the server refuses answers when the disk is full."
	case f.Free < copies*uint64(max(f.Size, 0)):
		out.State, out.Do = LookAt, "Free space: a backup needs room for two copies of the database."
	case lasts < room:
		out.State, out.Do = LookAt, fmt.Sprintf("Free space: as fast as the database grew in %s, the disk is full in %s.", span(used), span(lasts))
	}
	return out
}

// folder checks who can read the data.
func (f Facts) folder() Finding {
	if len(f.Exposed) == 0 {
		return Finding{Name: "data folder", State: OK, Says: "Other users of the machine cannot read the data folder."}
	}
	return Finding{Name: "data folder", State: Missing, Says: "Other users of the machine can read " + strings.Join(f.Exposed, " and ") + ".", Do: "Take that right away.", Command: "chmod go-rwx " + strings.Join(f.Exposed, " ")}
}

// networkDisk checks where the data folder is.
func (f Facts) networkDisk() Finding {
	if f.NetworkDisk == "" {
		return Finding{Name: "kind of disk", State: OK, Says: "The data folder is on no kind of network disk that is known."}
	}
	return Finding{
		Name: "kind of disk", State: Missing, Says: "The data folder is on a network disk (" + f.NetworkDisk + "), on which SQLite may lose answers.",
		Do: "Stop the server, copy the folder to a disk of this machine, and start it there; keep backups on the network disk.", Command: f.Line("serve", "--data", "/var/lib/tiebreak"),
	}
}

// clock compares the clock with the times that are recorded.
func (f Facts) clock() Finding {
	out := Finding{Name: "clock", State: OK, Says: "The clock is not before the last recorded act."}
	switch ahead := f.LastEvent.Sub(f.Now); {
	case ahead > clockSlack:
		out.State, out.Says = Missing, "The clock is "+span(ahead)+" before the last recorded act: links and logins end at the wrong time."
		out.Do, out.Command = "Set the clock, and have a program keep it right.", "timedatectl set-ntp true"
	case f.Backwards > clockSlack:
		out.State, out.Says, out.Do = LookAt, "The clock was set back by "+span(f.Backwards)+" while acts were recorded.", "Have a program keep it right."
		out.Command = "timedatectl set-ntp true"
	case f.ClockKnown && !f.ClockKept:
		out.State, out.Says, out.Do, out.Command = LookAt, "The system says that no program keeps its clock right.", "Have one do it.", "timedatectl set-ntp true"
	case f.ClockKnown:
		out.Says = fmt.Sprintf("The system says that its clock is kept right, within %d ms, and no recorded act is later.", f.ClockWithin.Milliseconds())
	}
	return out
}

// accounts checks that somebody can sign in without a command line.
func (f Facts) accounts() Finding {
	out := Finding{Name: "accounts", State: Missing}
	switch {
	case f.Admins == 0 || !f.SignedIn:
		out.Says, out.Do, out.Command = "Nobody has signed in as an admin yet.", "Make a sign-in link, open it, and set a password under “Your account”.", f.Line("user", "link", "--data", f.Data)
	case f.Passwords == 0:
		out.Says, out.Do = "No admin has a password: who loses the browser needs a command on the server to sign in again.", "Set one under “Your account”, or with a new sign-in link."
		out.Command = f.Line("user", "link", "--data", f.Data)
	case f.Passwords == 1:
		out.State, out.Says = OK, "An admin has a password."
	default:
		out.State, out.Says = OK, fmt.Sprintf("%d admins have a password.", f.Passwords)
	}
	return out
}

// files compares the files that the server may open with its sockets.
func (f Facts) files() Finding {
	out := Finding{Name: "open files", State: LookAt, Do: "Let it open more files: LimitNOFILE=65536 in its systemd unit, or before it is started:", Command: "ulimit -n 65536"}
	switch {
	case f.Setup == nil || f.Setup.Files == 0:
		out.Says, out.Do, out.Command = "How many files the server may open is known when it has run.", "", ""
	case f.Setup.Files < uint64(f.Setup.Sockets)+spareFiles:
		out.Says = fmt.Sprintf("The server may open %d files, which are enough for about %d pages at a time; it takes up to %d.", f.Setup.Files, max(int64(f.Setup.Files)-spareFiles, 0), f.Setup.Sockets)
	default:
		return Finding{Name: out.Name, State: OK, Says: fmt.Sprintf("The server may open %d files, more than the %d pages that it takes at a time.", f.Setup.Files, f.Setup.Sockets)}
	}
	return out
}

// optOuts lists the opt-outs that are in use.
func (f Facts) optOuts() (out []Finding) {
	if f.Setup == nil || len(f.Setup.OptOuts) == 0 {
		return []Finding{{Name: "opt-outs", State: OK, Says: "No flag that opens something is in use."}}
	}
	for _, o := range f.Setup.OptOuts {
		out = append(out, Finding{Name: "opt-out " + o.Flag, State: LookAt, Says: o.Opens, Do: o.Instead})
	}
	return out
}
