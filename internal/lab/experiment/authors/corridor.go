package authors

// Corridor is what the paper says of a method in a corridor.
type Corridor struct {
	Regret float64 // after 20 answers, mean over 30 seeds
	SE     float64 // its standard error
	Hours  string  // that a run took; "" where the paper does not say
}

// CorridorAnswers is the number of answers that Corridor.Regret is about.
const CorridorAnswers = 20

// CorridorOf returns the paper's row of a method ("idrl:4" is IDRL with four
// updates of its candidate policies) in a figure ("swimmer-corridor"), and whether
// there is one. Source: the paper, label "tab:results_batch_size", and for the
// hours the text beside it.
func CorridorOf(figure, method string) (Corridor, bool) {
	baseline, full := "2 to 3", "about 40"
	c, ok := map[[2]string]Corridor{
		{"swimmer-corridor", "uniform"}: {11.8, 0.9, baseline},
		{"swimmer-corridor", "igr"}:     {13.3, 0.6, baseline},
		{"swimmer-corridor", "eir"}:     {12.0, 0.8, baseline},
		{"swimmer-corridor", "idrl:20"}: {2.4, 0.8, full},
		{"swimmer-corridor", "idrl:4"}:  {2.8, 0.7, ""},
		{"swimmer-corridor", "idrl:2"}:  {5.1, 0.6, ""},
		{"swimmer-corridor", "idrl:1"}:  {7.6, 0.8, "about 20"},
		{"ant-corridor", "uniform"}:     {15, 1, baseline},
		{"ant-corridor", "igr"}:         {17.2, 0.5, baseline},
		{"ant-corridor", "eir"}:         {17.5, 0.8, baseline},
		{"ant-corridor", "idrl:20"}:     {2.2, 0.8, full},
		{"ant-corridor", "idrl:4"}:      {5, 1, ""},
		{"ant-corridor", "idrl:2"}:      {8, 1, ""},
		{"ant-corridor", "idrl:1"}:      {12, 1, "about 10"},
	}[[2]string{figure, method}]
	return c, ok
}
