// Package archtest keeps the arrows between packages pointing one way.
package archtest
