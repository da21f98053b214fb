package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
)

// certify writes a certificate for 127.0.0.1 and its key to files, and returns those who trust it.
func certify(t *testing.T, cert, key string, serial int64) *x509.CertPool {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	made := must.Get(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(t)
	raw := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	for path, content := range map[string][]byte{cert: text, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})} {
		must.Do(t, os.WriteFile(path, content, 0o600))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// visitTLS opens a page with a new connection and returns the reply and the serial number of the certificate.
func visitTLS(t *testing.T, trust *x509.CertPool, address string) (reply string, serial int64, err error) {
	t.Helper()
	browser := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}}}
	res, err := browser.Get(address)
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return fmt.Sprint(res.StatusCode, " ", res.Header.Get("Strict-Transport-Security"), " ", string(body)), res.TLS.PeerCertificates[0].SerialNumber.Int64(), err
}

// TestHTTPS: a server with a certificate is reached over HTTPS alone, and takes a renewed certificate without a restart; a damaged one leaves the old one in use.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	dir, addr := t.TempDir(), freeAddr(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	trust := certify(t, cert, key, 1)
	p := startServer(t, "serve", "--data", filepath.Join(dir, "data"), "--addr", addr, "--origin", "https://"+addr, "--tls-cert", cert, "--tls-key", key)
	if !strings.Contains(p.out.String(), "running at https://"+addr) {
		t.Errorf("it says\n%s", p.out)
	}
	reply, serial, err := visitTLS(t, trust, "https://"+addr+"/healthz")
	if err != nil || serial != 1 || !strings.HasPrefix(reply, "200 max-age=") {
		t.Errorf("reply %q, certificate %d, error %v", reply, serial, err)
	}
	if res, err := http.Get("http://" + addr + "/healthz"); err == nil {
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			t.Error("it answers without encryption")
		}
	}
	must.Do(t, os.WriteFile(cert, []byte("half of a certif"), 0o600))
	for end := time.Now().Add(waittest.Limit); !strings.Contains(p.out.String(), "the certificate was not renewed"); {
		if _, serial, err := visitTLS(t, trust, "https://"+addr+"/healthz"); err != nil || serial != 1 || time.Now().After(end) {
			t.Fatalf("with a damaged file: certificate %d, error %v\n%s", serial, err, p.out)
		}
	}
	trust = certify(t, cert, key, 2)
	for end := time.Now().Add(waittest.Limit); ; {
		_, serial, err := visitTLS(t, trust, "https://"+addr+"/healthz")
		if err == nil && serial == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after the renewal: certificate %d, error %v", serial, err)
		}
	}
}

// TestHTTPSFlags: what cannot be is said before anything is made.
func TestHTTPSFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := filepath.Join(dir, "none.pem")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--tls-cert", none}, "belong together"},
		{[]string{"--tls-cert", none, "--tls-key", none}, "--origin"},
		{[]string{"--tls-cert", none, "--tls-key", none, "--origin", "http://study.example.org"}, "--origin"},
		{[]string{"--tls-cert", none, "--tls-key", none, "--origin", "https://study.example.org"}, "cannot be read"},
	} {
		args := append([]string{"serve", "--data", filepath.Join(dir, "data"), "--addr", freeAddr(t)}, test.args...)
		if status, _, said := cli(t, args...); status == 0 || !strings.Contains(said, test.want) {
			t.Errorf("%v: status %d, %s; want %q", test.args, status, said, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		t.Error("the data folder was made")
	}
}

// TestHTTPSProxies: a server that serves HTTPS itself believes a proxy only if it is named.
func TestHTTPSProxies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, cert, key, 1)
	for _, test := range []struct {
		cert, key, proxies string
		want               string
	}{
		{"", "", "", "[127.0.0.0/8 ::1/128]"},
		{cert, key, "", "[]"},
		{cert, key, "10.0.0.7", "[10.0.0.7/32]"},
	} {
		f := &serveFlags{addr: ":443", origin: "https://study.example.org", cert: test.cert, key: test.key, proxies: test.proxies}
		f.backups.Keep = 1
		at, err := f.site(&net.TCPAddr{IP: net.IPv6zero, Port: 443})
		if got := fmt.Sprint(at.proxies); err != nil || got != test.want {
			t.Errorf("certificate %q, --proxy %q: %s, %v; want %s", test.cert, test.proxies, got, err, test.want)
		}
	}
}
