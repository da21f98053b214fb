// Package safetensors writes and reads arrays of numbers in the format safetensors, which
// programs for neural networks share: 8 bytes with the length of a header, the header as
// JSON, and the numbers, little-endian and by rows. Source: Hugging Face, safetensors 0.4,
// README, section "Format".
package safetensors
