package belief

import (
	"errors"
	"fmt"
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A block is the Gaussian factor exp(ν·u − uᵀTu/2) that stands for the answer to a group of
// n = k + 1 clips, of the differences u = Xθ of the rewards of the later clips from that of
// the first.
type block struct {
	x   *mat.Dense    // X, k×d
	tau *mat.SymDense // T
	nu  []float64     // length k
}

// newBlock returns the factor 1 for clips with these features.
func newBlock(each [][]float64) *block {
	k := len(each) - 1
	b := &block{x: mat.NewDense(k, len(each[0]), nil), tau: mat.NewSymDense(k, nil), nu: make([]float64, k)}
	for i := range k {
		floats.SubTo(b.x.RawRowView(i), each[i+1], each[0])
	}
	return b
}

// fitsGroup returns an error of kind Invalid if q, a group, does not fit g or a does not fit q.
func fitsGroup(g *Gaussian, q idrl.QueryVector, a idrl.Answer) error {
	if len(q.Each) < 2 || len(q.Each) != len(q.Clips) {
		return idrl.Errorf(idrl.Invalid, "query %s is about %d clips, and has the features of %d", q.ID, len(q.Clips), len(q.Each))
	}
	for _, phi := range q.Each {
		if len(phi) != g.Dim() {
			return idrl.Errorf(idrl.Invalid, "query %s has %d features but the belief has %d", q.ID, len(phi), g.Dim())
		}
		if !finite(phi...) {
			return idrl.Errorf(idrl.Invalid, "query %s has features that are not finite", q.ID)
		}
	}
	best, worst := q.Place(a.Best), q.Place(a.Worst)
	if a.Informative() && (a.Choice != idrl.BestWorst || best < 0 || worst < 0 || best == worst) {
		return idrl.Errorf(idrl.Invalid, "choice %q (best %q, worst %q) does not answer a %s", a.Choice, a.Best, a.Worst, q.Kind)
	}
	return nil
}

// A blockView has the moments of the u of a block under a belief.
type blockView struct {
	mean []float64
	cov  *mat.SymDense // V = LLᵀ
	root *mat.Dense    // L, k×k
}

// viewOf returns the view with these moments.
func viewOf(mean []float64, cov *mat.SymDense) blockView {
	k := len(mean)
	v := blockView{mean: mean, cov: cov, root: mat.NewDense(k, k, nil)}
	values, vectors := eigen(cov)
	for i := range k {
		for j := range k {
			v.root.Set(i, j, vectors.At(i, j)*math.Sqrt(max(0, values[j])))
		}
	}
	return v
}

// eigen returns the eigenvalues of a in ascending order, and their vectors as columns.
func eigen(a *mat.SymDense) (values []float64, vectors *mat.Dense) {
	var e mat.EigenSym
	vectors = &mat.Dense{}
	if !e.Factorize(a, true) {
		panic("belief: a symmetric matrix without eigenvalues")
	}
	e.VectorsTo(vectors)
	return e.Values(nil), vectors
}

// see returns the moments of the u of b under g, and XΣ, k×d. root is nil if a moment is not
// finite.
func (g *Gaussian) see(b *block) (v blockView, xs *mat.Dense) {
	k, d := b.x.Dims()
	xs = mat.NewDense(k, d, nil)
	mean, cov := make([]float64, k), mat.NewSymDense(k, nil)
	for i := range k {
		g.CovMul(xs.RawRowView(i), b.x.RawRowView(i))
		mean[i] = floats.Dot(g.mean, b.x.RawRowView(i))
		for j := range i + 1 {
			cov.SetSym(i, j, floats.Dot(xs.RawRowView(i), b.x.RawRowView(j)))
		}
	}
	if !finite(mean...) || !finite(mat.Norm(cov, 1)) {
		return blockView{mean: mean, cov: cov}, xs
	}
	return viewOf(mean, cov), xs
}

// fold returns A + sAL(I − sLᵀAL)⁻¹LᵀA and r + sAL(I − sLᵀAL)⁻¹Lᵀr, s = ±1, with L the root of
// v. With s = 1 they turn a step, μ' = m + Vr and V' = V − VAV, into the factor with that effect
// (A becomes T, and r becomes ν − Tm); with s = −1 they turn the factor into the step. ok is
// false if the covariance before or after is not positive definite.
func (v blockView) fold(a *mat.SymDense, r []float64, s float64) (out *mat.SymDense, rOut []float64, ok bool) {
	k := len(r)
	var al, lal mat.Dense
	al.Mul(a, v.root)
	lal.Mul(v.root.T(), &al)
	inner := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			inner.SetSym(i, j, -s*(lal.At(i, j)+lal.At(j, i))/2)
		}
		inner.SetSym(i, i, inner.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !finite(mat.Norm(inner, 1)) || !chol.Factorize(inner) {
		return nil, nil, false
	}
	var solved, more mat.Dense
	if err := chol.SolveTo(&solved, al.T()); err != nil && !isCondition(err) {
		return nil, nil, false
	}
	more.Mul(&al, &solved)
	out, rOut = mat.NewSymDense(k, nil), append([]float64(nil), r...)
	for i := range k {
		for j := range i + 1 {
			out.SetSym(i, j, a.At(i, j)+s*(more.At(i, j)+more.At(j, i))/2)
		}
	}
	var lr, x mat.VecDense
	lr.MulVec(v.root.T(), mat.NewVecDense(k, r))
	if err := chol.SolveVecTo(&x, &lr); err != nil && !isCondition(err) {
		return nil, nil, false
	}
	for i := range k {
		rOut[i] += s * mat.Dot(al.RowView(i), &x)
	}
	return out, rOut, finite(rOut...) && finite(mat.Norm(out, 1))
}

// isCondition reports whether err says only that a solution may be inexact.
func isCondition(err error) bool {
	var badly mat.Condition
	return errors.As(err, &badly)
}

// times returns the view after a step by r and A.
func (v blockView) times(r []float64, a *mat.SymDense) blockView {
	k := len(r)
	mean, cov := append([]float64(nil), v.mean...), mat.NewSymDense(k, nil)
	var va, vav mat.Dense
	va.Mul(v.cov, a)
	vav.Mul(&va, v.cov)
	floats.Add(mean, mulVec(v.cov, r))
	for i := range k {
		for j := range i + 1 {
			cov.SetSym(i, j, v.cov.At(i, j)-(vav.At(i, j)+vav.At(j, i))/2)
		}
	}
	return viewOf(mean, cov)
}

// derivatives returns log Z of an answer to a group under a view, its gradient and minus its
// second derivatives. It returns an error if they cannot be computed.
func (m Model) derivatives(v blockView, q idrl.QueryVector, a idrl.Answer) (logZ float64, d1 []float64, d2 *mat.SymDense, err error) {
	if v.root == nil {
		return 0, nil, nil, fmt.Errorf("belief: the probability of an answer to a group at means %v cannot be computed", v.mean)
	}
	logZ, d1, d2 = m.Group.LogZ(q.Place(a.Best), q.Place(a.Worst), v.mean, v.cov)
	if !finite(logZ) || !finite(d1...) || !finite(mat.Norm(d2, 1)) {
		err = fmt.Errorf("belief: best %q and worst %q at means %v have no probability", a.Best, a.Worst, v.mean)
	}
	return logZ, d1, d2, err
}

// absorbGroup is Model.Condition of a group in place, of a belief that is not shared. It returns
// log Z of the answer.
func (m Model) absorbGroup(g *Gaussian, q idrl.QueryVector, a idrl.Answer) (logZ float64, err error) {
	v, xs := g.see(newBlock(q.Each))
	logZ, d1, d2, err := m.derivatives(v, q, a)
	if err == nil {
		g.stepBlock(newBlock(q.Each), xs, d1, d2)
	}
	return logZ, err
}

// stepBlock makes μ ← μ + ΣXᵀr and Σ ← Σ − ΣXᵀAXΣ in place, where xs is XΣ, by the eigenvectors of
// A, those that narrow the belief first.
func (g *Gaussian) stepBlock(b *block, xs *mat.Dense, r []float64, a *mat.SymDense) {
	k, d := xs.Dims()
	values, vectors := eigen(a)
	for e := k - 1; e >= 0; e-- {
		x, sx, along := make([]float64, d), make([]float64, d), 0.0
		for i := range k {
			floats.AddScaled(x, vectors.At(i, e), b.x.RawRowView(i))
			floats.AddScaled(sx, vectors.At(i, e), xs.RawRowView(i))
			along += vectors.At(i, e) * r[i]
		}
		if floats.Norm(sx, math.Inf(1)) > 0 { // else it has no information about θ
			g.shift(x, sx, along, values[e])
		}
	}
}

// expectGroup sets the covariance of g to the expected one after the answer to a group.
func (g *Gaussian) expectGroup(l BestWorst, b *block) {
	v, xs := g.see(b)
	if v.root == nil {
		return
	}
	g.stepBlock(b, xs, make([]float64, len(v.mean)), l.Info(v.mean, v.cov))
}

// fitBlock returns the factor with which the belief about u, without that of b, gets the mean
// and covariance that the answer gives it; v is the belief with it. ok is false where the
// belief without it, or with the answer, has no positive covariance.
func (m Model) fitBlock(s *site, v blockView) (tau *mat.SymDense, nu []float64, ok bool, err error) {
	b, k := s.block, len(v.mean)
	if v.root == nil {
		_, _, _, err = m.derivatives(v, *s.query, *s.answer)
		return nil, nil, false, err
	}
	removed := mat.NewSymDense(k, nil)
	removed.ScaleSym(-1, b.tau)
	a, r, ok := v.fold(removed, b.beyond(v.mean, -1), -1)
	if !ok {
		return nil, nil, false, nil
	}
	without := v.times(r, a)
	_, d1, d2, err := m.derivatives(without, *s.query, *s.answer)
	if err != nil {
		return nil, nil, false, err
	}
	tau, nu, ok = without.fold(d2, d1, 1)
	if !ok {
		return nil, nil, false, nil
	}
	floats.Add(nu, mulVec(tau, without.mean))
	return tau, nu, true, nil
}

// beyond returns s (ν − Tm).
func (b *block) beyond(m []float64, s float64) []float64 {
	out := mulVec(b.tau, m)
	for i := range out {
		out[i] = s * (b.nu[i] - out[i])
	}
	return out
}

// mulVec returns ax.
func mulVec(a *mat.SymDense, x []float64) []float64 {
	var out mat.VecDense
	out.MulVec(a, mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}

// sweepBlock fits the factor of a group once, and updates g, which is not shared, by the change.
func (m Model) sweepBlock(g *Gaussian, s *site, damping float64, report *idrl.FitReport) error {
	v, xs := g.see(s.block)
	tau, nu, ok, err := m.fitBlock(s, v)
	if err != nil {
		return err
	}
	var change block
	var a *mat.SymDense
	var r []float64
	if ok {
		change = block{tau: mat.NewSymDense(len(nu), nil), nu: make([]float64, len(nu))}
		change.tau.ScaleSym(-1, s.block.tau)
		change.tau.AddSym(tau, change.tau)
		floats.SubTo(change.nu, nu, s.block.nu)
		report.Change = max(report.Change, v.size(change))
		change.tau.ScaleSym(damping, change.tau)
		floats.Scale(damping, change.nu)
		a, r, ok = v.fold(change.tau, change.beyond(v.mean, 1), -1)
	}
	if !ok {
		report.Skipped++
		return nil
	}
	s.block.tau.AddSym(s.block.tau, change.tau)
	floats.Add(s.block.nu, change.nu)
	g.stepBlock(s.block, xs, r, a)
	return nil
}

// size returns the size of a change of a factor along the axes of V: the larger of the change of
// the mean of u in standard deviations of u, and of the precision relative to that of u.
func (v blockView) size(change block) (out float64) {
	var lt, ltl mat.Dense
	lt.Mul(v.root.T(), change.tau)
	ltl.Mul(&lt, v.root)
	shift := mat.NewVecDense(len(v.mean), change.beyond(v.mean, 1))
	for i := range v.mean {
		out = max(out, math.Abs(ltl.At(i, i)), math.Abs(mat.Dot(v.root.ColView(i), shift)))
	}
	return out
}

// multiplyBlock multiplies g, in place, with the parts of b that widen it or with the others.
// A part after which a variance would not be positive is removed from b, and counted as skipped.
func (g *Gaussian) multiplyBlock(b *block, widens bool, report *idrl.FitReport) {
	k, d := b.x.Dims()
	values, vectors := eigen(b.tau)
	sx := make([]float64, d)
	for e := range k {
		axis := vectors.ColView(e)
		tau, nu := values[e], mat.Dot(axis, mat.NewVecDense(k, b.nu))
		if (tau < 0) != widens || tau == 0 && nu == 0 {
			continue
		}
		x := make([]float64, d)
		for i := range k {
			floats.AddScaled(x, axis.AtVec(i), b.x.RawRowView(i))
		}
		m, v := idrl.Moments(g, x, g.mean, sx)
		if !(1+tau*v > 0) {
			b.tau.SymRankOne(b.tau, -tau, axis)
			for i := range b.nu {
				b.nu[i] -= nu * axis.AtVec(i)
			}
			report.Skipped++
			continue
		}
		g.multiply(x, sx, m, v, tau, nu)
	}
}
