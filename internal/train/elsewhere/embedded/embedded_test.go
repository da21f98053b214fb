package embedded_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
)

func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	s := must.Get(embedded.Start(t.Context(), cfg))(t)
	t.Cleanup(s.Close)
	return s
}

// worker returns a worker, and the file of its key.
func worker(t *testing.T, name string) (embedded.Worker, string) {
	t.Helper()
	public, seed, err := embedded.NewKey()
	must.Do(t, err)
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, seed, 0o600))
	return embedded.Worker{Name: name, PublicKey: public}, path
}

// open opens the carrier of the process of a server.
func open(t *testing.T, s *embedded.Server) *bynats.Carrier {
	t.Helper()
	cfg := must.Get(s.Carrier())(t)
	c := must.Get(bynats.Open(t.Context(), cfg))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Without an address no port is open, and the process reaches the server anyway. The streams fit into the room that
// there is, with the default and with the least.
func TestWithinTheProcess(t *testing.T) {
	t.Parallel()
	for _, room := range []int64{0, 256 << 20} {
		s := start(t, embedded.Config{Dir: t.TempDir(), MaxBytes: room})
		if a := s.Addr(); a != nil {
			t.Errorf("the server listens at %v", a)
		}
		if err := open(t, s).Send(t.Context(), "to.w1.s.l", nil); err != nil {
			t.Errorf("with %d bytes: %v", room, err)
		}
	}
}

// Nobody is let in without a key, whichever way.
func TestNobodyElse(t *testing.T) {
	t.Parallel()
	w, _ := worker(t, "w1")
	s := start(t, embedded.Config{Listen: "127.0.0.1:0", Dir: t.TempDir(), Workers: []embedded.Worker{w}})
	for name, option := range map[string]nats.Option{
		"nothing":      nats.Name("x"),
		"a password":   nats.UserInfo("w1", "w1"),
		"a token":      nats.Token("w1"),
		"a false key":  nats.Nkey(w.PublicKey, func([]byte) ([]byte, error) { return make([]byte, 64), nil }),
		"no signature": nats.Nkey(w.PublicKey, func([]byte) ([]byte, error) { return nil, nil }),
	} {
		if nc, err := nats.Connect("nats://"+s.Addr().String(), option); err == nil {
			nc.Close()
			t.Errorf("let in with %s", name)
		} else if !strings.Contains(strings.ToLower(err.Error()), "authorization") {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	w, _ := worker(t, "w1")
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = taken.Close() })
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	dir := t.TempDir()
	for name, test := range map[string]struct {
		cfg  embedded.Config
		kind idrl.Kind
	}{
		"no folder":         {embedded.Config{}, idrl.Invalid},
		"a file":            {embedded.Config{Dir: file}, idrl.Unavailable},
		"little room":       {embedded.Config{Dir: dir, MaxBytes: 1 << 20}, idrl.Invalid},
		"no port":           {embedded.Config{Dir: dir, Listen: "127.0.0.1"}, idrl.Invalid},
		"no such port":      {embedded.Config{Dir: dir, Listen: "127.0.0.1:70000"}, idrl.Invalid},
		"a port in use":     {embedded.Config{Dir: filepath.Join(dir, "taken"), Listen: taken.Addr().String()}, idrl.Unavailable},
		"half of TLS":       {embedded.Config{Dir: dir, Listen: "127.0.0.1:0", TLSCert: file}, idrl.Invalid},
		"no certificate":    {embedded.Config{Dir: dir, Listen: "127.0.0.1:0", TLSCert: file, TLSKey: file}, idrl.Invalid},
		"a name of a path":  {embedded.Config{Dir: dir, Workers: []embedded.Worker{{Name: "a/b", PublicKey: w.PublicKey}}}, idrl.Invalid},
		"a name of a wild":  {embedded.Config{Dir: dir, Workers: []embedded.Worker{{Name: "*", PublicKey: w.PublicKey}}}, idrl.Invalid},
		"a key that is not": {embedded.Config{Dir: dir, Workers: []embedded.Worker{{Name: "a", PublicKey: "UABC"}}}, idrl.Invalid},
		"a worker twice":    {embedded.Config{Dir: dir, Workers: []embedded.Worker{w, w}}, idrl.Invalid},
	} {
		s, err := embedded.Start(t.Context(), test.cfg)
		if err == nil {
			s.Close()
		}
		if idrl.KindOf(err) != test.kind {
			t.Errorf("%s: kind %d, want %d: %v", name, idrl.KindOf(err), test.kind, err)
		}
	}
}

// With TLS a worker that does not know the certificate does not connect; one that does is let in, and so is the process.
func TestTLS(t *testing.T) {
	t.Parallel()
	w, seed := worker(t, "w1")
	cert, key := certificate(t)
	s := start(t, embedded.Config{Listen: "127.0.0.1:0", Dir: t.TempDir(), Workers: []embedded.Worker{w}, TLSCert: cert, TLSKey: key})
	server := open(t, s)
	cfg := bynats.Config{URLs: "tls://" + s.Addr().String(), Name: "w1", Credentials: seed}
	if c, err := bynats.Open(t.Context(), cfg); err == nil {
		_ = c.Close()
		t.Error("a certificate that nobody has signed is accepted")
	}
	cfg.Options = []nats.Option{nats.RootCAs(cert)}
	c := must.Get(bynats.Open(t.Context(), cfg))(t)
	t.Cleanup(func() { _ = c.Close() })
	name := must.Get(c.Put(t.Context(), []byte("blob")))(t)
	if got, err := server.Get(t.Context(), name); string(got) != "blob" {
		t.Errorf("%q, %v", got, err)
	}
	plain := must.Get(net.Dial("tcp", s.Addr().String()))(t)
	t.Cleanup(func() { _ = plain.Close() })
	info := make([]byte, 4096)
	n := must.Get(plain.Read(info))(t)
	if !strings.Contains(string(info[:n]), `"tls_required":true`) {
		t.Errorf("the server says %s", info[:n])
	}
}

// certificate returns files with a certificate for 127.0.0.1 that is its own authority, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tiebreak"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, about, about, &secret.PublicKey, secret))(t)
	hidden := must.Get(x509.MarshalECPrivateKey(secret))(t)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	must.Do(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must.Do(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: hidden}), 0o600))
	return cert, key
}

func TestWorkersFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if got, err := embedded.LoadWorkers(folder); len(got) > 0 || err != nil {
		t.Errorf("of an empty folder: %v, %v", got, err)
	}
	a, _ := worker(t, "a")
	b, _ := worker(t, "b")
	must.Do(t, embedded.SaveWorkers(folder, []embedded.Worker{b, a}))
	got := must.Get(embedded.LoadWorkers(folder))(t)
	if diff := cmp.Diff([]embedded.Worker{a, b}, got); diff != "" {
		t.Error(diff)
	}
	info := must.Get(os.Stat(embedded.WorkersFile(folder)))(t)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v", info.Mode())
	}
	if err := embedded.SaveWorkers(folder, []embedded.Worker{a, a}); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a worker twice: %v", err)
	}
	for _, text := range []string{"", "[]", `{"workers": [{"name": "a.b", "public_key": "x"}]}`, strings.Repeat(" ", 2<<20)} {
		must.Do(t, os.WriteFile(embedded.WorkersFile(folder), []byte(text), 0o600))
		if _, err := embedded.LoadWorkers(folder); idrl.KindOf(err) != idrl.Damaged {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}
