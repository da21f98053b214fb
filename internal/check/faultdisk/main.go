//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: faultdisk FOLDER")
		os.Exit(2)
	}
	m := &mounted{dir: os.Args[1], d: newDisk()}
	if err := m.mount(); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ok")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if said, err := m.do(strings.Fields(lines.Text())); err != nil {
			fmt.Println("error", err)
		} else {
			fmt.Println(strings.TrimSpace("ok " + said))
		}
	}
	_ = m.unmount() // its test has ended
}

// mounted is a disk in a folder.
type mounted struct {
	dir    string
	d      *disk
	server *fuse.Server
}

func (m *mounted) mount() (err error) {
	m.server, err = fs.Mount(m.dir, &node{d: m.d, f: m.d.root}, &fs.Options{MountOptions: fuse.MountOptions{
		DirectMount: true, FsName: "faultdisk", Name: "faultdisk",
		ExplicitDataCacheControl: true, // see Open
	}})
	return err
}

// unmount takes the disk away also from programs that have files of it open.
func (m *mounted) unmount() error {
	if syscall.Unmount(m.dir, syscall.MNT_DETACH) == nil {
		return nil
	}
	return m.server.Unmount() // by fusermount3, as others than root do
}

// do carries out a command.
func (m *mounted) do(words []string) (string, error) {
	if len(words) == 3 && words[0] == "cut" {
		return m.cut(words[1], words[2])
	}
	if len(words) != 2 {
		return "", errors.New("not a command")
	}
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	switch words[0] {
	case "lie":
		m.d.lies = words[1] == "on"
	case "fail":
		m.d.writes, m.d.syncs = 0, 0
		switch words[1] {
		case "write":
			m.d.writes = syscall.EIO
		case "sync":
			m.d.syncs = syscall.EIO
		}
	case "room":
		if m.d.hasNoLimit = words[1] == "all"; m.d.hasNoLimit {
			return "", nil
		}
		var err error
		m.d.room, err = strconv.ParseInt(words[1], 10, 64)
		return "", err
	default:
		return "", errors.New("not a command")
	}
	return "", nil
}

func (m *mounted) cut(seed, share string) (string, error) {
	s, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return "", err
	}
	part, err := strconv.ParseFloat(share, 64)
	if err != nil {
		return "", err
	}
	if err := m.unmount(); err != nil {
		return "", err
	}
	after, lost := m.d.cut(rand.New(rand.NewPCG(s, 0)), part)
	m.d = after
	return strconv.Itoa(lost), m.mount()
}
