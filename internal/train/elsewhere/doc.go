// Package elsewhere has jobs done by workers on other machines. A Hub on the server's side and an
// Agent on the worker's side exchange the frames of jobs (package jobs) over a Carrier, which may
// lose anything at any time. What is lost costs time: the link to the worker ends, and the pool
// gives the job to another worker, from the checkpoint that the row of the job has.
//
// It decides nothing about jobs, and keeps nothing: the pool and its rows do.
package elsewhere
