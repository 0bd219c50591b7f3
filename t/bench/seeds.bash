# Loaded by the benches seeds-NAME.sh, which set the figures of the papers beside ours: `make bench ONLY=seeds`. They work in
# an empty directory of their own; README.md beside this file holds results.
set -uo pipefail
B=$(realpath "$B")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# colours N: a picture of N random pixels.
colours() {
	printf 'P6\n%d 1000\n255\n' $(($1 / 1000))
	gen --type=uchar noise $(($1 * 3 / 1000)) 1000 | tail -c $(($1 * 3))
}

# scores D N: link scores of N guides of D samples.
scores() {
	gen --type=float noise "$1" $(($1 * ($2 - 1))) |
		sed "1,/^\$/{ s/^dimension.*/dimension: 3/; s/^sizes.*/sizes: $1 $1 $(($2 - 1))/; /^kinds/d; /^labels/d; /^#/d }"
}

# The rows of the papers' tables: n colours and their time; d samples, n guides and their time.
colours_theirs() {
	cat <<END
2000 -
10000 0.10 s
100000 5.8 s
1000000 560 s
END
}
scores_theirs() {
	cat <<END
128 5 0.0019 s
256 8 0.022 s
512 8 -
1024 8 1.398 s
END
}
