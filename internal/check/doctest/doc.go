// Package doctest finds dead references: links and anchors in Markdown files, and
// citations of documents in comments, that lead nowhere.
package doctest
