package settings

// whys gives the reason for the default of each setting that the form lists under a heading, in one
// line for people.
var whys = map[string]string{
	"consent":         "People in a lab have often agreed elsewhere.",
	"withdraw_days":   "A researcher can always erase a person's data.",
	"completion_code": "Only crowd platforms ask for one.",
	"answers_each":    "Whoever likes to answer on may do so.",
	"seed":            "Another seed for each session; give one to make a session again.",
	"acquisition":     "It needs no choice of a pair of policies, and works with every type of question.",
	"conditions":      "All questions go to the strategy that learns fastest.",
	"held_out":        "Held-out questions cost answers and teach nothing.",
	"questions":       "People cannot answer questions about clips that look alike.",
	"leader":          "Expectations alone are often wrong about robots.",
	"clips_from":      "Clips made for a question tell more than those of policies.",
	"candidates":      "More find better policies and take longer to train.",
	"ahead":           "Answers go on while the network is slow for a moment.",
	"train_every":     "Frequent training where it is cheap.",
	"adopt_after":     "People get new policies as soon as there are any.",
	"model":           "Features need the fewest answers.",
	"solver":          "The solver that suits the environment.",
	"return":          "The return that suits the source of the clips.",
	"prior":           "Nothing is assumed about which features are similar.",
	"prior_var":       "The unit in which the noise of answers is given.",
	"likelihood":      "People err near ties, and say “equal”.",
	"noise_model":     "People differ in how consistent they are.",
	"noise_std":       "About nine of ten comparisons of two random clips are right.",
	"tie_band":        "People call small differences equal.",
	"rating_var":      "A standard deviation of 0.22: one step of the scale from 0 to 10.",
	"rating_model":    "Nothing is above 10 or below 0.",
	"strength":        "One question at a time is the quickest.",
	"much_band":       "Only used with “much better”.",
	"remarks":         "Fewer buttons to decide about.",
	"show_learnt":     "The result must not influence the answers of a study.",
	"tolerance":       "A twentieth of the way from the worst to the best policy.",
	"doubt":           "In at most one of ten cases the loss is larger.",
	"stop_by_itself":  "You decide; the page of the session tells you when.",
	"ask_on":          "People are not asked for answers that change nothing.",
	"repeat_every":    "Repeats cost answers; they measure how consistent people are.",
	"gold_every":      "None are asked until you give right answers on the session's page.",
	"min_dwell":       "Clips that were hardly shown were hardly seen.",
	"max_rate":        "More than one answer a second is rarely considered.",
}

// Why returns the reason for the default of s, for people.
func (s Setting) Why() string { return whys[s.Key] }
