// Package identity has the types of people who take part: users, annotators and participants of a crowd platform, and the links,
// logins and tokens that identify them. Secrets appear only as hashes. Package auth decides who may do what; store keeps the rows.
package identity
