package sac

import (
	"tiebreak/internal/base/networks"
	"tiebreak/internal/base/safetensors"
)

// Network returns the policy in the form of package networks: of the means of the
// actions, also where they are drawn.
func (p *Policy) Network() networks.Network {
	n := networks.Network{Description: networks.Description{
		Format: networks.PolicyFormat, Version: networks.Version,
		Input:  networks.RawInput(p.shape.obs, p.time),
		Output: &networks.Output{Squash: networks.Tanh, Low: p.scale.low, High: p.scale.high},
	}}
	const head = policyHead
	hidden := int(p.params[head-1])
	sizes := append(p.params[head:head+hidden:head+hidden], float64(2*p.shape.act))
	w := make([]float32, 0, len(p.params))
	for _, v := range p.params[head+hidden:] {
		w = append(w, float32(v))
	}
	in := p.shape.seen()
	for k, size := range sizes {
		l := networks.Layer{Weight: networks.WeightName(k), Bias: networks.BiasName(k), Shape: [2]int{int(size), in}, Activation: networks.LeakyReLU}
		if k == hidden {
			l.Activation = networks.Identity
		}
		n.Description.Layers = append(n.Description.Layers, l)
		out := l.Shape[0]
		n.Tensors = append(n.Tensors,
			safetensors.Tensor{Name: l.Weight, Shape: []int{out, in}, F32: w[:out*in]},
			safetensors.Tensor{Name: l.Bias, Shape: []int{out}, F32: w[out*in : (in+1)*out]})
		w, in = w[(in+1)*out:], out
	}
	return n
}
