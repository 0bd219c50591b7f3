# The scene of t/demo/sense: raw items of doubles.
#	perl sense.pl coils		from head.pgm, 256x256 samples of 16 bits: maps.nrrd, coil0.nrrd ..., lines.nrrd
#	perl sense.pl noise FILE...	the signals of all coils with noise: signals.nrrd, and signal0.nrrd of the first
use strict;
use warnings;

my ($lines, $per, $n, $coils) = (40, 512, 256, 8);
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

# The last bytes of a file, which are its samples.
sub payload {
	my ($path, $code, $bytes) = @_;
	open my $f, '<', $path or die "$path: $!\n";
	binmode $f;
	local $/;
	return unpack $code, substr <$f>, -$bytes;
}

# A coil's sensitivity falls off from its place on a circle around the head, and turns in phase.
sub coil {
	my ($c, $x, $y) = @_;
	my $t = 2 * $pi * $c / $coils;
	my $size = exp(-(($x - .6 * cos $t) ** 2 + ($y - .6 * sin $t) ** 2) / .3);
	my $phase = $t + 2 * $x * cos($t) - 2 * $y * sin($t);
	return ($size * cos $phase, $size * sin $phase);
}

sub coils {
	item('lines.nrrd', '2 ' . $lines * $per, '', [map {
		my ($angle, $r) = ($pi * int($_ / $per) / $lines, ($_ % $per) / $per - .5);
		($r * cos $angle, $r * sin $angle) } 0 .. $lines * $per - 1]);
	my @head = payload('head.pgm', 'n*', 2 * $n ** 2);
	my @maps;
	for my $c (0 .. $coils - 1) {
		my @map = map { coil($c, $_ % $n / $n - .5, int($_ / $n) / $n - .5) } 0 .. $n ** 2 - 1;
		item("coil$c.nrrd", "2 $n $n", 'complex domain domain', [map { $map[$_] * $head[$_ >> 1] } 0 .. $#map]);
		push @maps, @map;
	}
	item('maps.nrrd', "2 $n $n $coils", 'complex domain domain list', \@maps);
}

sub noise {
	my $m = $lines * $per;
	my @all;
	srand 1;
	for my $file (@_) {
		push @all, map { $_ + 300 * sqrt(-2 * log(1 - rand)) * cos(2 * $pi * rand) } payload($file, 'd<*', 16 * $m);
		item('signal0.nrrd', "2 $m", 'complex domain', \@all) if @all == 2 * $m;
	}
	item('signals.nrrd', "2 $m $coils", 'complex domain list', \@all);
}

my %do = (coils => \&coils, noise => \&noise);
my $what = shift;
$do{$what}->(@ARGV);
