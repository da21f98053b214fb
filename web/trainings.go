package web

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/templates"
)

// trainingsListed is how many past trainings a page shows.
const trainingsListed = 12

// trainingTable shows past trainings, the last one first, at most trainingsListed of list.
func trainingTable(id idrl.SessionID, list []record.PastTraining) templates.TrainingTable {
	t := templates.TrainingTable{CSV: chartURL(id, "trainings"), More: len(list) > trainingsListed, Listed: strconv.Itoa(trainingsListed)}
	for _, p := range list[:min(len(list), trainingsListed)] {
		row := templates.TrainingRow{
			Generation: fmt.Sprintf("g%d", p.BasedOn), Began: clock(p.Began), Took: spent(p.Ended.Sub(p.Began)),
			Answers: strconv.Itoa(p.Answers), End: trainingEnd(p), Policies: "–", Why: p.Why, Bad: p.End == record.TrainingFailed,
		}
		if p.FollowUp {
			row.Generation += ", search continued"
		}
		if p.End == record.TrainingDone {
			row.Policies = strconv.Itoa(p.Candidates)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// trainingEnd says how a training ended.
func trainingEnd(p record.PastTraining) string {
	return map[record.TrainingEnd]string{
		record.TrainingDone: "done", record.TrainingCancelled: "cancelled", record.TrainingFailed: "failed",
	}[p.End]
}

// spent shows how long something took.
func spent(d time.Duration) string {
	if d < time.Second {
		return "under 1 s"
	}
	return words.Took(d)
}

// trainingsTable is the table of all past trainings.
func trainingsTable(ctx context.Context, _ watching, session Session, put func(...any) error) error {
	list, err := session.Trainings(ctx, 0)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := put(p.N, p.BasedOn, p.Answers, p.FollowUp, p.Began, p.Ended, p.Ended.Sub(p.Began).Seconds(), string(p.End), p.Candidates, p.Why); err != nil {
			return err
		}
	}
	return nil
}
