// Package client is an annotator that is a program: it joins a session by an
// annotator's link and speaks the protocol of package wire, as a browser does.
package client
