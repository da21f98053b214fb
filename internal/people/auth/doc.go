// Package auth identifies the sender of a request and decides what they may do.
//
// People sign in by a link with a secret token: accounts by a sign-in link that
// works once, or with a password if they have set one, annotators by an invitation
// to one session. In exchange for a link the browser receives a cookie with another
// token, and an annotator's page a key with which the same annotator signs in again
// when the login has ended. Only SHA-256 hashes of tokens are stored.
package auth
