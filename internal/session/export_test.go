package session

// For tests.
const RepeatLag = repeatLag
