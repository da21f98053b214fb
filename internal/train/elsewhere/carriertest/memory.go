package carriertest

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// Faults say what goes wrong. Nil fields do nothing.
type Faults struct {
	Lose   func(subject string, data []byte) bool // a message is lost, though Tell or Send return nil
	Forget func(name elsewhere.Hash) bool         // a blob is lost
	Cut    func() bool                            // all methods return errors
}

// A Network is what the carriers of one test have in common.
type Network struct {
	mu     sync.Mutex
	faults Faults
	ears   []*ear
	blobs  map[elsewhere.Hash][]byte
	bytes  int // that messages and blobs had
}

// Fail sets what goes wrong from now on.
func (n *Network) Fail(f Faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = f
}

// Bytes returns how many bytes messages and blobs have had.
func (n *Network) Bytes() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

// Dial returns a carrier of n.
func (n *Network) Dial() elsewhere.Carrier { return &memory{network: n, closed: make(chan struct{})} }

// An ear is a channel with all that waits for it.
type ear struct {
	of      *memory
	pattern string
	wake    chan struct{}
	waiting []elsewhere.Message // guarded by the network's mu
}

type memory struct {
	network *Network
	once    sync.Once
	closed  chan struct{}
	readers sync.WaitGroup
}

var errCut = idrl.Errorf(idrl.Unavailable, "the network is cut")

func (n *Network) cut() bool { return n.faults.Cut != nil && n.faults.Cut() }

func (m *memory) Tell(_ context.Context, subject string, data []byte) error {
	if err := elsewhere.CheckSent(subject, data); err != nil {
		return err
	}
	n := m.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut() {
		return errCut
	}
	n.bytes += len(data)
	if n.faults.Lose != nil && n.faults.Lose(subject, data) {
		return nil
	}
	for _, e := range n.ears {
		if elsewhere.Match(e.pattern, subject) {
			e.waiting = append(e.waiting, elsewhere.Message{Subject: subject, Data: slices.Clone(data)})
			select {
			case e.wake <- struct{}{}:
			default:
			}
		}
	}
	return nil
}

func (m *memory) Send(ctx context.Context, subject string, data []byte) error {
	return m.Tell(ctx, subject, data)
}

func (m *memory) Watch(ctx context.Context, pattern string) (<-chan elsewhere.Message, error) {
	n := m.network
	n.mu.Lock()
	defer n.mu.Unlock()
	e, out := &ear{of: m, pattern: pattern, wake: make(chan struct{}, 1)}, make(chan elsewhere.Message)
	n.ears = append(n.ears, e)
	m.readers.Go(func() {
		defer close(out)
		defer n.drop(e)
		for {
			select {
			case <-e.wake:
			case <-ctx.Done():
				return
			case <-m.closed:
				return
			}
			n.mu.Lock()
			all := e.waiting
			e.waiting = nil
			n.mu.Unlock()
			for _, message := range all {
				select {
				case out <- message:
				case <-ctx.Done():
					return
				case <-m.closed:
					return
				}
			}
		}
	})
	return out, nil
}

func (m *memory) Receive(ctx context.Context, pattern string) (<-chan elsewhere.Message, error) {
	return m.Watch(ctx, pattern)
}

func (n *Network) drop(e *ear) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ears = slices.DeleteFunc(n.ears, func(o *ear) bool { return o == e })
}

func (m *memory) Put(_ context.Context, blob []byte) (elsewhere.Hash, error) {
	name := elsewhere.Hash(sha256.Sum256(blob))
	if len(blob) > elsewhere.MaxBlob {
		return name, idrl.Errorf(idrl.Invalid, "a blob has %d bytes", len(blob))
	}
	n := m.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut() {
		return name, errCut
	}
	if n.blobs == nil {
		n.blobs = map[elsewhere.Hash][]byte{}
	}
	if _, is := n.blobs[name]; !is {
		n.blobs[name] = slices.Clone(blob)
		n.bytes += len(blob)
	}
	return name, nil
}

func (m *memory) Get(_ context.Context, name elsewhere.Hash) ([]byte, error) {
	n := m.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut() {
		return nil, errCut
	}
	b, is := n.blobs[name]
	if !is || n.faults.Forget != nil && n.faults.Forget(name) {
		return nil, idrl.Errorf(idrl.NotFound, "there is no blob %x", name[:4])
	}
	return b, nil
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	m.readers.Wait()
	return nil
}
