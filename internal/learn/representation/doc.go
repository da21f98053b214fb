// Package representation computes the vectors of clips, queries and policies.
//
// The reward is linear in features of raw steps. The hand-made features of the environment
// are version 0: their sums come with the clips, and their expectations with the policies.
// Later versions are learnt from answers. Then all vectors are computed again from the raw
// steps that are kept, so that earlier answers remain valid.
package representation
