# The scene of t/demo/sense and its score. Items are raw: a header as text, then doubles.
#	perl sense.pl scene		phantom, maps of the coils, lines
#	perl sense.pl signals FILE...	the signals of all coils with noise: signals.nrrd, and signal0.nrrd ... each alone
#	perl sense.pl score NAME FILE...	the error of the root of the sum of squares of the files: NAME.nrrd
use strict;
use warnings;

my ($lines, $per, $fine, $n, $coils) = (25, 128, 256, 64, 8);
my $pi = atan2(0, -1);

sub item {
	my ($path, $sizes, $kinds, $data) = @_;
	my $dim = () = $sizes =~ /\d+/g;
	open my $f, '>', $path or die "$path: $!\n";
	binmode $f;
	print $f "NRRD0005\ntype: double\ndimension: $dim\nsizes: $sizes\n";
	print $f "kinds: $kinds\n" if $kinds;
	print $f "endian: little\nencoding: raw\n\n", pack 'd<*', @$data;
	close $f or die "$path: $!\n";
}

# The last count doubles of a file.
sub payload {
	my ($path, $count) = @_;
	open my $f, '<', $path or die "$path: $!\n";
	binmode $f;
	local $/;
	return unpack 'd<*', substr <$f>, -8 * $count;
}

# Shepp and Logan's ellipses: value, half axes, centre, angle.
my @ellipse = (
	[1, .69, .92, 0, 0, 0],            [-.8, .6624, .874, 0, -.0184, 0],
	[-.2, .11, .31, .22, 0, -18],      [-.2, .16, .41, -.22, 0, 18],
	[.1, .21, .25, 0, .35, 0],         [.1, .046, .046, 0, .1, 0],
	[.1, .046, .046, 0, -.1, 0],       [.1, .046, .023, -.08, -.605, 0],
	[.1, .023, .023, 0, -.606, 0],     [.1, .023, .046, .06, -.605, 0]);

# Positions run from -1/2 to 1/2.
sub phantom {
	my ($x, $y) = (2.1 * $_[0], -2.1 * $_[1]);
	my $v = 0;
	for (@ellipse) {
		my ($value, $a, $b, $x0, $y0, $degrees) = @$_;
		my ($c, $s) = (cos($degrees * $pi / 180), sin($degrees * $pi / 180));
		my ($p, $q) = ($x - $x0, $y - $y0);
		my ($along, $across) = ($p * $c + $q * $s, $q * $c - $p * $s);
		$v += $value if ($along / $a) ** 2 + ($across / $b) ** 2 <= 1;
	}
	return $v;
}

# A coil's sensitivity falls off from its place on a circle around the head, and turns in phase.
sub coil {
	my ($c, $x, $y) = @_;
	my $t = 2 * $pi * $c / $coils;
	my $size = exp(-(($x - .6 * cos $t) ** 2 + ($y - .6 * sin $t) ** 2) / .3);
	my $phase = $t + 2 * $x * cos($t) - 2 * $y * sin($t);
	return ($size * cos $phase, $size * sin $phase);
}

# The phantom at n x n pixels: means of its fine pixels around each.
sub truth {
	my ($image) = @_;
	my @share = (.125, .25, .25, .25, .125);
	my @mean;
	for my $i (0 .. $n * $n - 1) {
		my ($x, $y) = ($i % $n * 4 - 2, int($i / $n) * 4 - 2);
		my $v = 0;
		for my $k (0 .. 24) {
			my ($p, $q) = ($x + $k % 5, $y + int($k / 5));
			$v += $share[$k % 5] * $share[$k / 5] * ($image->[$q * $fine + $p] // 0) if $p >= 0 && $q >= 0;
		}
		push @mean, $v;
	}
	return \@mean;
}

sub scene {
	my @at;
	for my $i (0 .. $lines * $per - 1) {
		my ($angle, $r) = ($pi * int($i / $per) / $lines, ($i % $per) / $per - .5);
		push @at, $r * cos $angle, $r * sin $angle;
	}
	item('lines.nrrd', '2 ' . $lines * $per, '', \@at);
	item('fine-lines.nrrd', '2 ' . $lines * $per, '', [map { $_ * $n / $fine } @at]);

	my @image = map { phantom($_ % $fine / $fine - .5, int($_ / $fine) / $fine - .5) } 0 .. $fine ** 2 - 1;
	item('truth.nrrd', "$n $n", '', truth(\@image));
	my @maps;
	for my $c (0 .. $coils - 1) {
		push @maps, coil($c, $_ % $n / $n - .5, int($_ / $n) / $n - .5) for 0 .. $n ** 2 - 1;
		my @seen;
		for my $i (0 .. $fine ** 2 - 1) {
			my $v = $image[$i] * ($n / $fine) ** 2;
			push @seen, map { $v * $_ } coil($c, $i % $fine / $fine - .5, int($i / $fine) / $fine - .5);
		}
		item("coil$c.nrrd", "2 $fine $fine", 'complex domain domain', \@seen);
	}
	item('maps.nrrd', "2 $n $n $coils", 'complex domain domain list', \@maps);
}

sub signals {
	my $m = $lines * $per;
	my @all;
	srand 1;
	for my $c (0 .. $#_) {
		my @v = map { $_ + .5 * sqrt(-2 * log(1 - rand)) * cos(2 * $pi * rand) } payload($_[$c], 2 * $m);
		item("signal$c.nrrd", "2 $m", 'complex domain', \@v);
		push @all, @v;
	}
	item('signals.nrrd', "2 $m $coils", 'complex domain list', \@all);
}

sub score {
	my ($name, @file) = @_;
	my @truth = payload('truth.nrrd', $n * $n);
	my @sum = (0) x @truth;
	for (@file) {
		my @v = payload($_, $n * $n);
		$sum[$_] += $v[$_] ** 2 for 0 .. $#v;
	}
	@sum = map { sqrt } @sum;
	my ($both, $own, $error, $norm) = (0) x 4;
	for (0 .. $#truth) {
		$both += $sum[$_] * $truth[$_];
		$own += $sum[$_] ** 2;
	}
	for (0 .. $#truth) {
		$error += ($both / $own * $sum[$_] - $truth[$_]) ** 2;
		$norm += $truth[$_] ** 2;
	}
	printf "%-10s error %.3f\n", $name, sqrt($error / $norm);
	item("$name.nrrd", "$n $n", '', \@sum);
}

my %do = (scene => \&scene, signals => \&signals, score => \&score);
my $what = shift;
$do{$what}->(@ARGV);
