// Package envs is the catalogue of environments. A new environment is one
// folder here and one row in Catalogue.
package envs
