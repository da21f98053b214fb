// Package networks is the form in which networks are kept and leave the program: weights in
// the format safetensors with a description as JSON. The file docs/datasets.md describes it.
package networks
