# page.awk -v name=NAME -v title=TITLE -v pages="NAME ..." BODY: the page NAME, around BODY, with the headings of BODY as its contents.
# Each name(N) of a page in man/ becomes a link, and in code each program that is called.
BEGIN {
	for (i = split(pages, page, " "); i; i--)
		manual[page[i]] = page[i] != name
	nav = "<a href=\"index.html#all-programs\">Programs</a><a href=\"recipes.html\">Recipes</a><a href=\"gallery.html\">Gallery</a>"
	nav = nav "<a href=\"weir.7.html\">Tutorial</a><a href=\"weir-raw.5.html\">Stream</a><a href=\"cheat.html\">Cheat sheet</a>"
	sub("href=\"" name ".html\"", "& class=\"here\"", nav)
}

function linked(s,    out, word, before, file) {
	while (match(s, /<\/?(code|pre)>|[a-z][a-z-]*(\([1-8]\))?/)) {
		word = substr(s, RSTART, RLENGTH)
		out = out substr(s, 1, RSTART - 1)
		before = substr(out, length(out))
		s = substr(s, RSTART + RLENGTH)
		if (word ~ /^</)
			code = word !~ /\//
		file = word ".1"
		called = code && before ~ /^[ \t(;'>]?$/ && s ~ /^[ )<&]|^$/
		if (gsub(/[()]/, ".", file)) {
			called = s !~ /^<\/a>/
			sub(/\.\.1$/, "", file)
		}
		if (called && manual[file])
			word = "<a href=\"" file ".html\">" word "</a>"
		out = out word
	}
	return out s
}

# A heading of mandoc may go on in the next lines. Its sections are h1 in some versions, and its first and last lines are left out.
/<h[1-4]/ {
	while (!/<\/h[1-4]>/ && (getline more) > 0)
		$0 = $0 more
	gsub(/  +/, " ")
	if (/class="S[hs]"/) {
		level = /class="Sh"/ ? 2 : 3
		gsub(/<h[1-4]/, "<h" level)
		gsub(/<\/h[1-4]/, "</h" level)
	}
	if (/<h[23]/ && match($0, / id="[^"]*"/)) {
		text = $0
		gsub(/<[^>]*>/, "", text)
		if (/class="Sh"/)
			text = substr(text, 1, 1) tolower(substr(text, 2))
		contents = contents "<li" (/<h3/ ? " class=\"sub\"" : "") "><a href=\"#" substr($0, RSTART + 5, RLENGTH - 5) ">" text "</a>\n"
	}
}

/<(table|div) class="(head|foot)"/ { skip = 1 }
!skip { body = body linked($0) "\n" }
/<\/(table|div)>/ { skip = 0 }

END {
	print "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	print "<title>" title "</title><link rel=\"stylesheet\" href=\"style.css\"></head><body>\n<header><a class=\"home\" href=\"index.html\">weir</a><nav>" nav
	print "</nav><div id=\"find\"><input type=\"search\" hidden placeholder=\"option or task\" aria-label=\"find\"><ul></ul></div></header>"
	print "<div class=\"page\"><nav class=\"contents\"><ul>\n" contents "</ul></nav><main class=\"" name "\">\n" body "</main></div><script src=\"find.js\"></script></body></html>"
}
