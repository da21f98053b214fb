// Package web serves Tiebreak's pages and sockets. It turns requests into calls
// of the interfaces below and their results into display strings; it decides
// nothing about rewards and stores nothing.
package web
