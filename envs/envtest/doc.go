// Package envtest is the contract that every environment must pass.
package envtest
