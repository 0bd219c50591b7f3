# radon on a real gather, which is no part of the project: WEIR_SEISMIC names the directory that holds gom_cdp_nmo.su, a
# CMP of the Gulf of Mexico after normal moveout (SeismicLab). All is skipped without it. t/check_radon_lsq.c shows the same
# behaviour on made gathers.
load lib

setup() {
	scratch
	[ -n "${WEIR_SEISMIC-}" ] || skip 'WEIR_SEISMIC names no directory'
	sutoraw "$WEIR_SEISMIC/gom_cdp_nmo.su" >gom.nrrd
}

curves='-X 15993 --quiet'

# decibels A B: the energy of A by that of B, both lists of numbers, one a line.
decibels() {
	paste "$1" "$2" | awk '{ a += $1 * $1; b += $2 * $2 } END { print 10 * log(a / b) / log(10) }'
}

column() {
	samples "$1" | tr ' ' '\n'
}

@test "radon: removing multiples takes 3 dB away from a real gather, by any number of curves" {
	column gom.nrrd >in
	for n in 61 181 525; do
		for mode in --lsq --sparse; do
			radon $curves -q -0.3:0.6:$n $mode --mute=0.05 --subtract gom.nrrd >out.nrrd
			column out.nrrd >out
			awk -v db="$(decibels out in)" 'BEGIN { exit !(db < -3) }'
		done
	done
}

# left_out OPTION ...: leaves five traces out in turn, and prints the energy of what their prediction misses, in dB.
left_out() {
	head=$(rawinfo --skip gom.nrrd)
	: >left
	: >were
	for j in 4 22 40 58 76; do
		cp gom.nrrd less
		dd if=/dev/zero of=less bs=7004 count=1 seek=$((head + j * 7004)) oflag=seek_bytes conv=notrunc status=none
		radon $curves "$@" less | radon --model >model
		samples gom.nrrd | sed -n $((j + 1))p | tr ' ' '\n' >is
		samples model | sed -n $((j + 1))p | tr ' ' '\n' | paste is - | awk '{ print $1 - $2 }' >>left
		cat is >>were
	done
	decibels left were
}

@test "radon: a trace of a real gather that is left out is predicted, by any number of curves" {
	while read -r n mode most; do
		awk -v db="$(left_out -q -0.3:0.6:$n $mode)" -v most=$most 'BEGIN { exit !(db < most) }'
	done <<'END'
61 --lsq -8.5
181 --lsq -8.5
525 --lsq -8.5
61 --lsq=auto -8.5
181 --lsq=auto -8.5
61 --sparse -8.4
181 --sparse -8.4
END
}
