package bynats

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// Config configures a carrier.
type Config struct {
	// URLs are the addresses of NATS servers, with commas between them: nats://host:port or tls://host:port.
	// Required, but with Options that connect within the process.
	URLs string

	// Credentials is a file with the seed of an nkey, or one of the form .creds, of at most 64 KiB; empty: none.
	Credentials string

	// Name is the worker's, which elsewhere.Valid accepts. Empty for a server.
	Name string

	// Replicas is how many NATS servers keep each message: 1 (default), 3 or 5. Workers ignore it.
	Replicas int

	// MessageBytes and BlobBytes bound what NATS keeps on disk of messages (default 256 MiB) and of blobs (default 2 GiB;
	// at least 128 MiB). What is oldest goes first. Workers ignore both.
	MessageBytes, BlobBytes int64

	Options []nats.Option // further ones, as those of an embedded server
	Log     *slog.Logger  // default: none
}

const (
	dialFor        = 5 * time.Second // for one address
	requestFor     = 5 * time.Second // one request to JetStream
	reconnectWait  = time.Second / 2 // between attempts
	pingEach       = 5 * time.Second // a connection that does not answer two pings is given up
	maxCredentials = 64 << 10        // bytes
	minBlobBytes   = 2 * elsewhere.MaxBlob
)

// Open connects to NATS. A server makes the streams; for a worker there must be some already. It takes at most
// five seconds for each address that does not answer. Kinds of error: Invalid if cfg is wrong, or NATS has no JetStream;
// Forbidden if NATS refuses the credentials; Unavailable if NATS or its streams cannot be had now.
//
// A connection that breaks is made again, as often as needed. Methods return errors of kind Unavailable meanwhile.
func Open(ctx context.Context, cfg Config) (*Carrier, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Carrier{cfg: cfg, id: rand.Text(), log: cfg.Log}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background()) // until Close
	c.epoch, c.nextEpoch = context.WithCancel(c.ctx)
	for k := range c.turns {
		c.turns[k] = make(chan struct{}, 1)
	}
	if err := c.connect(ctx); err != nil {
		c.cancel()
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (cfg *Config) check() error {
	cfg.Replicas = cmp.Or(cfg.Replicas, 1)
	cfg.MessageBytes, cfg.BlobBytes = cmp.Or(cfg.MessageBytes, 256<<20), cmp.Or(cfg.BlobBytes, 2<<30)
	switch {
	case cfg.Name != "" && !elsewhere.Valid(cfg.Name):
		return idrl.Errorf(idrl.Invalid, "%.100q cannot be the name of a worker: use up to 64 letters, digits, - and _", cfg.Name)
	case cfg.Replicas != 1 && cfg.Replicas != 3 && cfg.Replicas != 5:
		return idrl.Errorf(idrl.Invalid, "%d replicas: NATS keeps messages on 1, 3 or 5 servers", cfg.Replicas)
	case cfg.MessageBytes < 1<<20 || cfg.BlobBytes < minBlobBytes:
		return idrl.Errorf(idrl.Invalid, "NATS needs at least 1 MiB for messages and %d MiB for blobs", minBlobBytes>>20)
	case cfg.URLs == "" && len(cfg.Options) == 0:
		return idrl.Errorf(idrl.Invalid, "the address of NATS is missing, such as nats://host:4222")
	}
	for address := range strings.SplitSeq(cfg.URLs, ",") {
		if cfg.URLs == "" {
			break
		}
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" {
			return idrl.Errorf(idrl.Invalid, "an address of NATS is none: it must be like nats://host:4222 or tls://host:4222")
		}
	}
	return nil
}

// where returns the addresses of NATS for messages, without what is secret.
func (cfg *Config) where() string {
	var shown []string
	for address := range strings.SplitSeq(cfg.URLs, ",") {
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil && u.Host != "" {
			shown = append(shown, u.Scheme+"://"+u.Host)
		}
	}
	if len(shown) == 0 {
		return "this process"
	}
	return strings.Join(shown, ", ")
}

// credentials returns the option that the file of credentials asks for.
func (cfg *Config) credentials() (nats.Option, error) {
	f, err := os.Open(cfg.Credentials)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the credentials of NATS cannot be read: %v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCredentials+1))
	if err != nil || len(text) > maxCredentials {
		return nil, idrl.Errorf(idrl.Invalid, "%s is no file of credentials of NATS: it is too large, or cannot be read", cfg.Credentials)
	}
	if strings.Contains(string(text), "BEGIN NATS USER JWT") {
		return nats.UserCredentials(cfg.Credentials), nil
	}
	option, err := nats.NkeyOptionFromSeed(cfg.Credentials)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "%s has neither the seed of an nkey of a user nor credentials of NATS", cfg.Credentials)
	}
	return option, nil
}

// connect dials NATS.
func (c *Carrier) connect(ctx context.Context) error {
	patience := dialFor
	if end, ok := ctx.Deadline(); ok {
		patience = max(min(patience, time.Until(end)), time.Millisecond)
	}
	options := []nats.Option{
		nats.Name("tiebreak " + cmp.Or(c.cfg.Name, "server")), nats.Timeout(patience),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(reconnectWait), nats.ReconnectBufSize(-1),
		nats.PingInterval(pingEach), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(c.disconnected), nats.ReconnectHandler(c.reconnected), nats.ErrorHandler(c.asynchronous),
	}
	if c.cfg.Name != "" {
		options = append(options, nats.CustomInboxPrefix("_INBOX."+c.cfg.Name))
	}
	if c.cfg.Credentials != "" {
		option, err := c.cfg.credentials()
		if err != nil {
			return err
		}
		options = append(options, option)
	}
	nc, err := nats.Connect(c.cfg.URLs, append(options, c.cfg.Options...)...)
	switch {
	case refused(err):
		return idrl.Errorf(idrl.Forbidden, "NATS at %s refuses the credentials (%v): use the file that 'tiebreak worker-key' has "+
			"written for this worker, and see that the server has its key and has not revoked it", c.cfg.where(), err)
	case err != nil:
		return idrl.Errorf(idrl.Unavailable, "NATS at %s cannot be reached (%v): see that it runs, that the address is right, "+
			"and that no firewall is between", c.cfg.where(), err)
	}
	c.nc = nc
	return nil
}

// refused reports whether NATS has refused the credentials.
func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired)
}

// begin makes the streams, or finds them.
func (c *Carrier) begin(ctx context.Context) error {
	js, err := jetstream.New(c.nc, jetstream.WithDefaultTimeout(requestFor))
	if err != nil {
		return fmt.Errorf("use JetStream: %w", err)
	}
	c.js = js
	if most := c.nc.MaxPayload(); most < maxPayload {
		return idrl.Errorf(idrl.Invalid, "NATS at %s takes messages of %d bytes: set max_payload to 1MB in its configuration", c.cfg.where(), most)
	}
	if c.cfg.Name == "" {
		if err := c.makeStreams(ctx); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	if c.blobs, err = js.Stream(limited, blobStream); errors.Is(err, jetstream.ErrStreamNotFound) {
		return idrl.Errorf(idrl.Unavailable, "NATS at %s has no streams of Tiebreak yet: start 'tiebreak serve' with it first", c.cfg.where())
	}
	return c.explain(ctx, "find the streams", err)
}

// disconnected is called when the connection has ended.
func (c *Carrier) disconnected(_ *nats.Conn, err error) {
	if err != nil {
		c.log.Warn("NATS is away; trying again", "address", c.cfg.where(), "err", err)
	}
}

// reconnected is called when there is a connection again: receivers ask for what they have missed.
func (c *Carrier) reconnected(*nats.Conn) {
	c.log.Info("NATS is back", "address", c.cfg.where())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextEpoch()
	c.epoch, c.nextEpoch = context.WithCancel(c.ctx)
}

// asynchronous is called for errors that belong to no call.
func (c *Carrier) asynchronous(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrSlowConsumer) { // a receiver asks again, and a watcher may leave out
		c.log.Debug("a reader of NATS is slow", "err", err)
		return
	}
	if errors.Is(err, nats.ErrPermissionViolation) {
		c.denied.Store(&err)
	}
	c.log.Warn("NATS reports an error", "err", err)
}

// explain returns an error that says what to do; nil if err is.
func (c *Carrier) explain(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	var denied *error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) {
		denied = c.denied.Swap(nil)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.Is(err, nats.ErrConnectionClosed):
		return idrl.Errorf(idrl.Unavailable, "the connection to NATS is closed")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		c.blobs == nil && errors.Is(err, nats.ErrNoResponders): // at the start
		return idrl.Errorf(idrl.Invalid, "NATS at %s has no JetStream: add 'jetstream {}' to its configuration, and enable it for the account", c.cfg.where())
	case refused(c.nc.LastError()) && !c.nc.IsConnected():
		return idrl.Errorf(idrl.Forbidden, "NATS at %s no longer accepts the credentials: the key may have been revoked", c.cfg.where())
	case !c.nc.IsConnected():
		return idrl.Errorf(idrl.Unavailable, "NATS at %s is away, so that it cannot %s: the connection is tried again twice a second", c.cfg.where(), what)
	case denied != nil:
		return idrl.Errorf(idrl.Forbidden, "NATS at %s does not permit to %s (%v): compare its permissions with 'tiebreak worker-key --permissions'",
			c.cfg.where(), what, *denied)
	}
	return idrl.Errorf(idrl.Unavailable, "NATS at %s cannot %s now: %v", c.cfg.where(), what, err)
}
