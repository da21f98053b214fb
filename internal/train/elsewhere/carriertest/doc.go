// Package carriertest is the contract of carriers, and a carrier in memory that loses, delays and cuts on request.
package carriertest
