package driver

import "math"

// Divisors of the features, chosen by the authors so that the features of
// usual drives are of one size, and the steps of an episode.
const (
	laneScale  = 0.15343634 * horizon
	speedScale = 0.42202643 * horizon
	frontScale = 0.06112367 * horizon
	closeScale = 0.15258019 * horizon
)

// Sharpness of the Gaussian bumps, in 1/length².
const (
	laneSharp   = 30
	closeSharpX = 7
	closeSharpY = 3
)

// features returns φ of a step that leads to agent and other.
func features(agent, other car) [dim]float64 {
	off := laneOffset(agent.x)
	dx, dy := agent.x-other.x, agent.y-other.y
	slow := agent.speed - 1
	return [dim]float64{
		math.Exp(-laneSharp*off*off) / laneScale,
		slow * slow / speedScale,
		math.Sin(agent.angleRad) / frontScale,
		math.Exp(-(closeSharpX*dx*dx + closeSharpY*dy*dy)) / closeScale,
		1,
	}
}

// laneOffset returns the signed distance of x to the nearest centre of a lane.
func laneOffset(x float64) float64 {
	switch {
	case x > laneWidth/2:
		return x - laneWidth
	case x < -laneWidth/2:
		return x + laneWidth
	default:
		return x
	}
}

// Return returns θ·Σφ over an episode with held actions and, if grad is not
// nil, its gradient by the adjoint of the dynamics. Between two lanes, where
// the return has a kink, it is a one-sided gradient. Actions may lie outside
// their bounds. It panics if a length is wrong.
func (e *Env) Return(grad, actions, theta []float64) float64 {
	if len(actions) != 2*horizon/hold || len(theta) != dim || (grad != nil && len(grad) != len(actions)) {
		panic("driver: slices have the wrong length")
	}
	var path [horizon + 1]car
	path[0] = agentStart
	sum := 0.0
	for t := range horizon {
		k := 2 * (t / hold)
		path[t+1] = path[t].step(actions[k], actions[k+1])
		for i, f := range features(path[t+1], e.other[t+1]) {
			sum += theta[i] * f
		}
	}
	if grad != nil {
		e.adjoint(grad, &path, actions, theta)
	}
	return sum
}

// adjoint stores the gradient of the return along path in grad. lam is the
// derivative of the remaining return with respect to the state after step t.
func (e *Env) adjoint(grad []float64, path *[horizon + 1]car, actions, theta []float64) {
	clear(grad)
	var lam car
	for t := horizon - 1; t >= 0; t-- {
		k := 2 * (t / hold)
		c := path[t]
		addFeatureGradient(&lam, path[t+1], e.other[t+1], theta)
		if math.Abs(rawSpeed(c.speed, actions[k+1])) > 1 {
			lam.speed = 0 // the clip is flat
		}
		grad[k] += lam.angleRad * c.speed * stepSec
		grad[k+1] += lam.speed * stepSec
		sin, cos := math.Sincos(c.angleRad)
		lam = car{
			x:        lam.x,
			y:        lam.y,
			angleRad: lam.angleRad + (lam.y*cos-lam.x*sin)*c.speed*stepSec,
			speed: lam.speed*(1-friction*stepSec) +
				(lam.x*cos+lam.y*sin+lam.angleRad*actions[k])*stepSec,
		}
	}
}

// addFeatureGradient adds to lam the derivative of θ·φ with respect to the
// state of the agent.
func addFeatureGradient(lam *car, agent, other car, theta []float64) {
	phi := features(agent, other)
	near := theta[3] * phi[3]
	lam.x -= 2*laneSharp*laneOffset(agent.x)*theta[0]*phi[0] + 2*closeSharpX*(agent.x-other.x)*near
	lam.y -= 2 * closeSharpY * (agent.y - other.y) * near
	lam.angleRad += theta[2] * math.Cos(agent.angleRad) / frontScale
	lam.speed += 2 * theta[1] * (agent.speed - 1) / speedScale
}
