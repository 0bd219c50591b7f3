load lib

# The pages as HTML: `make html`. They are made once for all tests.
setup_file() {
	! command -v mandoc >/dev/null || (cd "$root" && t/html "$BATS_FILE_TMPDIR/html" "$B/demo")
}

setup() {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	cd "$BATS_FILE_TMPDIR"
}

# links FILE: what it leads to or shows, one a line.
links() {
	grep -oE '(href|src)="[^"]*"' "$1" | sed 's/^[a-z]*="//; s/"$//'
}

# dead LINK FILE: the link of that file leads to no file of ours, to no place in one, or outside but not to a manual page.
dead() {
	local file=${1%%#*} place=
	[[ $1 != *'#'* ]] || place=${1#*#}
	case $1 in
	https://manpages.debian.org/[a-z]*.[1-8]) return 1 ;;
	*://* | /* | *..*) return 0 ;;
	esac
	[ -e "html/${file:-${2##*/}}" ] || return 0
	[ -n "$place" ] || return 1
	! grep -qF "id=\"$place\"" "html/${file:-${2##*/}}"
}

@test "no link is dead" {
	for file in html/*.html; do
		links "$file" | sort -u >all
		[ -s all ] || complain "$file has no links"
		while IFS= read -r link; do
			! dead "$link" "$file" || complain "$file: $link"
		done <all
	done
}

@test "the index leads to every page, and every page to the index" {
	for page in "$root"/man/*.[157]; do
		links html/index.html | grep -qx "$(basename "$page").html"
		links "html/$(basename "$page").html" | grep -qx index.html
	done
	grep -q '^<tr title="[^"]* min-size .*rawlabel' html/index.html # what the box looks through
}

@test "pages and index show the pictures that are there, under their captions" {
	links html/morphrec.1.html | grep -qx coins.png
	links html/index.html | grep -qx coins.png
	[ "$(grep -c '<figcaption>' html/index.html)" -eq "$(grep -c '<img' html/index.html)" ]
	cmp html/coins.png "$root/t/demo/coins.png"
}
