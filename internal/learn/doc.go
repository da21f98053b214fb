// Package learn is the room of what answers teach, and of which question comes next.
//
// Answers, features of clips and policies enter; a posterior of the reward (belief, neural,
// posterior), the policy that is best so far and what stopping would cost (regret, stopping),
// and the next question (acquisition) leave. Package learning joins them: sessions and
// experiments call it; no other code selects questions.
//
// It never draws a clip, solves for a policy, writes a file or asks who a person is; it knows
// no true reward.
package learn
