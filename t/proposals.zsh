# zsh -f t/proposals.zsh PROGRAM LINE: what zsh proposes behind LINE, one proposal a line, by the program's completion. An
# interactive zsh in a pseudoterminal completes the line; its compadd prints what it adds.
zmodload zsh/zpty || exit 1
mkdir -p functions
$1 --completion=zsh >functions/_${1:t} || exit 1

zpty inner zsh -f -i
zpty -w inner 'PROMPT=; stty -echo; fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D
compadd () {
	local -a hits
	[[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || builtin compadd -A hits "$@"
	builtin compadd "$@"
	for hit in $hits; do print -r -- "<$hit>"; done
}
say_end () { print -r -- "=e""nd=" }
comppostfuncs=(say_end)
bindkey "^I" complete-word
print "rea""dy"'
while zpty -r inner text && [[ $text != *ready* ]]; do :; done
zpty -n -w inner "$2"$'\t'
while zpty -r inner text; do
	[[ $text != *'<'* ]] || print -r -- ${${text#*'<'}%'>'*}
	[[ $text != *=end=* ]] || break
done
