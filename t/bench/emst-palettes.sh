#!/bin/bash
# Photographs in few colours, where WEIR_PHOTOS names a directory of them, and python3 finds its modules.
for python in python3 /usr/bin/python3; do
	if "$python" -c 'import numpy, PIL' 2>/dev/null; then
		exec "$python" "$(dirname "$0")/emst_palettes.py"
	fi
done
echo "not run: python3-numpy and python3-pil are not installed"
