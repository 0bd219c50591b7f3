#!/bin/bash
# Kepner 2003, Table 2: M x M pixels, N_K x N_K kernels of 100 x 100, and how it grows with threads.
source "$(dirname "$0")/seeds.bash"
cores=$(nproc)

while read -r m nk theirs; do
	gen --type=float smooth "$m" "$m" 20 >m.nrrd
	gen kernels 100 "$nk" "$nk" >k.nrrd
	echo "M = $m, ${nk}x$nk kernels of 100x100; Kepner on two processors: $theirs of twice the speed of one"
	runs=()
	for t in $(printf '%d\n' 1 2 "$cores" | sort -nu); do
		runs+=("$t threads=wconv -t $t -k k.nrrd --place=corner m.nrrd >/dev/null")
	done
	interleave -n 5 "${runs[@]}"
done <<END
1024 8 98 %
2048 16 97 %
4096 32 98 %
END
echo "Kepner's scheme in C on this processor, and the transforms alone:"
"$B/t/bench/wconv"
