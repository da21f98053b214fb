package paper

import (
	"fmt"
	"regexp"
	"strings"
)

// A reference is a publication that a methods text may cite.
type reference struct {
	key    string // as texts cite it: [lindner2021]
	cited  string // as a reader sees it
	kind   string // of the BibTeX entry
	fields [][2]string
}

func article(key, cited, author, title, journal, year string) reference {
	return reference{key, cited, "article", [][2]string{{"author", author}, {"title", title}, {"journal", journal}, {"year", year}}}
}

func paperAt(key, cited, author, title, booktitle, year string) reference {
	return reference{key, cited, "inproceedings", [][2]string{{"author", author}, {"title", title}, {"booktitle", booktitle}, {"year", year}}}
}

// references are all publications that a methods text may cite; docs/methods.md, section 7, has more.
var references = []reference{
	article("agresti2005", "Agresti and Min, 2005", "Agresti, Alan and Min, Yongyi", "Simple Improved Confidence Intervals for Comparing Matched Proportions", "Statistics in Medicine", "2005"),
	paperAt("biyik2022", "Bıyık et al., 2022", "B{\\i}y{\\i}k, Erdem and Talati, Aditi and Sadigh, Dorsa", "{APReL}: A Library for Active Preference-based Reward Learning Algorithms", "Human-Robot Interaction (HRI)", "2022"),
	article("bradley1952", "Bradley and Terry, 1952", "Bradley, Ralph Allan and Terry, Milton E.", "Rank Analysis of Incomplete Block Designs: {I}. The Method of Paired Comparisons", "Biometrika", "1952"),
	article("cameron2011", "Cameron et al., 2011", "Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.", "Robust Inference With Multiway Clustering", "Journal of Business and Economic Statistics", "2011"),
	paperAt("chen2013", "Chen et al., 2013", "Chen, Xi and Bennett, Paul N. and Collins-Thompson, Kevyn and Horvitz, Eric", "Pairwise Ranking Aggregation in a Crowdsourced Setting", "Web Search and Data Mining (WSDM)", "2013"),
	article("davidson1970", "Davidson, 1970", "Davidson, Roger R.", "On Extending the {Bradley–Terry} Model to Accommodate Ties in Paired Comparison Experiments", "Journal of the American Statistical Association", "1970"),
	article("desautels2014", "Desautels et al., 2014", "Desautels, Thomas and Krause, Andreas and Burdick, Joel W.", "Parallelizing Exploration-Exploitation Tradeoffs in {Gaussian} Process Bandit Optimization", "Journal of Machine Learning Research", "2014"),
	article("frazier2010", "Frazier and Powell, 2010", "Frazier, Peter I. and Powell, Warren B.", "Paradoxes in Learning and the Marginal Value of Information", "Decision Analysis", "2010"),
	paperAt("guo2017", "Guo et al., 2017", "Guo, Chuan and Pleiss, Geoff and Sun, Yu and Weinberger, Kilian Q.", "On Calibration of Modern Neural Networks", "International Conference on Machine Learning (ICML)", "2017"),
	article("haarnoja2018", "Haarnoja et al., 2018", "Haarnoja, Tuomas and Zhou, Aurick and Hartikainen, Kristian and Tucker, George and Ha, Sehoon and Tan, Jie and Kumar, Vikash and Zhu, Henry and Gupta, Abhishek and Abbeel, Pieter and Levine, Sergey", "Soft Actor-Critic Algorithms and Applications", "arXiv:1812.05905", "2018"),
	article("hansen2016", "Hansen, 2016", "Hansen, Nikolaus", "The {CMA} Evolution Strategy: A Tutorial", "arXiv:1604.00772", "2016"),
	article("houlsby2011", "Houlsby et al., 2011", "Houlsby, Neil and Husz{\\'a}r, Ferenc and Ghahramani, Zoubin and Lengyel, M{\\'a}t{\\'e}", "Bayesian Active Learning for Classification and Preference Learning", "arXiv:1112.5745", "2011"),
	article("kim1987", "Kim and DeMets, 1987", "Kim, Kyungmann and DeMets, David L.", "Design and Analysis of Group Sequential Tests Based on the Type {I} Error Spending Rate Function", "Biometrika", "1987"),
	{"krippendorff2004", "Krippendorff, 2004", "book", [][2]string{{"author", "Krippendorff, Klaus"}, {"title", "Content Analysis: An Introduction to Its Methodology"}, {"publisher", "Sage"}, {"edition", "2"}, {"year", "2004"}}},
	paperAt("lindner2021", "Lindner et al., 2021", "Lindner, David and Turchetta, Matteo and Tschiatschek, Sebastian and Ciosek, Kamil and Krause, Andreas", "Information Directed Reward Learning for Reinforcement Learning", "Advances in Neural Information Processing Systems (NeurIPS)", "2021"),
	article("mackay1992", "MacKay, 1992", "MacKay, David J. C.", "The Evidence Framework Applied to Classification Networks", "Neural Computation", "1992"),
	article("mackinnon2023", "MacKinnon et al., 2023", "MacKinnon, James G. and Nielsen, Morten Ørregaard and Webb, Matthew D.", "Fast and Reliable Jackknife and Bootstrap Methods for Cluster-Robust Inference", "Journal of Applied Econometrics", "2023"),
	paperAt("mania2018", "Mania et al., 2018", "Mania, Horia and Guy, Aurelia and Recht, Benjamin", "Simple Random Search of Static Linear Policies is Competitive for Reinforcement Learning", "Advances in Neural Information Processing Systems (NeurIPS)", "2018"),
	paperAt("minka2001", "Minka, 2001", "Minka, Thomas P.", "Expectation Propagation for Approximate {Bayesian} Inference", "Uncertainty in Artificial Intelligence (UAI)", "2001"),
	paperAt("pearce2020", "Pearce et al., 2020", "Pearce, Tim and Leibfried, Felix and Brintrup, Alexandra and Zaki, Mohamed and Neely, Andy", "Uncertainty in Neural Networks: Approximately {Bayesian} Ensembling", "Artificial Intelligence and Statistics (AISTATS)", "2020"),
	paperAt("russo2014", "Russo and Van Roy, 2014", "Russo, Daniel and Van Roy, Benjamin", "Learning to Optimize via Information-Directed Sampling", "Advances in Neural Information Processing Systems (NeurIPS)", "2014"),
	paperAt("russo2016", "Russo, 2016", "Russo, Daniel", "Simple {Bayesian} Algorithms for Best Arm Identification", "Conference on Learning Theory (COLT)", "2016"),
	paperAt("sadigh2017", "Sadigh et al., 2017", "Sadigh, Dorsa and Dragan, Anca D. and Sastry, Shankar and Seshia, Sanjit A.", "Active Preference-Based Learning of Reward Functions", "Robotics: Science and Systems (RSS)", "2017"),
	paperAt("snoek2015", "Snoek et al., 2015", "Snoek, Jasper and Rippel, Oren and Swersky, Kevin and Kiros, Ryan and Satish, Nadathur and Sundaram, Narayanan and Patwary, Md. Mostofa Ali and Prabhat and Adams, Ryan P.", "Scalable {Bayesian} Optimization Using Deep Neural Networks", "International Conference on Machine Learning (ICML)", "2015"),
	article("thurstone1927", "Thurstone, 1927", "Thurstone, Louis L.", "A Law of Comparative Judgment", "Psychological Review", "1927"),
	article("wilson1927", "Wilson, 1927", "Wilson, Edwin B.", "Probable Inference, the Law of Succession, and Statistical Inference", "Journal of the American Statistical Association", "1927"),
	paperAt("zoghi2014", "Zoghi et al., 2014", "Zoghi, Masrour and Whiteson, Shimon and Munos, R{\\'e}mi and de Rijke, Maarten", "Relative Upper Confidence Bound for the {K}-Armed Dueling Bandit Problem", "International Conference on Machine Learning (ICML)", "2014"),
}

var citation = regexp.MustCompile(`\[([a-z]+[0-9]{4})\]`)

// cite writes the citations of a text as a reader sees them, and notes them in used.
func cite(text string, used map[string]bool) string {
	return citation.ReplaceAllStringFunc(text, func(mark string) string {
		key := mark[1 : len(mark)-1]
		for _, r := range references {
			if r.key == key {
				used[key] = true
				return "(" + r.cited + ")"
			}
		}
		panic("paper: no reference " + key)
	})
}

// plain turns TeX's letters and braces into what they stand for.
var plain = strings.NewReplacer(`{\i}`, "ı", `{\'a}`, "á", `{\'e}`, "é", "{", "", "}", "")

// line writes a reference as a line of a list.
func (r reference) line() string {
	get := func(name string) string {
		for _, f := range r.fields {
			if f[0] == name {
				return plain.Replace(f[1])
			}
		}
		return ""
	}
	var authors []string
	for _, a := range strings.Split(get("author"), " and ") {
		last, first, _ := strings.Cut(a, ", ")
		authors = append(authors, strings.TrimSpace(first+" "+last))
	}
	place := get("journal") + get("booktitle") + get("publisher")
	return fmt.Sprintf("%s: %s. %s, %s.", strings.Join(authors, ", "), get("title"), place, get("year"))
}

// bibtex writes a reference as an entry of BibTeX.
func (r reference) bibtex() string {
	var b strings.Builder
	fmt.Fprintf(&b, "@%s{%s,\n", r.kind, r.key)
	for _, f := range r.fields {
		fmt.Fprintf(&b, "  %s = {%s},\n", f[0], f[1])
	}
	b.WriteString("}\n")
	return b.String()
}
