#!/bin/bash
# The table of README.md, as Markdown: each program beside the best peer that Debian's packages offer.
for python in python3 /usr/bin/python3; do
	if "$python" -c 'import numpy, scipy' 2>/dev/null; then
		"$python" "$(dirname "$0")/front.py"
		exit
	fi
done
echo "not run: python3-scipy is not installed"
