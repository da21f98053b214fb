package sac

// Update does an update that is due, for tests of what it allocates.
func (a *Agent) Update() error {
	shift, factor := a.rewards.scale()
	return a.learn.update(a.replay, shift, factor, a.updates)
}
