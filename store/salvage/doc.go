// Package salvage reads the rows of a damaged database file of SQLite: page by page, without the
// program's own SQLite, which stops at the first damaged page of a table. It follows the file format
// (https://www.sqlite.org/fileformat2.html), trusts nothing that it reads, and takes no more memory than the file has bytes.
package salvage
