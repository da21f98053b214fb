package experiment

// SmallDriver returns o with a Driver that computes little before the first
// question.
func (o Options) SmallDriver() Options {
	o.small = &driverSizes{table: 20, restarts: 1, pool: 10, strong: 3, draws: 20}
	return o
}
