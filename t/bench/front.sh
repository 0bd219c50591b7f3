#!/bin/bash
# The table of README.md, as Markdown: each program beside the best peer that Debian's packages offer.
for python in python3 /usr/bin/python3; do
	"$python" -c 'import numpy' 2>/dev/null || continue
	exec "$python" "$(dirname "$0")/front.py"
done
echo "not run: python3-numpy is not installed"
