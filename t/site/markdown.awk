# markdown.awk [-v dir=DIRECTORY/]: the Markdown of our pages, with < and & escaped, as HTML: headings, lists, tables, indented code, bold,
# links, pictures. A line that begins with < is HTML already. A link to a file, from dir, leads to the page that t/html makes of it.
function target(s) {
	if (s ~ /^#|:/)
		return s
	s = dir s
	while (sub(/[^\/]+\/\.\.\//, "", s))
		continue
	sub(/^(\.\/)?(t\/)?/, "", s)
	sub(/^demo\/data$/, "gallery.html#data", s) || sub(/^demo$/, "gallery.html", s) || sub(/^README.md$/, "index.html", s)
	if (sub(/(\/README)?\.md$/, ".html", s)) {
		gsub(/\//, "-", s)
		s = tolower(s)
	}
	sub(/^demo\//, "", s)
	return sub(/^man\//, "", s) ? s ".html" : s
}

function marked(s,    part, link) {
	while (sub(/\*\*/, bold ? "</b>" : "<b>", s))
		bold = !bold
	while (match(s, /!?\[[^]]*\]\([^)]*\)/)) {
		split(substr(s, RSTART, RLENGTH - 1), part, /!?\[|\]\(/)
		link = target(part[3])
		if (substr(s, RSTART, 1) == "!") {
			part[2] = "<img src=\"" link "\" alt=\"" part[2] "\">"
			link = "gallery.html#" substr(link, 1, length(link) - 4)
		}
		s = substr(s, 1, RSTART - 1) "<a href=\"" link "\">" part[2] "</a>" substr(s, RSTART + RLENGTH)
	}
	return s
}

# Nothing in code is markup. A line does not break at the hyphens of options.
function inline(s,    i, n, out, part) {
	n = split(s, part, "`")
	for (i = 2; i <= n; i += 2)
		gsub(/[^ ]*-[^ ]+/, "<span>&</span>", part[i])
	for (i = 1; i <= n; i++)
		out = out (i % 2 ? marked(part[i]) : "<code>" part[i] "</code>")
	return out
}

function flush() {
	if (text != "")
		print (block == "" ? "<p>" : "<li>") inline(text)
	text = ""
}

# The block of this tag goes on, or it begins.
function enter(tag) {
	flush()
	if (tag != block)
		printf "%s%s", (block == "" ? "" : "</" block ">\n"), (tag == "" ? "" : "<" tag ">")
	block = tag
}

/^$/ {
	flush()
	if (block == "table")
		enter("")
	next
}

/^#+ / {
	enter("")
	n = index($0, " ")
	id = tolower(substr($0, n + 1))
	gsub(/[^a-z0-9 _-]/, "", id)
	gsub(/ /, "-", id)
	print "<h" n - 1 " id=\"" id "\">" inline(substr($0, n + 1)) "</h" n - 1 ">"
	next
}

/^\|/ {
	row = block == "table" ? row + 1 : 0
	enter("table")
	gsub(/\\\|/, "\001")
	n = split($0, cell, / *\| */)
	for (i = 2; i < n && row != 1; i++) {
		gsub(/\001/, "|", cell[i])
		print (i == 2 ? "<tr>" : "") (row ? "<td>" : "<th>") inline(cell[i])
	}
	next
}

/^    / && text == "" { enter("pre"); print substr($0, 5); next }
/^(-|[0-9]+\.) / { enter(/^-/ ? "ul" : "ol"); sub(/^[^ ]+ /, ""); text = $0; next }
/^</ { enter(""); print; next }
{
	if (text == "")
		enter("")
	sub(/^ */, "")
	text = text (text == "" ? "" : " ") $0
}
END { enter("") }
