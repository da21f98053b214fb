// Package identity holds who takes part: users, annotators and participants of a crowd platform, and the links, logins and tokens by
// which a server knows them. Secrets appear as hashes alone. Package auth says who may do what; store keeps the rows.
package identity
