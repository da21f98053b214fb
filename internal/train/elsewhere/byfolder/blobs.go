package byfolder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// Put writes a blob, unless it is there. It returns an error of kind Unavailable if the folder is full or cannot be used.
func (c *Carrier) Put(ctx context.Context, blob []byte) (elsewhere.Hash, error) {
	name := elsewhere.Hash(sha256.Sum256(blob))
	if len(blob) > elsewhere.MaxBlob {
		return name, idrl.Errorf(idrl.Invalid, "a blob has %d bytes; at most %d are allowed", len(blob), elsewhere.MaxBlob)
	}
	if err := ctx.Err(); err != nil {
		return name, err
	}
	root, err := c.folder.get()
	if err != nil {
		return name, err
	}
	file := hex.EncodeToString(name[:])
	if info, err := root.Lstat(blobs + "/" + file); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(blob)) {
		if used(root, file) == nil {
			return name, nil
		}
	}
	if err := c.room(blobs, int64(len(blob))); err != nil {
		return name, err
	}
	err = c.folder.write(root, blobs, file, blob)
	if replaced(err) {
		c.folder.broken()
		if root, err = c.folder.get(); err != nil {
			return name, err
		}
		err = c.folder.write(root, blobs, file, blob)
	}
	if err != nil {
		return name, c.folder.unusable(err)
	}
	return name, nil
}

// used tells those who observe the age of a blob that it is used: they compare its time with what it was, not with a
// clock. Only the owner of a file may do this.
func used(root *os.Root, file string) error {
	return root.Chtimes(blobs+"/"+file, time.Time{}, time.Now())
}

// Get reads a blob. One that does not have its hash is removed, so that it can be put again.
func (c *Carrier) Get(ctx context.Context, name elsewhere.Hash) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root, err := c.folder.get()
	if err != nil {
		return nil, err
	}
	file := hex.EncodeToString(name[:])
	b, err := readFile(root, blobs+"/"+file, elsewhere.MaxBlob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, idrl.Errorf(idrl.NotFound, "the folder %s of workers has no blob %s", c.folder.dir, file)
	case errors.Is(err, errOdd), err == nil && sha256.Sum256(b) != name:
		c.leaveOut(blobs+"/"+file, errTorn)
		_ = root.Remove(blobs + "/" + file)
		return nil, idrl.Errorf(idrl.Damaged, "the blob %s in the folder %s of workers is damaged", file, c.folder.dir)
	case err != nil:
		return nil, c.folder.unusable(err)
	}
	_ = used(root, file)
	return b, nil
}
