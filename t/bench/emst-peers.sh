#!/bin/bash
# emst and SciPy on the same points: the program as a user runs it, and the tree of SciPy's single linkage, each timed
# around its whole run; medians of three runs in turn.
echo 'mlpack: left out, Debian 12 has no package of it'
$WEIR_PYTHON -c 'import scipy.cluster.hierarchy' 2>/dev/null || {
	echo "left out: python3-scipy is not installed"
	exit 0
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gen --type=double noise 3 10000 >"$dir/points.nrrd"
$WEIR_PYTHON - "$dir/points.nrrd" <<-'END'
	import subprocess, sys, time
	import numpy as np
	from scipy.cluster import hierarchy
	data = open(sys.argv[1], 'rb').read()
	points = np.frombuffer(data[data.index(b'\n\n') + 2:], float).reshape(-1, 3)
	def ours():
	    subprocess.run(['emst', '--points', '--to=linkage', sys.argv[1]], check=True, stdout=subprocess.PIPE)
	def scipy():
	    hierarchy.linkage(points, 'single')
	times = {ours: [], scipy: []}
	for _ in range(3):
	    for f in times:
	        start = time.perf_counter()
	        f()
	        times[f].append(time.perf_counter() - start)
	first, other = (sorted(t)[1] for t in times.values())
	print('uniform, 3 dimensions, 10,000 points')
	print('  %-36s %10.2f ms' % ('emst --to=linkage', 1e3 * first))
	print('  %-36s %10.2f ms   %7.2f times the first' % ('SciPy linkage, single', 1e3 * other, other / first))
END
