package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// serveFlags are the flags of serve and demo.
type serveFlags struct {
	data, addr, origin, models string
	verbose                    bool
}

const (
	defaultAddr = "127.0.0.1:8080"
	defaultData = "tiebreak-data"
)

func (f *serveFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.data, "data", envOr("TIEBREAK_DATA", defaultData), "`folder` that holds everything; it is made if need be")
	fs.StringVar(&f.addr, "addr", envOr("TIEBREAK_ADDR", defaultAddr), "`host:port` to listen on")
	fs.StringVar(&f.origin, "origin", os.Getenv("TIEBREAK_ORIGIN"),
		"public `address` of the site if it is not the one it listens on, such as https://study.example.org")
	modelsFlag(fs, &f.models)
	fs.BoolVar(&f.verbose, "v", false, "log every request")
}

func envOr(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}

func serveCommand() command {
	return command{
		name: "serve", summary: "run the server", usage: "[flags]",
		about: "Runs the server on a data folder until it is told to stop (Ctrl-C). It prints a sign-in link for\n" +
			"the researcher, which works once. GET /healthz answers ok while it is alive. Flags come before the\n" +
			"variables TIEBREAK_DATA, TIEBREAK_ADDR, TIEBREAK_ORIGIN and TIEBREAK_MODELS of the environment.",
		example: "tiebreak serve --data study --addr 127.0.0.1:8080",
		flags:   func(fs *flag.FlagSet) { new(serveFlags).declare(fs) },
		run: func(ctx context.Context, io stdio, args []string) error {
			var f serveFlags
			fs := flag.NewFlagSet("serve", flag.ContinueOnError)
			f.declare(fs)
			if err := parse(fs, args); err != nil {
				return err
			}
			return serve(ctx, io, f, false)
		},
	}
}

// serve runs the server until ctx is done. A demo takes another port if its own
// is taken, and has a session to show.
func serve(ctx context.Context, io stdio, f serveFlags, demo bool) (err error) {
	ln, err := listen(ctx, f.addr, demo, io)
	if err != nil {
		return err
	}
	defer ln.Close() // of no effect after the server has closed it
	base := "http://" + ln.Addr().String()
	origins, err := checkOrigin(f.origin)
	if err != nil {
		return err
	}
	if len(origins) > 0 {
		base = origins[0]
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(io.err, &slog.HandlerOptions{Level: level}))
	list, err := environments(f.models)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Unavailable != nil && strings.HasPrefix(e.ID, "own-") {
			fmt.Fprintf(io.err, "Left out: environment %q %v\n", e.ID, e.Unavailable)
		}
	}
	worker, err := workerCommandLine(f.models)
	if err != nil {
		return err
	}
	a, err := openApp(ctx, f.data, list, origins, log, worker...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := announce(ctx, io, a, base, f.data, demo); err != nil {
		return err
	}
	return a.listen(ctx, ln)
}

// listen opens the port. If it is taken and another may be used, it says so and
// lets the system choose one.
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
	fmt.Fprintf(io.out, "%s is in use by another program; using %s instead.\n", addr, ln.Addr())
	return ln, nil
}

func checkOrigin(origin string) ([]string, error) {
	if origin == "" {
		return nil, nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return nil, idrl.Errorf(idrl.Invalid, "--origin %q is not the address of a site; it looks like https://study.example.org", origin)
	}
	return []string{u.Scheme + "://" + u.Host}, nil
}

// announce prints where the server is and how to get in.
func announce(ctx context.Context, io stdio, a *app, base, data string, demo bool) error {
	token, err := a.auth.NewResearcherLink(ctx, "researcher")
	if err != nil {
		return fmt.Errorf("make a sign-in link: %w", err)
	}
	fmt.Fprintf(io.out, "Tiebreak is running at %s (data in %s)\n\n", base, data)
	fmt.Fprintf(io.out, "  Researcher, works once:  %s/signin?token=%s\n", base, token)
	if demo {
		join, err := a.openDemo(ctx)
		if err != nil {
			return fmt.Errorf("open the demo session: %w", err)
		}
		fmt.Fprintf(io.out, "  Annotator:               %s/join/%s\n", base, join)
	}
	fmt.Fprint(io.out, "\nPress Ctrl-C to stop. Nothing is lost; the next run goes on from here.\n")
	return nil
}

// listen serves until ctx is done, then lets everybody go in peace.
func (a *app) listen(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: a.web, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := errors.Join(a.web.Drain(last), srv.Shutdown(last))
	if closed := <-failed; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

// openStore opens a data folder for a command that changes it.
func openStore(ctx context.Context, dir string) (*store.DB, error) {
	db, err := store.Open(ctx, dir)
	if idrl.KindOf(err) == idrl.Conflict {
		return nil, fmt.Errorf("%w; while it runs, use its pages instead", err)
	}
	return db, err
}
