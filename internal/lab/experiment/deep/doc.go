// Package deep is the paper's algorithm for networks and soft actor-critic (Lindner et
// al., 2021, Algorithm "alg:idrl_deep_rl"): a reward network that is trained on
// comparisons of clips, a main policy that is trained on its rewards, and a few candidate
// policies that are kept warm and say which comparisons are worth asking. A simulated
// expert answers. docs/reproduction.md has the results and docs/paper-code.md, section 6,
// what the authors' code does otherwise.
package deep
