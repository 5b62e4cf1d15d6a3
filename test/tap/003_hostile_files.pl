# Damaged files end in errors, also under a small memory limit: valid files cut at 20 places and with 100
# single bits turned, through import, ANALYZE and SELECT.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hostile');
$node->init;
$node->append_conf('postgresql.conf', "restart_after_crash = off\nstatement_timeout = '20s'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');
my $dir = $node->basedir . '/made';
system($ENV{LOOM_TEST_FILES}, $dir) == 0 or die 'no test files';
my $bad = $node->basedir . '/bad';
mkdir $bad;
srand(20261201);

for my $name ('texts.parquet', 'texts_bloom.parquet', 'floats.arrow', 'drift/1.parquet', 'six.arrow')
{
	my $whole = slurp_file("$dir/$name");
	my @versions = map { substr($whole, 0, int(length($whole) * $_ / 20)) } (0 .. 19);
	for (1 .. 100)
	{
		my $copy = $whole;
		my $bit = int(rand(8 * length($copy)));
		vec($copy, $bit, 1) ^= 1;
		push @versions, $copy;
	}
	my $sql = "SET pg_loom.scan_memory = '64MB'; SET pg_loom.verify_checksums = on;\n";
	my $n = 0;
	for my $version (@versions)
	{
		my $path = "$bad/" . $n++;
		open(my $file, '>:raw', $path) or die $!;
		print $file $version;
		close $file;
		$sql .= "IMPORT FOREIGN SCHEMA t FROM SERVER arrow_fdw INTO public OPTIONS (file '$path');\n"
		  . "SELECT count(*), md5(string_agg(t::text, '')) FROM t; ANALYZE t;\n"
		  . "SELECT count(*) FROM loom.column_chunks('t'); DROP FOREIGN TABLE IF EXISTS t;\n";
	}
	my ($code, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 0);
	unlike($err, qr/server closed|terminat|internal error|XX000/, "$name: no crash");
	my @errors = ($err =~ /ERROR: +(.*)/g);
	cmp_ok(scalar(grep { /out of memory|statement timeout/ } @errors), '==', 0, "$name: no run away");
	is($node->safe_psql('postgres', 'SELECT 1'), '1', "$name: the server lives");
}

$node->stop;
done_testing();
