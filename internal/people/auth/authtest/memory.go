package authtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Memory is a Store in memory. It may be used by several goroutines.
type Memory struct {
	mu         sync.Mutex // guards all below
	sessions   []idrl.SessionID
	users      map[string]identity.Role
	links      []*link
	logins     map[string]identity.Login // by hash
	keys       map[string]identity.RejoinKey
	annotators []annotator
}

type link struct {
	hash string
	identity.Invitation
}

type annotator struct {
	session idrl.SessionID
	identity.Annotator
}

var _ Store = (*Memory)(nil)

// NewMemory returns a store that is empty but for sessions.
func NewMemory(sessions ...idrl.SessionID) *Memory {
	return &Memory{
		sessions: sessions, users: map[string]identity.Role{}, logins: map[string]identity.Login{}, keys: map[string]identity.RejoinKey{},
	}
}

// AddUser implements auth.Links.
func (m *Memory) AddUser(_ context.Context, user string, role identity.Role, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.users) == 0 {
		role = identity.Admin
	}
	if m.users[user] == "" {
		m.users[user] = role
	}
	return nil
}

// Invite implements auth.Links.
func (m *Memory) Invite(_ context.Context, hash []byte, i identity.Invitation) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.User != "" && m.users[i.User] == "" || i.Session != "" && !slices.Contains(m.sessions, i.Session) {
		return 0, idrl.Errorf(idrl.NotFound, "there is no user %q or no session %q", i.User, i.Session)
	}
	for _, l := range m.links {
		if i.User != "" && l.User == i.User && l.Live(i.CreatedAt) {
			l.RevokedAt = i.CreatedAt
		}
	}
	i.ID, i.UsesLeft = int64(len(m.links)+1), i.Uses
	m.links = append(m.links, &link{string(hash), i})
	return i.ID, nil
}

// live returns the link with a hash if it is valid now.
func (m *Memory) live(hash []byte, now time.Time) (*link, error) {
	i := slices.IndexFunc(m.links, func(l *link) bool { return l.hash == string(hash) })
	if i < 0 || !m.links[i].Live(now) {
		return nil, idrl.Errorf(idrl.NotFound, "the invitation is not valid")
	}
	return m.links[i], nil
}

// Invitation implements auth.Links.
func (m *Memory) Invitation(_ context.Context, hash []byte, now time.Time) (string, idrl.SessionID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, err := m.live(hash, now)
	if err != nil {
		return "", "", err
	}
	return l.User, l.Session, nil
}

// InvitationSession implements auth.Links.
func (m *Memory) InvitationSession(_ context.Context, hash []byte) (idrl.SessionID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.links {
		if l.hash == string(hash) && l.Session != "" {
			return l.Session, nil
		}
	}
	return "", idrl.Errorf(idrl.NotFound, "there is no such invitation")
}

// RevokeInvitation implements Store.
func (m *Memory) RevokeInvitation(_ context.Context, session idrl.SessionID, id int64, _ string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.links {
		if l.ID == id && l.Session == session {
			if l.RevokedAt.IsZero() {
				l.RevokedAt = now
			}
			return nil
		}
	}
	return idrl.Errorf(idrl.NotFound, "session %s has no link %d", session, id)
}

// SignIn implements auth.Logins.
func (m *Memory) SignIn(_ context.Context, hash, login []byte, name string, limit identity.LoginLimit, now time.Time) (identity.Login, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, err := m.live(hash, now)
	if err != nil {
		return identity.Login{}, err
	}
	l.UsesLeft--
	in := identity.Login{User: l.User, Role: m.users[l.User], Session: l.Session, Since: now, SeenAt: now}
	if l.Session != "" {
		in.Annotator = idrl.AnnotatorID(fmt.Sprintf("a%d", m.joined(l.Session)+1))
		m.annotators = append(m.annotators, annotator{l.Session, identity.Annotator{ID: in.Annotator, Name: name, JoinedAt: now, Invitation: l.ID}})
	}
	m.addLogin(login, in, limit)
	return in, nil
}

// addLogin records a login, and ends others of its holder as limit says. None here is narrow.
func (m *Memory) addLogin(hash []byte, in identity.Login, limit identity.LoginLimit) {
	maps.DeleteFunc(m.logins, func(_ string, l identity.Login) bool {
		return l.User == in.User && l.Session == in.Session && l.Annotator == in.Annotator && limit.Expired(l, in.Since)
	})
	m.logins[string(hash)] = in
}

// joined returns how many annotators joined a session.
func (m *Memory) joined(session idrl.SessionID) (n int) {
	for _, a := range m.annotators {
		if a.session == session {
			n++
		}
	}
	return n
}

// part returns an annotator, nil if there is none.
func (m *Memory) part(session idrl.SessionID, who idrl.AnnotatorID) *annotator {
	i := slices.IndexFunc(m.annotators, func(a annotator) bool { return a.session == session && a.ID == who })
	if i < 0 {
		return nil
	}
	return &m.annotators[i]
}

// Login implements auth.Logins.
func (m *Memory) Login(_ context.Context, hash []byte) (identity.Login, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.logins[string(hash)]
	if !ok {
		return l, idrl.Errorf(idrl.NotFound, "there is no such login")
	}
	a := m.part(l.Session, l.Annotator)
	l.Revoked = a != nil && !a.RevokedAt.IsZero()
	return l, nil
}

// Seen implements auth.Logins.
func (m *Memory) Seen(_ context.Context, hash []byte, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, ok := m.logins[string(hash)]; ok && now.After(l.SeenAt) {
		l.SeenAt = now
		m.logins[string(hash)] = l
	}
	return nil
}

// SignOut implements auth.Logins.
func (m *Memory) SignOut(_ context.Context, hash []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.logins, string(hash))
	return nil
}

// RevokeAnnotator implements Store.
func (m *Memory) RevokeAnnotator(_ context.Context, session idrl.SessionID, who idrl.AnnotatorID, leaveOut bool, _ string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.part(session, who)
	if a == nil {
		return idrl.Errorf(idrl.NotFound, "session %s has no annotator %q", session, who)
	}
	if a.LeftOut = leaveOut; a.RevokedAt.IsZero() {
		a.RevokedAt = now
	}
	return nil
}

// AnnotatorNames implements Store.
func (m *Memory) AnnotatorNames(_ context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[idrl.AnnotatorID]string{}
	for _, a := range m.annotators {
		if a.session == session {
			out[a.ID] = a.Name
		}
	}
	return out, nil
}

// AddRejoinKey implements auth.Keys.
func (m *Memory) AddRejoinKey(_ context.Context, hash []byte, k identity.RejoinKey, most int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.part(k.Session, k.Annotator) == nil {
		return idrl.Errorf(idrl.NotFound, "there is no annotator %q in session %q", k.Annotator, k.Session)
	}
	var others []string
	for h, o := range m.keys {
		if o.Session == k.Session && o.Annotator == k.Annotator {
			others = append(others, h)
		}
	}
	slices.SortFunc(others, func(a, b string) int { // used last first; of equals by hash
		return cmp.Or(m.keys[b].UsedAt.Compare(m.keys[a].UsedAt), cmp.Compare(a, b))
	})
	for _, h := range others[min(len(others), most-1):] {
		delete(m.keys, h)
	}
	m.keys[string(hash)] = k
	return nil
}

// key returns a key of an annotator whose part has not ended.
func (m *Memory) key(hash []byte) (identity.RejoinKey, error) {
	k, ok := m.keys[string(hash)]
	if a := m.part(k.Session, k.Annotator); !ok || !a.RevokedAt.IsZero() {
		return identity.RejoinKey{}, idrl.Errorf(idrl.NotFound, "there is no such key")
	}
	return k, nil
}

// RejoinKey implements auth.Keys.
func (m *Memory) RejoinKey(_ context.Context, hash []byte) (identity.RejoinKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.key(hash)
}

// UseRejoinKey implements auth.Keys.
func (m *Memory) UseRejoinKey(_ context.Context, hash []byte, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use(hash, now)
	return nil
}

func (m *Memory) use(hash []byte, now time.Time) {
	if k, ok := m.keys[string(hash)]; ok && now.After(k.UsedAt) {
		k.UsedAt = now
		m.keys[string(hash)] = k
	}
}

// Rejoin implements auth.Keys.
func (m *Memory) Rejoin(_ context.Context, key, login []byte, limit identity.LoginLimit, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, err := m.key(key)
	if err != nil {
		return err
	}
	m.use(key, now)
	m.addLogin(login, identity.Login{Session: k.Session, Annotator: k.Annotator, Since: now, SeenAt: now}, limit)
	return nil
}
