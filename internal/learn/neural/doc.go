// Package neural is the deep reward model of the paper (Lindner et al., 2021, section "A
// scalable Deep RL approximation"): a network that is trained on comparisons of clips,
// whose last hidden layer gives the features of a step, with a Gaussian posterior of the
// weights of its last layer.
//
//	r(o, a) = θ·f_φ(o, a),  θ ~ N(θ̂, H⁻¹)
//
// o is the observation before action a. docs/methods.md, section 2.5, has the formulas,
// and docs/paper-code.md, section 6, says what the authors' code does.
package neural
