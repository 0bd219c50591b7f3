load lib

# What `make install` puts, and `make uninstall` takes away.
prepare() {
	to=$BATS_TEST_TMPDIR/to
	programs=("$B/rawinfo" "$B/wconv")
}

@test "programs, completions and pages are installed under the prefix of their names" {
	(cd "$root" && t/install "$B" "$to" weir- "${programs[@]}")
	(cd "$to" && find . -type f | sort) | diff - <(cat <<-'END'
		./bin/weir-rawinfo
		./bin/weir-wconv
		./share/bash-completion/completions/weir-rawinfo
		./share/bash-completion/completions/weir-wconv
		./share/doc/weir/LICENSE
		./share/doc/weir/README.md
		./share/fish/vendor_completions.d/weir-rawinfo.fish
		./share/fish/vendor_completions.d/weir-wconv.fish
		./share/man/man1/weir-changes.1
		./share/man/man1/weir-rawinfo.1
		./share/man/man1/weir-sources.1
		./share/man/man1/weir-wconv.1
		./share/man/man5/weir-raw.5
		./share/man/man7/weir.7
		./share/zsh/site-functions/_weir-rawinfo
		./share/zsh/site-functions/_weir-wconv
	END
	)
	grep -qx 'complete -F _weir_weir-wconv weir-wconv' "$to/share/bash-completion/completions/weir-wconv"
	"$to/bin/weir-wconv" --version | grep weir
	[ "$(stat -c %s "$to/bin/weir-wconv")" -lt "$(stat -c %s "$B/wconv")" ] # without symbols
}

@test "programs that do not run here are installed, their completions by a build that does" {
	mkdir foreign
	echo '#!/no/such/machine' | tee foreign/rawinfo >foreign/wconv
	chmod +x foreign/*
	there=("$PWD/foreign/rawinfo" "$PWD/foreign/wconv")
	(cd "$root" && t/install "$PWD/foreign" "$to" '' "${there[@]}" 2>"$to.said")
	grep -q 'rawinfo does not run here; NATIVE=' "$to.said"
	cmp foreign/rawinfo "$to/bin/rawinfo"
	[ ! -e "$to/share/bash-completion" ]
	(cd "$root" && NATIVE=$B t/install "$PWD/foreign" "$to" '' "${there[@]}")
	"$B/wconv" --completion=bash | cmp - "$to/share/bash-completion/completions/wconv"
}

@test "uninstalling leaves what others have put there, and nothing else" {
	mkdir -p "$to/share/man/man1"
	: >"$to/share/man/man1/other.1"
	(cd "$root" && t/install "$B" "$to" '' "${programs[@]}" && t/install -u "$to" '' "${programs[@]}")
	(cd "$to" && find . -type f) | diff - <(echo ./share/man/man1/other.1)
	[ ! -e "$to/bin" ]
}

@test "the sources as one file: the same commit gives the same bytes, and all that is tracked" {
	command -v git >/dev/null && git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "no clone of the repository"
	(cd "$root" && t/dist "$to/a" 1 2>/dev/null && t/dist "$to/b" 1 2>/dev/null)
	cmp "$to/a/weir-1.tar.gz" "$to/b/weir-1.tar.gz"
	tar -tzf "$to/a/weir-1.tar.gz" | sed -n 's,^weir-1/,,; /[^/]$/p' | sort | diff - <(git -C "$root" ls-tree -r --name-only HEAD | sort)
}
