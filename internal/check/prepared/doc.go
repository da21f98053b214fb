// Package prepared gives tests copies of a folder that takes long to make.
package prepared
