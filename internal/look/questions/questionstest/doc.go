// Package questionstest has clips and replies for tests of reports about questions.
package questionstest
