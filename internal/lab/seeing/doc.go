// Package seeing simulates people who answer by what they see: by the drawn states alone, and not
// by features or rewards. They measure whether the questions of a session can be answered, and
// what it learns from people.
package seeing
