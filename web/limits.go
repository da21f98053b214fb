package web

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/web/wire"

	"github.com/labstack/echo/v4"
)

// Limits of requests: of one address without a login, and of one person with one. An address can be
// that of a whole laboratory: a hundred annotators who join in the same minute are well within its
// limits. The limits of a person are far beyond what one can do by hand.
// MaxSockets is how many sockets a server takes in all.
const MaxSockets = 20_000

const (
	openRate, openBurst       = 50, 250    // pages without a login, and refused requests, of an address
	staticRate, staticBurst   = 1000, 5000 // files of the pages, of an address; a page has about 20
	healthRate, healthBurst   = 20, 100    // GET /healthz and /readyz, of an address
	personRate, personBurst   = 100, 250   // requests of a person
	messageRate, messageBurst = 50, 2 * wire.MaxOutbox

	accountGuesses, accountRefill = 10, 1.0 / 60 // wrong passwords of an account
	addressGuesses, addressRefill = 30, 1.0 / 10 // wrong passwords from an address

	helloCost  = 20 // messages; a hello costs the session two turns, and the answers to it
	socketCost = 20 // requests

	annotatorSockets  = 16 // of an annotator at once; a further one ends the oldest
	researcherSockets = 64 // of a researcher at once

	maxKeys = 50_000 // addresses or persons that a limit remembers

	refusalWait = 2 * time.Second        // until a request over a limit is answered
	restWait    = 250 * time.Millisecond // until the next message is read after one over the limit
	maxHeld     = 2000                   // requests that wait for such an answer
)

// limits are the buckets of a server.
type limits struct {
	open, static, health *limiter[netip.Addr]
	requests, messages   *limiter[person]
	accounts             *limiter[string]     // passwords, by name
	guesses              *limiter[netip.Addr] // passwords
	held                 chan struct{}        // one element for each refused request that waits
	wait                 time.Duration        // of these
}

func newLimits() limits {
	return limits{
		open: newLimiter[netip.Addr](openRate, openBurst), static: newLimiter[netip.Addr](staticRate, staticBurst),
		health:   newLimiter[netip.Addr](healthRate, healthBurst),
		accounts: newLimiter[string](accountRefill, accountGuesses), guesses: newLimiter[netip.Addr](addressRefill, addressGuesses),
		requests: newLimiter[person](personRate, personBurst), messages: newLimiter[person](messageRate, messageBurst),
		held: make(chan struct{}, maxHeld), wait: refusalWait,
	}
}

// A person is who a limit is for.
type person struct {
	role    auth.Role
	session idrl.SessionID // of an annotator
	id      string         // name of a researcher, id of an annotator
}

func personOf(a auth.Actor) person {
	if a.Role == auth.Annotator {
		return person{a.Role, a.Session, string(a.Annotator)}
	}
	if a.Role == auth.Program {
		return person{role: a.Role, id: strconv.FormatInt(a.Token, 10)}
	}
	return person{role: a.Role, id: a.User}
}

// A limiter has a bucket for each key.
type limiter[K comparable] struct {
	rate, burst float64
	most        int // keys

	mu      sync.Mutex
	buckets map[K]*bucket // guarded by mu
}

func newLimiter[K comparable](rate, burst float64) *limiter[K] {
	return &limiter[K]{rate: rate, burst: burst, most: maxKeys, buckets: map[K]*bucket{}}
}

// take takes n tokens of key at now and reports whether there were enough.
func (l *limiter[K]) take(key K, n float64, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= l.most {
			l.forget(now)
		}
		fresh := newBucket(l.rate, l.burst)
		b = &fresh
		l.buckets[key] = b
	}
	return b.take(n, now)
}

// forget removes buckets: those that are full, which equal new ones, and if these are few also
// others, so that the next calls need not search again. A client with that many addresses gains one
// burst for each.
func (l *limiter[K]) forget(now time.Time) {
	least := l.most - l.most/8
	for key, b := range l.buckets {
		if b.full(now) {
			delete(l.buckets, key)
		}
	}
	for key := range l.buckets {
		if len(l.buckets) <= least {
			return
		}
		delete(l.buckets, key)
	}
}

// limit lets requests without a login pass as often as their address may ask. Others are charged to
// the person, by admit, or if they are refused to the address, by fail.
func (s *site) limit(e *echo.Echo, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var l *limiter[netip.Addr]
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, "/static/"):
			l = s.limits.static
		case probe(path):
			l = s.limits.health
		case strings.HasSuffix(path, "/rejoin"):
			l = s.limits.open
		case path == "/sessions" || strings.HasPrefix(path, "/sessions/"), path == tokensPath || strings.HasPrefix(path, tokensPath+"/"), path == accountPath, path == usersPath, strings.HasPrefix(path, apiPrefix) && path != openAPIPath:
			next.ServeHTTP(w, r)
			return
		default:
			l = s.limits.open
		}
		requestOf(r).charged = true
		if !l.take(s.address(r), 1, time.Now()) {
			c := e.NewContext(r, w)
			requestOf(r).route = pathOf(e, c) // for the log
			s.fail(c, errTooMany)
			return
		}
		if l == s.limits.open {
			s.heavy.giveWay(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// errTooMany is of a request over a limit.
var errTooMany = idrl.Errorf(idrl.Unavailable,
	"There were too many requests at once, from you or from others at your address. Wait some seconds, then load the page again. "+
		"Nothing that was saved is lost.")

// admit charges a person for a request of that cost. It returns errTooMany if the limit is
// exceeded.
func (s *site) admit(who auth.Actor, cost float64) error {
	if !s.limits.requests.take(personOf(who), cost, time.Now()) {
		return errTooMany
	}
	return nil
}

// chargeRefusal charges the address for a request that was refused, and reports whether the limit is
// exceeded.
func (s *site) chargeRefusal(r *http.Request, status int) bool {
	q := requestOf(r)
	if q.charged || status < 400 || status >= 500 {
		return false
	}
	q.charged = true
	s.heavy.giveWay(r.Context())
	return !s.limits.open.take(s.address(r), 1, time.Now())
}

// welcome takes back the charge of an address for a page with a link and for its form: the link's
// uses already limit how many people join.
func (s *site) welcome(r *http.Request) {
	s.limits.open.take(s.address(r), -2, time.Now())
}

// hold delays the answer to a request over a limit, so that its own connections slow down a client
// that asks again at once. It returns at once if too many requests wait.
func (s *site) hold(r *http.Request) {
	requestOf(r).pass()
	select {
	case s.limits.held <- struct{}{}:
		defer func() { <-s.limits.held }()
	default:
		return
	}
	wait := time.NewTimer(s.limits.wait)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
}

// address returns the address whose limits apply to r: the network of the client, which is one
// address, or 2⁶⁴ of IPv6. Behind a trusted proxy it is the last address in X-Forwarded-For that is
// not such a proxy: a client can invent those before it.
func (s *site) address(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // one that cannot be read, as of a test, is an address of its own
	client := at.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !s.trusted(client) {
			break
		}
		before, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			break
		}
		client = before
	}
	if client.Is6() {
		if network, err := client.WithZone("").Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return client
}

// parseHop reads an address as proxies write it: with or without a port.
func parseHop(text string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(text)
	return a.Unmap(), err == nil
}

// trusted reports whether a is a proxy of the configuration.
func (s *site) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(s.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// retrySeconds writes a wait for the header Retry-After.
func retrySeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
