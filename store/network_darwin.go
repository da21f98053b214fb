package store

import (
	"bytes"
	"syscall"
)

// networkDisks are the file systems of other machines by which the system calls them (statfs(2)).
var networkDisks = map[string]string{"nfs": "NFS", "smbfs": "SMB", "afpfs": "AFP", "webdav": "WebDAV"}

func networkKind(st *syscall.Statfs_t) string {
	var name []byte
	for _, c := range st.Fstypename {
		name = append(name, byte(c))
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	return networkDisks[string(name)]
}
