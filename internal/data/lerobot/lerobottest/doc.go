// Package lerobottest writes small data sets in the layouts of LeRobot that tests import, and reads what they show.
package lerobottest
