package store

import (
	"path/filepath"
	"syscall"
)

// networkDisks are the file systems of other machines by which the system calls them (statfs(2)).
var networkDisks = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xfe534d42: "SMB", 0xff534d42: "SMB", 0x5346414f: "AFS", 0x73757245: "Coda",
}

// NetworkDisk returns the kind of network disk that dir, or the folder that it will be made in, is on; empty if that is none that is known.
// SQLite keeps the index of its log in memory that processes of one machine share, and relies on locks, which such disks do not give reliably.
func NetworkDisk(dir string) string {
	for {
		var st syscall.Statfs_t
		err := syscall.Statfs(dir, &st)
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return networkDisks[uint32(st.Type)]
		}
		dir = parent
	}
}
