package idrl

// Offer is the part of a session that an annotator may see.
type Offer struct {
	Seq     int64
	Open    []Assignment // leased to the annotator, in the order to show them
	Answers int          // effective and informative answers of everybody
	Mine    int          // answers of this annotator that are not withdrawn, informative or not
	Skipped int          // those of Mine that are not informative
	Budget  int
	Done    bool     // the budget is spent: there is nothing more to ask
	Waiting string   // why Open is empty, for people; empty if it is not
	Undo    AnswerID // the annotator's last answer that can be undone; empty if none
}
