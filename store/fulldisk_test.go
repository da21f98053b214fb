package store_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"tiebreak/store"
)

// asOnFullDisk carries out what backupEnv says, where no file may be larger than the limit.
func asOnFullDisk(args string) error {
	a := strings.Split(args, "\n")
	limit, err := strconv.ParseUint(a[4], 10, 64)
	if err != nil {
		return err
	}
	if limit > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit the size of files: %w", err)
		}
	}
	if a[0] == "restore" {
		_, _, err = store.Restore(context.Background(), a[2], a[3], nil)
	} else {
		err = backUpOnFullDisk(context.Background(), a[1], a[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return err
}
