// Package loadtest puts load on a server as annotators do, by their link and over the websocket, and measures what it takes:
// acknowledged answers a second, how long they take, and, by the server's metrics, memory and processor time.
package loadtest
