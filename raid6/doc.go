// Package raid6 computes the P and Q of RAID-6 arrays.
package raid6
