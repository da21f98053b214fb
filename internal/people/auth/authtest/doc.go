// Package authtest has the contract of stores of logins, and one in memory.
package authtest
