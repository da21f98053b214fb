package lerobot

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// maxCSV is how large the researcher's file about episodes may be, in bytes.
const maxCSV = 64 << 20

// readCSV reads what a researcher's file says of each episode: a line with the names of the columns, then one line for
// each episode, in any order.
func (d *Dataset) readCSV() error {
	f, err := os.Open(d.options.CSV)
	if err != nil {
		return refused("csv", "%v", err)
	}
	defer f.Close()
	r := csv.NewReader(io.LimitReader(f, maxCSV))
	head, err := r.Read()
	if err != nil {
		return refused("csv", "%s: %v", d.options.CSV, err)
	}
	if err := d.checkHead(head); err != nil {
		return err
	}
	seen := map[int]bool{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return refused("csv", "%s: %v", d.options.CSV, err)
		}
		line, _ := r.FieldPos(0)
		if err := d.csvRow(head, row, seen); err != nil {
			return fmt.Errorf("%s, line %d: %w", d.options.CSV, line, err)
		}
	}
	for i := range d.Episodes {
		if !seen[i] {
			return refused("csv", "%s has no line for episode %d: there must be one for each", d.options.CSV, i)
		}
	}
	return nil
}

// checkHead checks the names of the columns.
func (d *Dataset) checkHead(head []string) error {
	o := d.options
	named := map[string]string{"policy": o.Policy, "task": o.Task, "start": o.Start, "success": o.Success}
	seen := map[string]bool{}
	for _, h := range head {
		column, known := named[h]
		switch {
		case !known && h != "episode_index" || seen[h]:
			return refused("csv", "%s has the column %.80q, twice or not known; there may be episode_index, policy, task, start and success", o.CSV, h)
		case column != "":
			return refused("csv", "%s has the column %s, and --%s-column names another one: give one of them", o.CSV, h, h)
		}
		seen[h] = true
	}
	if !seen["episode_index"] {
		return refused("csv", "%s has no column episode_index (its first line names the columns)", o.CSV)
	}
	return nil
}

// csvRow reads one line.
func (d *Dataset) csvRow(head, row []string, seen map[int]bool) error {
	var e *Episode
	for k, h := range head {
		if h != "episode_index" {
			continue
		}
		i, err := strconv.Atoi(row[k])
		if err != nil || i < 0 || i >= len(d.Episodes) || seen[i] {
			return refused("csv", "the episode_index %.40q is there twice, or is none of the data set, which has 0 to %d", row[k], len(d.Episodes)-1)
		}
		seen[i] = true
		e = &d.Episodes[i]
	}
	for k, h := range head {
		var err error
		switch value := row[k]; {
		case h == "policy":
			e.Policy, err = d.once(value), checkLine(value, h, maxName)
		case h == "task":
			e.Task, err = d.once(value), checkLine(value, h, maxTask)
		case h == "start" && value != "":
			e.Start, err = d.once(value), checkLine(value, h, maxName)
		case h == "success" && value != "":
			var yes bool
			yes, err = truth(value)
			e.Success = &yes
		}
		if err != nil {
			return err
		}
	}
	return nil
}
