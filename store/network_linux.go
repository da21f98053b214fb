package store

import "syscall"

// networkDisks are the file systems of other machines by which the system calls them (statfs(2)).
var networkDisks = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xfe534d42: "SMB", 0xff534d42: "SMB", 0x5346414f: "AFS", 0x73757245: "Coda",
}

func networkKind(st *syscall.Statfs_t) string { return networkDisks[uint32(st.Type)] }
