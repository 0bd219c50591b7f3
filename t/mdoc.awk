# What the tests read off a page. awk -v what=synopsis|examples -f t/mdoc.awk man/NAME.1
#
# synopsis: the SYNOPSIS on one line, as the usage text has it. Known: Nm Op Oo Oc Fl Ar Ns Cm Li, Bk Ek.
# examples: the transcript in QUICK START, TUTORIAL and EXAMPLES, `$ command` and what it prints. A command after the comment
# `.\" not run` is left out, with its output. A command in a comment, `.\" $ command`, makes the files that the reader has.
# A line of QUICK START that begins with # is no output, but says what the next command does.

function add(word) {
	text = text (glue || text == "" || text ~ /\[$/ ? "" : " ") word
	glue = 0
}

function close_one() {
	text = text "]"
	glue = 0
}

function synopsis_line(n, word, i, open, dash) {
	n = split($0, word, " ")
	for (i = 1; i <= n; i++) {
		if (word[i] == "Op") { add("["); open++ }
		else if (word[i] == "Oo") add("[")
		else if (word[i] == "Oc") close_one()
		else if (word[i] == "Ns") glue = 1
		else if (word[i] == "Fl") dash = "-"
		else if (word[i] == "Nm") { add(name); i = n }
		else if (word[i] !~ /^(Ar|Cm|Li|Bk|Ek|-words)$/) { add(dash word[i]); dash = "" }
	}
	while (open-- > 0)
		close_one()
}

function plain(line) {
	gsub(/\\&/, "", line)
	gsub(/\\-/, "-", line)
	gsub(/\\e/, "\\", line)
	return line
}

/^\.Nm / && name == "" { name = $2 }
/^\.Sh / { section = $0; next }

what == "synopsis" && section == ".Sh SYNOPSIS" && sub(/^\./, "") { synopsis_line() }

what == "examples" && section ~ /^\.Sh (QUICK START|TUTORIAL|EXAMPLES)$/ {
	if ($0 == ".\\\" not run") { skip = 1; next }
	if (sub(/^\.\\" \$ /, "$ ")) { print plain($0); next }
	dl = sub(/^\.Dl /, "")
	if (/^\.Bd /) { inside = 1; show = 0 }
	if (/^\.Ed/) inside = 0
	if (/^\./) next
	if (/^\$ /) { show = !skip; skip = 0 }
	if (section == ".Sh QUICK START" && /^# /) show = 0
	if (show && (inside || dl)) print plain($0)
}

END {
	if (what == "synopsis")
		print text
}
