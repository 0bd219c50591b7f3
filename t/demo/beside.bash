# Loaded by demonstrations.

# side_by_side NAME PICTURE ...: NAME.png, the pictures from left to right with a grey line between them, for README.md.
side_by_side() {
	local name=$1 picture beside=()
	shift
	command -v pnmtopng >/dev/null || return 0
	for picture; do
		[ ${#beside[@]} -eq 0 ] || beside+=(line.pgm)
		beside+=("$picture")
	done
	pgmmake .6 4 "$(pamfile -machine "$1" | awk '{ print $5 }')" >line.pgm
	pnmcat -quiet -lr "${beside[@]}" | pnmtopng -quiet >"$name.png"
	rm line.pgm
}
