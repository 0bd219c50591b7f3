#!/bin/sh
# shares.sh N JOBS DIR PROGRAM OPTION... FILE: runs a program that has --part in N shares by GNU parallel, JOBS of them at a
# time. DIR takes the shares and the log of parallel, and at the end the result, DIR/whole. After a failure, the same command
# runs the shares again that failed or are missing.
set -eu
n=$1 jobs=$2 dir=$3
shift 3

mkdir -p "$dir"
seq 0 $((n - 1)) | parallel --will-cite -q --jobs "$jobs" --joblog "$dir/log" --resume-failed \
	"$@" --part="{}/$n" -o "$dir/share.{}"
rawjoin -o "$dir/whole" "$dir"/share.*
