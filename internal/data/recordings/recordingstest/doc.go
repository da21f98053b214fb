// Package recordingstest writes rollouts that tests import.
package recordingstest
