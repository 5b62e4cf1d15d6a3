# Star Schema Benchmark, scale factor 1: a count reads no data, a sum the bytes of its column only.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('lineorder');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');
my $dir = $node->basedir . '/ssb';
system($ENV{LOOM_DATAGEN}, 'ssb', '--scale', '1', '--table', 'lineorder', '--out', $dir) == 0
  or die 'no data';
$node->safe_psql('postgres',
	qq{IMPORT FOREIGN SCHEMA lineorder FROM SERVER arrow_fdw INTO public OPTIONS (file '$dir/lineorder.parquet')});

# Sums "Data Read" over a plan's nodes.
sub data_read
{
	my ($query, $enabled) = (@_, 'on');
	my $plan = $node->safe_psql('postgres',
		"SET pg_loom.enabled = $enabled; EXPLAIN (ANALYZE, FORMAT JSON) $query");
	my $bytes = 0;
	$bytes += $1 while $plan =~ /"Data Read": (\d+)/g;
	return $bytes;
}

cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM lineorder'), '>', 5_900_000, 'rows');
is(data_read('SELECT count(*) FROM lineorder'), 0, 'count(*) reads no data');
my $revenue = $node->safe_psql('postgres',
	q{SELECT sum(compressed_bytes) FROM loom.column_chunks('lineorder') WHERE "column" = 'lo_revenue'});
my $all = $node->safe_psql('postgres', q{SELECT sum(compressed_bytes) FROM loom.column_chunks('lineorder')});
is(data_read('SELECT sum(lo_revenue) FROM lineorder'), $revenue, 'sum(lo_revenue) reads its column');
cmp_ok($revenue * 4, '<', $all, 'which is a small part of the file');
# The same without the engine.
is(data_read('SELECT sum(lo_revenue) FROM lineorder', 'off'), $revenue, 'as a foreign scan does');
my $columns = $node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT sum(lo_revenue) FROM lineorder');
like($columns, qr/scan lineorder \(lo_revenue\)$/m, 'EXPLAIN names that column only');

$node->stop;
done_testing();
