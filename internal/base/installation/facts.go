package installation

import (
	"fmt"
	"time"
)

// A Setup is the configuration of a server at its start. The server records it for the command check.
type Setup struct {
	Base    string        `json:"base"`    // begins the links that it shows: "https://study.example.org"
	Origins []string      `json:"origins"` // from which pages are served, besides loopback addresses
	Cert    string        `json:"cert"`    // file with its certificate; empty if it has none of its own
	Every   time.Duration `json:"every"`   // between scheduled backups; 0: there are none
	Dir     string        `json:"dir"`     // folder of these backups
	OptOuts []OptOut      `json:"optOuts"` // in use
	Files   uint64        `json:"files"`   // that it may have open; 0 if that is not known
	Sockets int           `json:"sockets"` // that it takes at most
}

// A Reach is an attempt to open the site at its address.
type Reach struct {
	URL     string    // origin that was tried: "https://study.example.org"; empty if none was
	Fault   string    // why that failed; empty if it did not
	Expires time.Time // end of the certificate that was shown; zero if that is not known
}

// Facts are what is known of a server when it is judged. A zero value is a fact, too, unless a comment says that it means not known.
type Facts struct {
	Now  time.Time
	Line func(args ...string) string // command line of this program
	Data string                      // folder

	Setup *Setup // nil if no server has run on the folder, and there is no configuration
	Reach Reach
	Links string // address with which commands begin links; empty before the first start

	CertFault   string    // why Setup.Cert does not serve for Setup.Base; empty if it does
	CertExpires time.Time // zero if that is not known

	Backup      time.Time // last scheduled one; zero if there is none
	BackupFile  string
	BackupFault string // why it cannot be restored; empty if it can, or was not read
	BackupRead  bool   // it was read whole, and compared with its checksums
	SameDisk    bool   // backups are on the file system of the data folder
	Size        int64  // bytes of the database
	Free        uint64 // bytes
	FreeKnown   bool
	Since       time.Time // since when the folder is used; zero if it never was
	Exposed     []string  // what other users of the machine can open
	NetworkDisk string    // kind of network disk of the data folder; empty if it is none that is known

	LastEvent   time.Time     // newest time in the audit trail; zero if it is empty
	Backwards   time.Duration // longest step back between rows of the audit trail that follow one another
	ClockKnown  bool          // whether the system says if its clock is kept right
	ClockKept   bool
	ClockWithin time.Duration // largest error, if it is kept

	Admins    int // accounts of admins that are not revoked
	Passwords int // of these, those with a password
	SignedIn  bool
}

// Findings judges f, in the order in which to read them.
func (f Facts) Findings() []Finding {
	out := []Finding{f.address(), f.tls(), f.backups()}
	if f.Setup != nil && f.Setup.Every > 0 {
		out = append(out, f.backupDisk())
	}
	out = append(out, f.disk(), f.folder(), f.networkDisk(), f.clock(), f.accounts(), f.files())
	out = append(out, f.optOuts()...)
	return append(out, Finding{Name: "mail", State: OK, Says: "Tiebreak sends no mail: you hand links over yourself, so nothing has to be set up."})
}

// serve returns the command line that starts the server with more flags.
func (f Facts) serve(flags ...string) string {
	args := []string{"serve", "--data", f.Data}
	if len(flags) == 0 || flags[0] != "--origin" {
		if f.Setup != nil && len(f.Setup.Origins) > 0 {
			args = append(args, "--origin", f.Setup.Base)
		}
	}
	return f.Line(append(args, flags...)...)
}

// check returns the command line that tries an address, too.
func (f Facts) check(url string) string { return f.Line("check", "--data", f.Data, "--url", url) }

// days writes a time as whole days.
func days(d time.Duration) string {
	n := int(d / (24 * time.Hour))
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// span writes a time in the largest unit that fits.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return days(d)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	}
	return fmt.Sprintf("%d seconds", int(d.Seconds()))
}

// size writes bytes.
func size(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
