// Package quality summarises how annotators answer: speed, sides, and agreement with the posterior.
package quality
