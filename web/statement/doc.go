// Package statement writes a session's statement of regret as sentences, for pages, the HTTP API and reports.
package statement
