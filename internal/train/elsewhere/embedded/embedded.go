package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere/bynats"
)

// Config configures a server of NATS.
type Config struct {
	Listen          string       // host:port for workers on other machines, port 0 for any; empty: none listens
	Dir             string       // folder for what JetStream keeps; required
	Workers         []Worker     // who may connect
	MaxBytes        int64        // on disk; default 4 GiB, at least 256 MiB
	TLSCert, TLSKey string       // files in PEM; empty: no TLS
	Log             *slog.Logger // default: none
}

const (
	readyWithin   = 30 * time.Second
	maxMemory     = 64 << 20 // of consumers, in bytes
	maxConnected  = 1024
	leastMaxBytes = 256 << 20
)

// A Server is a running server of NATS.
type Server struct {
	maxBytes int64
	key      nkeys.KeyPair // of this process's own connections
	nats     *server.Server

	mu      sync.Mutex      // guards options
	options *server.Options // the last ones
}

// Start starts a server. Kinds of error: Invalid if cfg is wrong; Unavailable if the address is taken, or
// the folder cannot be used.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make the key of the server: %w", err)
	}
	s := &Server{key: key, maxBytes: cmp.Or(cfg.MaxBytes, 4<<30)}
	if s.options, err = s.optionsOf(cfg); err != nil {
		return nil, err
	}
	if s.nats, err = server.NewServer(s.options.Clone()); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the server of NATS for workers does not start: %v", err)
	}
	log := &logger{log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))}
	s.nats.SetLoggerV2(log, false, false, false)
	go s.nats.Start()
	for end := time.Now().Add(readyWithin); !s.nats.ReadyForConnections(100 * time.Millisecond); {
		if why := log.fatal.Load(); why != nil || ctx.Err() != nil || time.Now().After(end) {
			s.Close()
			return nil, errors.Join(ctx.Err(), notReady(cfg, why))
		}
	}
	if !s.nats.JetStreamEnabled() {
		why := log.failed.Load()
		s.Close()
		return nil, notReady(cfg, why)
	}
	if a, ok := s.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && cfg.TLSCert == "" {
		log.log.Warn("workers connect without TLS: others on the network could read and change their messages", "address", cfg.Listen)
	}
	return s, nil
}

func notReady(cfg Config, why *string) error {
	if why == nil {
		return idrl.Errorf(idrl.Unavailable, "the server of NATS for workers does not start in time")
	}
	return idrl.Errorf(idrl.Unavailable, "the server of NATS for workers does not start at %s with the folder %s: %s",
		cmp.Or(cfg.Listen, "no address"), cfg.Dir, *why)
}

// optionsOf returns what cfg means to the server of NATS.
func (s *Server) optionsOf(cfg Config) (*server.Options, error) {
	if cfg.Dir == "" {
		return nil, idrl.Errorf(idrl.Invalid, "the folder for messages to workers is missing")
	}
	if s.maxBytes < leastMaxBytes {
		return nil, idrl.Errorf(idrl.Invalid, "messages to workers need at least %d MiB on disk", leastMaxBytes>>20)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, idrl.Errorf(idrl.Unavailable, "the folder for messages to workers cannot be made: %v", err)
	}
	own, err := s.key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("read the key of the server: %w", err)
	}
	users, err := usersOf(own, cfg.Workers)
	if err != nil {
		return nil, err
	}
	o := &server.Options{
		ServerName: "tiebreak", Nkeys: users, NoSigs: true, MaxConn: maxConnected,
		JetStream: true, StoreDir: cfg.Dir, JetStreamMaxStore: s.maxBytes, JetStreamMaxMemory: maxMemory,
		DontListen: cfg.Listen == "",
	}
	if cfg.Listen == "" {
		return o, nil
	}
	return o, listen(o, cfg)
}

// listen sets where the server listens.
func listen(o *server.Options, cfg Config) error {
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err == nil {
		o.Host = host
		o.Port, err = strconv.Atoi(port)
	}
	if err != nil || o.Port < 0 || o.Port > 65535 {
		return idrl.Errorf(idrl.Invalid, "%q is no address for workers to connect to: give host:port", cfg.Listen)
	}
	o.Host = cmp.Or(o.Host, "0.0.0.0")
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if (cfg.TLSCert == "") != (cfg.TLSKey == "") {
		return idrl.Errorf(idrl.Invalid, "TLS for workers needs both the file of a certificate and that of its key")
	}
	if cfg.TLSCert == "" {
		return nil
	}
	o.TLS, o.TLSTimeout = true, 5
	if o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: cfg.TLSCert, KeyFile: cfg.TLSKey}); err != nil {
		return idrl.Errorf(idrl.Invalid, "TLS for workers cannot be used: %v", err)
	}
	return nil
}

// usersOf returns the users of the server: this process, which may do all, and the workers.
func usersOf(own string, workers []Worker) ([]*server.NkeyUser, error) {
	users := []*server.NkeyUser{{Nkey: own, Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: &server.SubjectPermission{Allow: []string{">"}},
	}}}
	if err := checkWorkers(workers); err != nil {
		return nil, err
	}
	for _, w := range workers {
		publish, subscribe := bynats.Permissions(w.Name)
		users = append(users, &server.NkeyUser{Nkey: w.PublicKey, Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: publish}, Subscribe: &server.SubjectPermission{Allow: subscribe},
		}})
	}
	return users, nil
}

// Carrier returns the configuration of a carrier of this process.
func (s *Server) Carrier() (bynats.Config, error) {
	own, err := s.key.PublicKey()
	if err != nil {
		return bynats.Config{}, fmt.Errorf("read the key of the server: %w", err)
	}
	return bynats.Config{
		MessageBytes: s.maxBytes / 8, BlobBytes: s.maxBytes / 4 * 3,
		Options: []nats.Option{nats.InProcessServer(s.nats), nats.Nkey(own, s.key.Sign)},
	}, nil
}

// Addr returns the address that the server listens at, nil if it does not.
func (s *Server) Addr() net.Addr {
	return s.nats.Addr()
}

// Reload lets these workers connect, and no others: it ends the connections of others.
func (s *Server) Reload(workers []Worker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, err := s.key.PublicKey()
	if err != nil {
		return fmt.Errorf("read the key of the server: %w", err)
	}
	users, err := usersOf(own, workers)
	if err != nil {
		return err
	}
	next := s.options.Clone()
	next.Nkeys = users
	if err := s.nats.ReloadOptions(next.Clone()); err != nil {
		return fmt.Errorf("change who may connect to NATS: %w", err)
	}
	s.options = next
	return nil
}

// Close stops the server, and waits until it has.
func (s *Server) Close() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	s.key.Wipe()
}
