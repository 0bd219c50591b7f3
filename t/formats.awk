# Prints the formats of messages in C sources as extended regular expressions, a line each, for t/man.bats. Adjacent strings
# are one format, and a conversion stands for any text. Formats of less than six letters are left out.

function emit(s, letters) {
	gsub(/\\"/, "\"", s)
	gsub(/%%/, "\001", s)
	gsub(/%[-+ #0-9.*]*(hh|h|ll|l|z|j|t)?[a-zA-Z]/, "\002", s)
	letters = s
	gsub(/[^A-Za-z]/, "", letters)
	if (length(letters) < 6)
		return
	gsub(/[][(){}.*+?^$|\\]/, "\\\\&", s)
	gsub(/\001/, "%", s)
	gsub(/\002/, ".*", s)
	print "(^|: )" s "$"
}

# The strings of a source, joined where nothing but space is between them.
function strings(text, s, begun) {
	while (match(text, /"([^"\\\n]|\\.)*"/)) {
		if (begun && substr(text, 1, RSTART - 1) !~ /^[ \t\n]*$/) {
			emit(s)
			s = ""
		}
		s = s substr(text, RSTART + 1, RLENGTH - 2)
		text = substr(text, RSTART + RLENGTH)
		begun = 1
	}
	if (begun)
		emit(s)
}

FNR == 1 { strings(source); source = "" }
{ source = source $0 "\n" }
END { strings(source) }
