// Package view holds what a session shows of itself: to researchers its status, its trainings, its questions and how well its
// conditions predict; to annotators their next question, what they answered, and what that changed. It holds values alone, which
// internal/session makes and web writes as pages and JSON. It knows neither of them.
package view
