load lib

# Each test goes over all pages; complain() collects what is wrong with them.

mdoc() {
	awk -v what="$1" -f "$root/t/mdoc.awk" "$2"
}

# The pages of programs that this build has.
pages() {
	local page
	for page in "$root"/man/*.1 "$root"/t/*.1; do
		! command -v "$(basename "$page" .1)" >/dev/null || echo "$page"
	done
}

@test "every program has a page" {
	for program in "$B"/*; do
		if [ -f "$program" ] && [ -x "$program" ] && [ ! -e "$root/man/${program##*/}.1" ]; then
			complain "no man/${program##*/}.1"
		fi
	done
}

# The options of every program are in weir(7).
@test "the usage that --help prints is the SYNOPSIS" {
	for page in $(pages); do
		program=$(basename "$page" .1)
		"$program" --help | sed '/^$/q; s/^usage: //' | xargs | sed 's/\[-o FILE\] .* \[--completion\[=SHELL\]\]/[option ...]/' >usage
		diff usage <(mdoc synopsis "$page") >difference || complain "$program" "$(cat difference)"
	done
}

# described PAGE OPTION: the option has an item of its own on the page.
described() {
	grep -qE "^\.It .*Fl -${2#--}( |$)" "$1"
}

# named PAGE OPTION: the page sends the reader to weir(7) for the options of every program, or for this one.
named() {
	grep -qx 'The other options are those of every program; see' "$1" || grep -qE "^\.Fl (. , Fl )?-${2#--}( ,|$)" "$1"
}

@test "every option stands on the page, or its page names it and weir(7) describes it" {
	for page in $(pages); do
		program=$(basename "$page" .1)
		for option in $("$program" --completion | grep -oE -- '--[a-z][a-z0-9-]*'); do
			described "$page" "$option" || { named "$page" "$option" && described "$root/man/weir.7" "$option"; } ||
				complain "$program: $option"
		done
	done
}

@test "the options stand on the page in the order of --help" {
	for page in $(pages); do
		"$(basename "$page" .1)" --help | sed '/^$/q' | grep -oE ' \[?--?[A-Za-z][a-z0-9-]*' | tr -d ' [' >order
		# Of lines such as `-k FILE` and `--grid=GXxGY`, the option alone.
		sed -n 's/^\.It Fl /-/p' "$page" | sed -E 's/^(--?[A-Za-z][a-z0-9-]*).*/\1/' >have
		grep -xFf have order | diff have - >difference || complain "${page##*/}" "$(cat difference)"
	done
}

@test "the big pages begin with three commands" {
	for program in wconv usfft radon morphrec emst dptrace psfmatch; do
		[ "$(sed -n '/^\.Sh QUICK START/,/^\.Sh D/p' "$root/man/$program.1" | grep -c '^\$ ')" -eq 3 ] || complain "$program"
	done
}

@test "the EXAMPLES print what they say, with the programs that are installed" {
	for page in "$root"/man/*.[157] "$root"/t/*.1; do
		mdoc examples "$page" >want
		[ "$(grep -c '^\$ ' want)" -ge 3 ] ||
			complain "${page##*/} has less than three examples that run"
		mkdir "$(basename "$page")"
		(
			cd "$(basename "$page")"
			# The programs of the tests are for the page of the skeleton alone.
			[[ $page == "$root"/t/* ]] || PATH=${PATH//"$B/t:"/}
			while IFS= read -r line; do
				[[ $line == '$ '* ]] || continue
				printf '%s\n' "$line"
				eval "${line#\$ }" 2>&1 </dev/null
			done <../want >../got 3>&-
		) || :
		diff want got >difference || complain "${page##*/}:" "$(cat difference)"
	done
}

@test "every page has the sections a reader looks for, in one order; EXIT STATUS and DIAGNOSTICS begin as everywhere" {
	printf '%s\n' NAME SYNOPSIS 'QUICK START' DESCRIPTION ENVIRONMENT 'EXIT STATUS' EXAMPLES DIAGNOSTICS METHOD PERFORMANCE 'SEE ALSO' HISTORY CAVEATS >order
	for page in "$root"/man/*.1 "$root"/t/*.1; do
		program=$(basename "$page" .1)
		for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO' HISTORY; do
			grep -qx "\.Sh $section" "$page" || complain "$program has no $section"
		done
		sed -n 's/^\.Sh //p' "$page" | grep -xFf order >have
		grep -xFf have order | diff have - >difference || complain "$program: order of sections:" "$(cat difference)"
		grep -A 1 '^\.Sh EXIT STATUS' "$page" | grep -q '^The status is 0 when all was written, 1 on bad data' ||
			complain "$program: EXIT STATUS"
		# Every line begins with the program, as the message does.
		sed -n '/^\.Sh DIAGNOSTICS/,/^\.Sh [^D]/s/^\.It //p' "$page" | grep -vE "^\"?$program: " >odd || continue
		complain "$program: DIAGNOSTICS:" "$(cat odd)"
	done
}

# references FILE: the pages that a text of mdoc refers to, one a line.
references() {
	grep -oE '\bXr [a-z0-9-]+ [0-9]' "$1" | cut -d ' ' -f 2,3
}

@test "SEE ALSO is in order, and names every page of weir that the page refers to" {
	# weir(7) refers to most of them.
	for page in "$root"/man/*.[15] "$root"/t/*.1; do
		sed -n '/^\.Sh SEE ALSO/,/^\.Sh [^S]/p' "$page" >see
		references see >names
		LC_ALL=C sort -c -k 2,2n -k 1,1 names 2>/dev/null || complain "${page##*/}: SEE ALSO is not in order"
		references "$page" | sort -u | while read -r name section; do
			[ ! -e "$root/man/$name.$section" ] || [ "$name.$section" = "${page##*/}" ] || grep -qx "$name $section" names ||
				complain "${page##*/}: SEE ALSO has no $name($section)"
		done
	done
}

@test "the words of every line of DIAGNOSTICS are those of a message in the sources" {
	find "$root" -path "$root/t" -prune -o -path "$root/build*" -prune -o '(' -name '*.[ch]' -o -name '*.cu' ')' \
		-exec awk -f "$root/t/formats.awk" {} + | LC_ALL=C sort -u >formats
	for page in "$root"/man/*.1; do
		sed -n '/^\.Sh DIAGNOSTICS/,/^\.Sh [^D]/s/^\.It //p' "$page" | sed 's/^"//; s/"$//; s/\\-/-/g' >lines
		LC_ALL=C grep -vE -f formats lines >odd || continue
		complain "${page##*/}" "$(cat odd)"
	done
}

@test "mandoc has nothing to say about the pages" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	mandoc -T lint -W warning "$root"/man/*.[157] "$root"/t/*.1
}
