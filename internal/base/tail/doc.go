// Package tail keeps the end of what another program writes to its standard error, for messages.
package tail
