// Package figure has the shapes that environments made of fields share: tokens
// on the fields, the agent around them, and arrows between them. A field is
// about one unit wide.
package figure
