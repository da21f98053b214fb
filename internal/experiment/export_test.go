package experiment

// SmallDriver returns o with a Driver that computes little before the first
// question.
func (o Options) SmallDriver() Options {
	o.small = &driverSizes{table: 20, restarts: 1, pool: 12, strong: 5}
	return o
}
