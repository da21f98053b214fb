package words_test

import (
	"testing"
	"time"

	"tiebreak/internal/base/words"
)

func TestWords(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{words.Plural(0, "answer"), "0 answers"},
		{words.Plural(1, "answer"), "1 answer"},
		{words.Plural(2, "answer"), "2 answers"},
		{words.Plural(12_345, "answer"), "12,345 answers"},
		{words.Count(9999), "9999"},
		{words.Count(10_000), "10,000"},
		{words.Count(100_000), "100,000"},
		{words.Count(-1_234_567), "-1,234,567"},
		{words.Signed(-0.256, 2), "−0.26"},
		{words.Signed(-0.004, 2), "0.00"},
		{words.Signed(1.5, 0), "2"},
		{words.Signed(-12345.678, 1), "−12,345.7"},
		{words.Signed(9999.4, 0), "9999"},
		{words.Signed(1e6, 0), "1,000,000"},
		{words.People(1), "one person"},
		{words.People(10_000), "10,000 people"},
		{words.Bytes(0), "0 bytes"},
		{words.Bytes(1), "1 byte"},
		{words.Bytes(999), "999 bytes"},
		{words.Bytes(1000), "1.0 kB"},
		{words.Bytes(999_949), "999.9 kB"},
		{words.Bytes(365_000_000), "365.0 MB"},
		{words.Bytes(47_377_463_886), "47.4 GB"},
		{words.Took(0), "0.0 s"},
		{words.Took(300 * time.Millisecond), "0.3 s"},
		{words.Took(59_940 * time.Millisecond), "59.9 s"},
		{words.Took(59_960 * time.Millisecond), "1 min"},
		{words.Took(125 * time.Second), "2 min 5 s"},
		{words.Took(time.Hour - time.Second/2), "1 h"},
		{words.Took(200 * time.Minute), "3 h 20 min"},
		{words.List(nil), ""},
		{words.List([]string{"a"}), "a"},
		{words.List([]string{"a", "b"}), "a and b"},
		{words.List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}
