package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"tiebreak/envs"
	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// serveFlags are the flags of serve and demo.
type serveFlags struct {
	flags              *flag.FlagSet // that declare has declared
	config             string
	own                own
	data, addr, origin string
	proxies            string
	cert, key          string
	acme               acmeFlags
	recordings         foldersFlag
	network            bool // the data may be on a network disk
	away               workplaceFlags
	rest               time.Duration
	backups            store.Schedule
	notify             string
	quiet              time.Duration
	log                string
	metrics            string
	anywhere           bool // metrics, too
	verbose            bool
}

const (
	defaultAddr = "127.0.0.1:8080"
	defaultData = "tiebreak-data"
	defaultRest = 10 * time.Minute

	defaultQuiet = 24 * time.Hour
)

func (f *serveFlags) declare(fs *flag.FlagSet) {
	f.flags = fs
	fs.StringVar(&f.config, configFlag, os.Getenv("TIEBREAK_CONFIG"), "`file` in YAML with flags by their names, such as addr: "+defaultAddr+"; the command line and the\nenvironment count before it ('tiebreak config check')")
	fs.StringVar(&f.data, "data", envOr("TIEBREAK_DATA", defaultData), "data `folder` for everything that the server records; it is made if it does not exist")
	fs.StringVar(&f.addr, "addr", envOr("TIEBREAK_ADDR", defaultAddr), "`host:port` to listen on")
	fs.StringVar(&f.origin, "origin", os.Getenv("TIEBREAK_ORIGIN"),
		"public `address` of the site if it is not the one it listens on, such as https://study.example.org")
	fs.StringVar(&f.proxies, "proxy", os.Getenv("TIEBREAK_PROXY"),
		"`addresses` of reverse proxies, with commas between them, whose header X-Forwarded-For the server trusts;\n"+
			"empty: those on this machine if --origin is given. Behind a proxy that is not listed, all people share the request limits of one address")
	fs.Var(&f.recordings, "recordings", "`folder` with data sets of LeRobot that researchers may import on a page and by the API; the flag may be repeated, or folders\nhave commas between them. Requests read no other folder; none by default (docs/lerobot.md)")
	fs.BoolVar(&f.network, "network-disk", false, "let the data folder be on a disk of another machine (NFS, SMB), on which SQLite may lose answers")
	fs.StringVar(&f.cert, "tls-cert", "", "`file` in PEM with a certificate, and those of its issuers, for HTTPS without a proxy; it is read again when it is renewed.\n--origin is the address that it is for")
	fs.StringVar(&f.key, "tls-key", "", "`file` in PEM with the key of --tls-cert")
	f.acme.declare(fs)
	ownFlags(fs, &f.own)
	f.away.declare(fs)
	fs.DurationVar(&f.rest, "rest-after", defaultRest,
		"`time` after which a session that nobody uses leaves the memory; it is loaded again when it is next used. Questions and answers\n"+
			"do not change by that. 0: never")
	fs.DurationVar(&f.backups.Every, "backup-every", 0, "`time` between two backups that the server makes by itself, such as 24h; 0: none (docs/backups.md)")
	fs.IntVar(&f.backups.Keep, "backup-keep", 7, "`number` of these backups that stay; older ones are removed")
	fs.StringVar(&f.backups.Dir, "backup-dir", "", "`folder` for these backups, of this study alone; empty: backups in the data folder")
	fs.StringVar(&f.notify, notifyFlag, "", "`address` of a web hook, such as one of Slack or Mattermost, to which the server posts when a session may stop, nobody answers\nany more, people seem to confuse the answers, or a training fails. It is told titles of sessions, and no names. The log says the same")
	fs.DurationVar(&f.quiet, "quiet-after", defaultQuiet, "`time` without an answer after which the server says that nobody answers any more; 0: never")
	fs.StringVar(&f.metrics, "metrics", os.Getenv("TIEBREAK_METRICS"), "`host:port`, such as 127.0.0.1:9090, at which programs on this machine read metrics for Prometheus and profiles; empty: none")
	fs.BoolVar(&f.anywhere, "metrics-anywhere", false, "allow an address for --metrics that other machines can reach; it has no password")
	fs.StringVar(&f.log, "log", envOr("TIEBREAK_LOG", "text"), "`format` of the log on standard error: text or json")
	fs.BoolVar(&f.verbose, "v", false, "log every request, not only sign-ins, refusals and faults; tokens, names and addresses are never logged")
}

func envOr(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}

func serveCommand() command {
	return shared.With(command{
		Name: "serve", Endless: true, Summary: "run the server", Usage: "[flags]",
		About: "Runs the server on a data folder until it is told to stop (Ctrl-C). Until a researcher has signed in\n" +
			"it prints a sign-in link, which works once, within an hour; 'tiebreak user link' prints more.\n" +
			"GET /healthz answers ok while it runs; GET /readyz answers 503 with the reason while answers cannot be\n" +
			"recorded, the disk is nearly full or the database is damaged (docs/serving.md). For people on other machines,\n" +
			"put a proxy with HTTPS in front of it, or give a certificate (--tls-cert, --tls-key), and the address that they open\n" +
			"as --origin, or let it get certificates (--acme-domain); docs/serving.md has examples and the limits of requests.\n" +
			"Flags override variables of the environment, such as TIEBREAK_BACKUP_EVERY for --backup-every, and these a file (--config;\n" +
			"'tiebreak config' checks and prints it). docs/operating.md has the metrics, a dashboard and alerts.",
		Example: "tiebreak serve --data study --addr 127.0.0.1:8080",
	}, (*serveFlags).declare, func(ctx context.Context, io stdio, f *serveFlags) error { return serve(ctx, io, f, false) })
}

// serve runs the server until ctx is done. A demo takes another port if its own is in use, and
// makes the demo session.
func serve(ctx context.Context, io stdio, f *serveFlags, demo bool) (err error) {
	if _, err := configure(f.flags, f.config); err != nil {
		return err
	}
	ln, err := listen(ctx, f.addr, demo, io)
	if err != nil {
		return err
	}
	defer ln.Close() // without effect after the server has closed it
	if err := checkDisk(store.NetworkDisk(f.data), f.data, f.network); err != nil {
		return err
	}
	at, err := f.site(ln.Addr())
	if err != nil {
		return err
	}
	sight, err := listenForMetrics(ctx, f.metrics, f.anywhere)
	if err != nil {
		return err
	}
	if sight != nil {
		defer sight.Close() // without effect after it was served
	}
	log, err := newLogger(io.Err, f.log, f.verbose)
	if err != nil {
		return err
	}
	ln, certs, err := f.encrypted(ctx, ln, at.base, log)
	if err != nil {
		return err
	}
	defer certs.close()
	list, err := f.catalogue(io)
	if err != nil {
		return err
	}
	worker, err := workerCommandLine(f.own.at(f.data))
	if err != nil {
		return err
	}
	at.optOuts = f.optOuts(at, list.logged(log)())
	a, err := openApp(ctx, f.data, list.logged(log), at, log, worker...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	stop := a.serveSight(sight, f.anywhere)
	defer func() { err = errors.Join(err, stop()) }()
	a.certs = certs
	warn(io.Err, at, f.data)
	if err := announce(ctx, io, a, at.base, f.data, demo); err != nil {
		return err
	}
	freeMemory()
	return a.listen(ctx, ln)
}

// site returns what the flags say of the site of a server that listens on bound.
func (f *serveFlags) site(bound net.Addr) (at site, err error) {
	if err := f.checkTLS(); err != nil {
		return at, err
	}
	if at, err = siteOf(f.addr, bound, f.acme.origin(f.origin)); err != nil {
		return at, err
	}
	at.origins = f.acme.origins(at.origins)
	if at.proxies, err = checkProxies(f.proxies, f.behind()); err != nil {
		return at, err
	}
	if at.recordings, err = recordings.NewFolders(f.recordings); err != nil {
		return at, err
	}
	at.cert = f.cert
	if at.away, at.rest = f.away, f.rest; at.rest < 0 {
		return at, idrl.Errorf(idrl.Invalid, "--rest-after must not be negative; 0 keeps all sessions in memory")
	}
	if at.notify, at.quiet = f.notify, f.quiet; at.quiet < 0 {
		return at, idrl.Errorf(idrl.Invalid, "--quiet-after must not be negative; 0 says nothing")
	}
	if err := checkHook(f.notify); err != nil {
		return at, err
	}
	at.backups, err = checkSchedule(f.backups)
	return at, err
}

// catalogue opens the available environments, and says which of a user's own are not, or run without a wall.
func (f *serveFlags) catalogue(io stdio) (*catalogue, error) {
	list, err := openCatalogue(f.own.at(f.data))
	if err != nil {
		return nil, err
	}
	now, err := list.now()
	if err != nil {
		return nil, err
	}
	warnUncaged(io, now)
	for _, e := range now {
		if e.Unavailable != nil && !slices.ContainsFunc(envs.Catalogue(), func(known envs.Entry) bool { return known.ID == e.ID }) {
			fmt.Fprintf(io.Err, "Not available: environment %q %v\n", e.ID, e.Unavailable)
		}
	}
	return list, nil
}

// checkDisk returns an error if a data folder is on a kind of network disk, empty for none, unless that is allowed.
func checkDisk(kind, data string, allowed bool) error {
	if kind == "" || allowed {
		return nil
	}
	return idrl.Errorf(idrl.Invalid, "the data folder %s is on a network disk (%s), on which SQLite may lose answers: name a folder on a disk of this machine with --data,\n"+
		"and keep backups on the network disk (--backup-every 24h --backup-dir DIR); --network-disk uses it nevertheless", data, kind)
}

// checkSchedule checks the flags for scheduled backups.
func checkSchedule(s store.Schedule) (store.Schedule, error) {
	switch {
	case s.Every == 0 && s.Dir != "":
		return s, fmt.Errorf("%w: --backup-dir is without effect: say how often with --backup-every, such as 24h", errUsage)
	case s.Every != 0 && s.Every < time.Minute:
		return s, fmt.Errorf("%w: --backup-every must be a minute or more, such as 24h; got %v", errUsage, s.Every)
	case s.Keep < 1:
		return s, fmt.Errorf("%w: --backup-keep must be at least 1; got %d", errUsage, s.Keep)
	}
	return s, nil
}

// freeMemory returns memory from the start to the system. With a new data folder this is mostly 12 MB
// of buffers, in which goose read the migrations: a sync.Pool keeps them until the second
// collection, and with them the heap grows to twice as much before the next one.
func freeMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}

// listen opens the port. If it is in use and another may be taken, it says so and lets the system
// choose one.
func listen(ctx context.Context, addr string, another bool, io stdio) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if !errors.Is(err, syscall.EADDRINUSE) {
		if err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "cannot listen on %s: %v; give another --addr, such as %s", addr, err, defaultAddr)
		}
		return ln, nil
	}
	if !another {
		return nil, idrl.Errorf(idrl.Conflict, "%s is in use by another program; give another --addr", addr)
	}
	host, _, _ := net.SplitHostPort(addr)
	if ln, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(io.Out, "%s is in use by another program; using %s instead.\n", addr, ln.Addr())
	return ln, nil
}

// announce prints the address of the server and the sign-in link.
func announce(ctx context.Context, io stdio, a *app, base, data string, demo bool) error {
	if err := errors.Join(a.db.SetMeta(ctx, addressKey, base), a.before.record(ctx)); err != nil {
		return fmt.Errorf("record the address: %w", err)
	}
	entry, err := a.researcherEntry(ctx, base, data)
	if err != nil {
		return fmt.Errorf("make a sign-in link: %w", err)
	}
	fmt.Fprintf(io.Out, "Tiebreak is running at %s (data in %s)\n\n", base, data)
	fmt.Fprintf(io.Out, "  Researcher:  %s\n", entry)
	if demo {
		join, err := a.openDemo(ctx)
		if err != nil {
			return fmt.Errorf("open the demo session: %w", err)
		}
		fmt.Fprintf(io.Out, "  Annotator:   %s/join/%s\n", base, join)
	}
	if workers := a.away.address(); workers != "" {
		fmt.Fprintf(io.Out, "  Workers:     %s  (credentials: %s)\n", workers, commandLine("worker-key", "NAME", "--data", data))
	}
	fmt.Fprint(io.Out, "\nPress Ctrl-C to stop. Nothing is lost; the next run continues from here.\n")
	return nil
}

// researcherEntry returns how a researcher signs in: by a link, until one has signed in; later only
// by asking for one, so that starts leave no unused links.
func (a *app) researcherEntry(ctx context.Context, base, data string) (string, error) {
	in, err := a.db.SignedIn(ctx)
	if err != nil {
		return "", err
	}
	if in {
		return fmt.Sprintf("%s/sessions, in the browser that was signed in; for a new sign-in link run\n               %s", base, signInCommand(data)), nil
	}
	token, err := a.auth.NewResearcherLink(ctx, theResearcher)
	return fmt.Sprintf("%s/signin?token=%s  (works once, within an hour)", base, token), err
}

// signInCommand returns the command line that prints a sign-in link.
func signInCommand(data string) string { return commandLine("user", "link", "--data", data) }

// Limits of a server that stops: for all that is running, and for requests before they are
// cancelled. A session that waits for a training serves no request until the training ends.
const (
	stopWait    = 10 * time.Second
	requestWait = 5 * time.Second
)

// listen serves until ctx is done, then shuts down gracefully.
func (a *app) listen(ctx context.Context, ln net.Listener) error {
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	srv := &http.Server{ // no WriteTimeout: exports and streams may take long, and web limits the time of each part of a reply
		BaseContext: func(net.Listener) context.Context { return requests },
		Handler:     a.web, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	following, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { a.follow(following) })
	wg.Go(func() { a.keepWorkers(following) })
	wg.Go(func() { a.certs.run(following) })
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	defer time.AfterFunc(requestWait, end).Stop()
	err := errors.Join(a.web.Drain(last), srv.Shutdown(last))
	if closed := <-failed; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

// openShared opens the data folder, which a server may be using.
func openShared(ctx context.Context, dir string) (*store.DB, error) {
	db, err := store.Open(ctx, dir)
	if idrl.KindOf(err) == idrl.Conflict {
		return store.OpenBeside(ctx, dir)
	}
	return db, err
}
