# A dump of tables of files, restored elsewhere, gives the same tables: odd names, options, composite types,
# virtual columns and views.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');
my $dir = $node->basedir . '/made';
system($ENV{LOOM_TEST_FILES}, $dir) == 0 or die 'no test files';

my @tables = ('names', 'system_names', 'nested', 'kinds', 'variants', 'twice');
for my $table (@tables)
{
	my $file = -e "$dir/$table.parquet" ? "$table.parquet" : "$table.arrow";
	$node->safe_psql('postgres',
		qq{IMPORT FOREIGN SCHEMA "$table" FROM SERVER arrow_fdw INTO public OPTIONS (file '$dir/$file')});
}
$node->safe_psql('postgres', qq{
	IMPORT FOREIGN SCHEMA "Up""per" FROM SERVER arrow_fdw INTO public
		OPTIONS (dir '$dir/upper', hive_partitioning 'true');
	CREATE VIEW odd AS SELECT "x""y" AS "X Y", "select", "\x{c3}\x{bc}" FROM names WHERE "a b" = 4;
	CREATE TABLE whole (k bigint, v int) PARTITION BY RANGE (k);
	CREATE FOREIGN TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (50000)
		SERVER arrow_fdw OPTIONS (file '$dir/sorted.parquet');
	GRANT SELECT (v) ON part TO pg_monitor;});
push @tables, '"Up""per"', 'odd', 'whole';

my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ], 'restore');

for my $table (@tables)
{
	my $query = "SELECT md5(string_agg(t::text, chr(10) ORDER BY t::text)), count(*) FROM $table t";
	my $rows = $node->safe_psql('postgres', $query);
	unlike($rows, qr/^\|/, "$table has rows");
	is($node->safe_psql('copy', $query), $rows, "$table is the same");
}
my $again = $node->basedir . '/again.sql';
$node->command_ok([ 'pg_dump', '-f', $again, $node->connstr('copy') ], 'pg_dump of the copy');
my $normal = sub { join "\n", grep { !/^\\(un)?restrict/ } split /\n/, slurp_file($_[0]) };
is($normal->($again), $normal->($dump), 'which is the same text');

$node->stop;
done_testing();
