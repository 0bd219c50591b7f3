load lib

# t/streams holds streams of version 1.0.0, commands, and the text that they wrote then. No later version makes them anew.
@test "streams of version 1.0.0 are read as they were then" {
	cp "$root"/t/streams/* .
	while IFS= read -r command; do
		printf '$ %s\n' "$command"
		eval "$command" || complain "$command: exit $?"
	done <commands >now
	diff text now
}
