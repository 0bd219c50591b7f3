load lib

# The site, `make html`. It is made once for all tests.
setup_file() {
	! command -v mandoc >/dev/null || (cd "$root" && t/html "$BATS_FILE_TMPDIR/html")
}

setup() {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	cd "$BATS_FILE_TMPDIR/html"
}

# links FILE: what it leads to or shows, one a line.
links() {
	grep -oE '(href|src)="[^"$]*"|^\["[^"]*"' "$1" | sed 's/^[^"]*"//; s/"$//'
}

# dead LINK FILE: the link of that file leads to no file or place of ours, or outside but not to a manual page.
dead() {
	local file=${1%%#*} place=${1#"${1%%#*}"}
	case $1 in
	https://manpages.debian.org/[a-z]*.[1-8]) return 1 ;;
	*://* | /* | *..*) return 0 ;;
	esac
	! grep -qsF "${place:+id=\"${place#?}\"}" "${file:-$2}"
}

@test "no link is dead, and nothing is requested from another host" {
	for file in *.html find.js; do
		links "$file" | sort -u >../all
		[ -s ../all ] || complain "$file has no links"
		while IFS= read -r link; do
			! dead "$link" "$file" || complain "$file: $link"
		done <../all
	done
	run -1 grep -E '<(img|script|link|form|iframe)[^>]*="[^"]*:|(url|fetch|import)\(|@import' ./*.html find.js style.css
}

@test "the index has the groups of weir, and leads to every page; every page leads to it" {
	weir | sed -n 's/weir \([a-z]\)/weir-\1/; s/^  \([^ ]*\) .*/\1/p; s/:$//p' >../groups
	sed -nE 's/^<section><h3[^>]*>(.*)<\/h3>.*/\1/p; s/^<tr><td><a href="([a-z-]*)\.1\.html">.*/\1/p' index.html |
		grep -xFf ../groups | diff ../groups - # of the programs that are built here
	for page in "$root"/man/*.[157]; do
		links index.html | grep -qx "$(basename "$page").html"
		links "$(basename "$page").html" | grep -qx index.html
	done
}

@test "pictures stand on their page and in the gallery with the commands that made them; recipes are those of weir help" {
	links morphrec.1.html | grep -qx coins.png
	[ "$(sed 's/<[^>]*>//g' gallery.html | grep -cxF 'rawlabel --to=csv found.pgm &gt;coins.csv')" -eq 2 ] # also in the script
	[ "$(grep -c '^<pre>$' gallery.html)" -eq "$(grep -cE '^<(figure|details)>' gallery.html)" ]
	weir help count objects | sed -n '1s/^type: //p' | sed 's/>/\&gt;/' | grep -qxFf - <(sed 's/.*<pre>//; s/<[^>]*>//g' recipes.html)
}
