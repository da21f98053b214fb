// Package base is the room of small things that every other room may use: named random streams
// (rng), plain values as bytes (pack), statistics (stats), matrices and small networks (gemm, nn),
// networks as files (networks, safetensors), raw steps of trajectories as bytes (steps),
// events (live), and the running of a program's commands (command).
//
// Numbers, bytes and names enter and leave. Nothing here knows of sessions,
// people, files of a data folder or rewards; nothing keeps state between calls except a hub of
// watchers, and all randomness comes from a stream that the caller gives.
package base
