package mujoco

// Shorten sets the horizon of e to n steps.
func (e *Env) Shorten(n int) {
	changed := *e.task
	changed.spec.Horizon = n
	e.task = &changed
}
