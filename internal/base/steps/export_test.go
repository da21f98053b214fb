package steps

import "tiebreak/internal/idrl"

// Content and Compress are the two halves of Encode.
func Content(s idrl.Steps) ([]byte, error) { return appendContent(nil, s) }

func Compress(content []byte) (idrl.StepsID, []byte) { return name(content), compress(content) }
