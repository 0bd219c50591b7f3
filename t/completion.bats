load lib

# What the shells propose for a command line, from --completion of each program.
prepare() {
	mkdir files functions
	: >files/one.pgm
	: >'files/two words.pgm'
}

# The programs of this build, one a line.
programs() {
	local page
	for page in "$root"/man/*.1; do
		! command -v "$(basename "$page" .1)" >/dev/null || basename "$page" .1
	done
}

# bash_proposes WORD...: what bash proposes for the last word of this command line, one a line. Where bash is interactive,
# = is a word of its own.
bash_proposes() {
	(
		cd files
		compopt() { :; } # it wants a line that is being edited
		eval "$("$1" --completion=bash)"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		"_weir_$1" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort
	)
}

fish_proposes() {
	local program=${1%% *}
	(
		cd files
		"$program" --completion=fish >../functions/it.fish
		HOME=$BATS_TEST_TMPDIR fish --no-config -c "source ../functions/it.fish; complete -C '$1'" | cut -f 1 | sort
	)
}

# The terminal ends its lines with a carriage return.
zsh_proposes() {
	(
		cd files
		timeout 60 zsh -f "$root/t/proposals.zsh" "${1%% *}" "$1" | tr -d '\r' | sort -u
		rm -r functions
	)
}

is() {
	diff - <(printf '%s' "${1:+$1$'\n'}")
}

@test "bash: words before and behind the sign, files, both, and nothing for a number" {
	both='one.pgm two words.pgm'
	while IFS='|' read -r line want; do
		eval "bash_proposes $line" | paste -sd ' ' | diff - <(echo "$want") || { echo "$line" && false; }
	done <<-END
		rawlabel --to ''|csv geojson labels table wkt
		rawlabel --to =|csv geojson labels table wkt
		rawlabel --to = l|labels
		rawlabel --to l|labels
		rawlabel --to=l|--to=labels
		rawlabel --to = x|
		wconv --kernel = ''|$both
		wconv -k ''|$both
		wconv -k one.pgm tw|two words.pgm
		wconv -o o|one.pgm
		wconv --kernel=o|--kernel=one.pgm
		rawmath 'a-b' a = o|one.pgm
		wconv -t ''|
		wconv --sky = ''|
		wconv --stats o|one.pgm
		wconv --stats = o|one.pgm
		usfft --weights = ''|none one.pgm pipe two words.pgm
		usfft -T ''|1 2 3
		morphrec --connectivity = 1|18
		radon --sparse = |auto
		radon --lsq = a|auto
		rawtopnm --range = |minmax
	END
}

@test "bash: every option of --help is proposed, with a sign where an argument must follow" {
	for program in $(programs); do
		"$program" --help | grep -oE '^  (-.,|   ) --[a-z-]+=?' | grep -oE -e '--[a-z-]+=?' | sort >want
		bash_proposes "$program" --  | diff - want
	done
}

@test "bash: a completion is there when the script has been read; --completion takes bash, zsh or fish" {
	for program in $(programs); do
		bash --norc -c "source <($program --completion); complete -p $program" | grep -qx "complete -F _weir_$program $program"
	done
	fails 2 "--completion: 'csh' is not one of bash|zsh|fish" rawinfo --completion=csh
	rawinfo --completion | diff - <(rawinfo --completion=bash)
}

@test "zsh and fish read the completion of every program" {
	for shell in zsh fish; do
		command -v $shell >/dev/null || continue
		for program in $(programs); do
			"$program" --completion=$shell >script
			HOME=$BATS_TEST_TMPDIR $shell -n script 2>&1 | is ''
		done
	done
}

@test "fish: words, files, numbers and options" {
	command -v fish >/dev/null || skip "fish is not installed"
	fish_proposes 'rawlabel --to=' | paste -sd ' ' | is '--to=csv --to=geojson --to=labels --to=table --to=wkt'
	cd "$BATS_TEST_TMPDIR"
	rawlabel --completion=fish >functions/it.fish
	HOME=$PWD fish --no-config -c "source functions/it.fish; complete -C 'rawlabel --to=t'" | is --to=table
	fish_proposes 'wconv -k o' | is one.pgm
	fish_proposes 'wconv o' | is one.pgm
	fish_proposes 'wconv -t o' | is ''
	fish_proposes 'wconv --cor' | is --correlate
}

@test "zsh: words, files, numbers and options" {
	command -v zsh >/dev/null || skip "zsh is not installed"
	zsh -fc 'zmodload zsh/zpty && zpty inner true' 2>/dev/null || skip "no pseudoterminal here"
	zsh_proposes 'rawlabel --to=' | paste -sd ' ' | is 'csv geojson labels table wkt'
	zsh_proposes 'wconv -k o' | is one.pgm
	zsh_proposes 'wconv -t ' | is ''
	zsh_proposes 'wconv --cor' | is --correlate
}
