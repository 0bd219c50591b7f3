load lib

# rawtonpy: items as NumPy arrays.

@test "all types come back, axes in their order" {
	for type in char uchar short ushort int uint int64 uint64 float double; do
		gen --type=$type values 3x2x2 {1..12} >a
		rawtonpy a >a.npy
		diff <(rawinfo a | grep -e ^type -e ^sizes) <(rawinfo a.npy | grep -e ^type -e ^sizes)
		cmp <(rawtotext a) <(rawtotext a.npy)
	done
}

@test "complex items are complex arrays" {
	item float '2 3' 'kinds: complex domain' -- 1 2 3 4 5 6 >a
	rawtonpy a >a.npy
	grep -a "'<c8'.*(3,)" a.npy
	rawinfo a.npy | grep -x 'kinds: complex domain'
	cmp <(rawtotext a) <(rawtotext a.npy)
}

@test "NumPy loads it" {
	/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy is not installed"
	gen --type=ushort values 3x2 1 2 3 4 5 65535 | rawtonpy >a.npy
	pgm 2 1 9 7 8 | rawtonpy >>a.npy
	same <(/usr/bin/python3 -c '
import numpy
f = open("a.npy", "rb")
print(numpy.load(f).tolist(), numpy.load(f).tolist())') '[[1, 2, 3], [4, 5, 65535]] [[7, 8]]'
}
