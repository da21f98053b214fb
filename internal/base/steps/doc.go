// Package steps encodes the raw steps of trajectories for storage.
//
// The form is a header, then every column over time: each observation, each action
// and each feature. A column is stored as the exclusive or of successive numbers,
// byte plane by byte plane, because neighbours share their high bytes. All of it is
// compressed by DEFLATE. The name of the steps is a hash of what is compressed, so
// that it does not depend on the compressor.
package steps
