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
