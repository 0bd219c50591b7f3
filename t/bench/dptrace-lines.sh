#!/bin/bash
# Real lines, where WEIR_LINES names a directory of pictures and masks, and python3 finds its modules.
for python in python3 /usr/bin/python3; do
	if "$python" -c 'import numpy' 2>/dev/null; then
		exec "$python" "$(dirname "$0")/dptrace_lines.py"
	fi
done
echo "not run: python3-numpy is not installed"
