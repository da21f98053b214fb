// Package representation computes what clips, queries and policies are as vectors.
//
// Features are a representation of raw steps, in which the reward is linear. Those of
// the environment, which are made by hand, are version 0: their sums come with the
// clips, and their expectations with the policies. A later version is learnt from
// answers. Then all vectors are computed again from the raw steps that are kept, so
// that answers stay when features change.
package representation
