package installation

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// example stands for the address of a site.
const example = "https://study.example.org"

// certificateDays is how early the end of a certificate is told: programs that renew one, such as certbot and Caddy, do so
// 30 days before its end, so that two weeks later something has failed.
const certificateDays = 14

// address checks at which address people find the server.
func (f Facts) address() Finding {
	out := Finding{Name: "address", State: Missing, Do: "Start the server with the address that people will open.", Command: f.serve("--origin", example)}
	switch {
	case f.Setup == nil:
		out.Says = "No server has run on this data folder, so its address is not known."
	case local(f.Setup.Base):
		out.Says = "Links begin with " + f.Setup.Base + ", which people on other machines cannot open."
	case f.Reach.Fault != "":
		out.Says, out.Do, out.Command = "The server cannot be reached at "+f.Reach.URL+": "+f.Reach.Fault+".", "Start the server, and check the name, the proxy and the firewall. Then try again.", f.check(f.Reach.URL)
	case f.Reach.URL != "" && !local(f.Reach.URL) && f.Reach.URL != f.Setup.Base && !slices.Contains(f.Setup.Origins, f.Reach.URL):
		out.Says = "The server was started for " + f.Setup.Base + ", and refuses pages and sockets of " + f.Reach.URL + "."
		out.Command = f.serve("--origin", f.Reach.URL)
	case f.Links != "" && f.Links != f.Setup.Base:
		out.State, out.Says, out.Do = LookAt, "Links that commands print begin with "+f.Links+", but the configuration says "+f.Setup.Base+".", "Start the server with this configuration, and make links that were handed over again."
		out.Command = ""
	case f.Reach.URL == "" || local(f.Reach.URL):
		out.State, out.Says = LookAt, "Links begin with "+f.Setup.Base+"; whether people can open it was not tried from here."
		out.Do, out.Command = "Open that address in a browser on another machine, or try it by command.", f.check(f.Setup.Base)
	default:
		return Finding{Name: "address", State: OK, Says: "Links begin with " + f.Setup.Base + ", and the server answers there."}
	}
	return out
}

// tls checks whether what people send is encrypted, and for how long.
func (f Facts) tls() Finding {
	out := Finding{Name: "HTTPS", State: Missing, Do: "Put a proxy with HTTPS in front of the server (docs/serving.md), or give it a certificate.", Command: f.serve("--origin", example, "--tls-cert", "cert.pem", "--tls-key", "key.pem")}
	if f.Setup == nil || !strings.HasPrefix(f.Setup.Base, "https://") {
		out.Says = "Nothing encrypts what people send: sign-in links, cookies and answers could be read and changed on the way."
		return out
	}
	expires := f.Reach.Expires
	if f.Setup.Cert != "" {
		expires = f.CertExpires
		if f.CertFault != "" {
			out.Says, out.Do = "The certificate "+f.Setup.Cert+" does not serve: "+f.CertFault+".", "Have it made again for the name that people open; the server reads it without a restart."
			out.Command = ""
			return out
		}
	}
	left := expires.Sub(f.Now)
	switch {
	case expires.IsZero() && f.Reach.Fault == "" && strings.HasPrefix(f.Reach.URL, "https://"):
		return Finding{Name: out.Name, State: OK, Says: "This browser has accepted the certificate; how long it is valid is known to the proxy.", Do: "To see that, too:", Command: f.check(f.Setup.Base)}
	case expires.IsZero():
		return Finding{Name: out.Name, State: LookAt, Says: "The address begins with https://; the certificate was not seen from here.", Do: "Try it by command.", Command: f.check(f.Setup.Base)}
	case left <= 0:
		out.Says, out.Do, out.Command = "The certificate ended "+expires.UTC().Format("2 Jan 2006")+": browsers refuse the site.", "Have it renewed.", ""
	case left < certificateDays*24*time.Hour:
		out.State, out.Says, out.Do, out.Command = LookAt, "The certificate is valid for "+days(left)+" more, and was not renewed yet.", "Check what renews it, such as certbot or the proxy.", ""
	default:
		return Finding{Name: out.Name, State: OK, Says: "The certificate is valid for the name, and for " + days(left) + " more."}
	}
	return out
}

// local reports whether an address is one of this machine alone.
func local(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
