package bynats

import "fmt"

// Permissions returns the subjects of NATS that a worker may publish under and those that it may subscribe to; neither
// may be any other. What a Tiebreak server does needs no restriction.
//
// A worker may make consumers of its own messages only, and read and write blobs, whose content names them. It may not
// make, change, delete or purge a stream.
func Permissions(worker string) (publish, subscribe []string) {
	own := func(word string) string { return fmt.Sprintf("%s%s.%s.>", prefix, word, worker) }
	const api = "$JS.API."
	publish = []string{
		own("offers"),
		own("from"),
		blobPrefix + "*.*",
		api + "CONSUMER.CREATE." + messageStream + ".*." + own("to"),
		api + "CONSUMER.MSG.NEXT." + messageStream + ".*",
		api + "CONSUMER.DELETE." + messageStream + ".*",
		api + "DIRECT.GET." + blobStream + "." + blobPrefix + "*.*",
		api + "STREAM.INFO." + blobStream,
	}
	subscribe = []string{prefix + "servers.>", own("to"), "_INBOX." + worker + ".>"}
	return publish, subscribe
}
