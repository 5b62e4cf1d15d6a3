# The engine ends at any moment: it leaves no thread and no file behind, and the session goes on.
use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('engine_cancel');
$node->init;
$node->append_conf('postgresql.conf', "pg_loom.threads = 3\nwork_mem = '256MB'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');
# Short, since it becomes an identifier.
my $dir = PostgreSQL::Test::Utils::tempdir_short();
for my $format ('parquet', 'arrow')
{
	system("$ENV{LOOM_DATAGEN} ssb --scale 0.05 --format $format --out $dir/$format >/dev/null 2>&1") == 0
	  or die 'no data';
	$node->safe_psql('postgres', qq{
		CREATE SCHEMA $format;
		IMPORT FOREIGN SCHEMA "$dir/$format" FROM SERVER arrow_fdw INTO $format;});
}

my %queries = (
	'join and group' => q{SELECT c_nation, d_year, sum(lo_revenue), count(DISTINCT lo_partkey)
		FROM lineorder JOIN customer ON lo_custkey = c_custkey JOIN date ON lo_orderdate = d_datekey
		GROUP BY 1, 2},
	'sort' => 'SELECT * FROM (SELECT lo_revenue, lo_orderkey FROM lineorder ORDER BY 1, 2 OFFSET 299000) s',
	'many groups' => 'SELECT count(*) FROM (SELECT lo_orderkey, lo_partkey, sum(lo_tax) FROM lineorder GROUP BY 1, 2) s',
	'pairs' => q{SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_partkey = b.lo_partkey
		WHERE a.lo_quantity < b.lo_quantity});

# Timeouts at moments all over each query; what is left of the session is looked at in the end.
srand(7);
for my $format ('parquet', 'arrow')
{
	for my $name (sort keys %queries)
	{
		like($node->safe_psql('postgres', "SET search_path = $format; EXPLAIN $queries{$name}"),
			qr/LoomScan/, "$format, $name: runs in the engine");
		my $script = "SET search_path = $format;\n$queries{$name} \\g /dev/null\n"
		  . "SELECT 'files ' || count(*) FROM pg_ls_dir('/proc/self/fd');\n";
		for (1 .. 10)
		{
			my $ms = 1 + int(rand(60));
			$script .= "SET statement_timeout = '${ms}ms';\n$queries{$name} \\g /dev/null\n";
		}
		$script .= "SET statement_timeout = 0;\nSELECT 'threads ' || count(*) FROM pg_ls_dir('/proc/self/task');\n"
		  . "SELECT 'files ' || count(*) FROM pg_ls_dir('/proc/self/fd');\n"
		  . "SELECT 'sum ' || sum(lo_revenue) = (SELECT 'sum ' || sum(lo_revenue + 0) FROM lineorder) FROM lineorder;\n";
		my ($code, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0);
		my @files = $out =~ /^files (\d+)$/mg;
		like($out, qr/^threads 1$/m, "$format, $name: no thread is left");
		is($files[1], $files[0], "$format, $name: no file is left open");
		like($out, qr/^t$/m, "$format, $name: the session answers");
		unlike($err, qr/ERROR:  (?!canceling statement due to statement timeout)/,
			"$format, $name: no other error");
	}
}

# A terminated session ends at once, in the middle of its threads' work: a billion pairs, or a function that
# PostgreSQL runs while threads wait for what it returns.
$node->safe_psql('postgres', q{CREATE FUNCTION slow(n bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS
	'BEGIN PERFORM pg_sleep(0.02); RETURN n; END'});
my %ended = (
	pairs => q{SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_suppkey = b.lo_suppkey
		WHERE a.lo_quantity < b.lo_quantity},
	'a function' => q{SELECT sum(slow(lo_orderkey)) FROM lineorder});
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $slowest = 0;
for my $round (1 .. 6)
{
	for my $kind (sort keys %ended)
	{
		my ($out, $err) = ('', '');
		my $session = IPC::Run::start(
			['psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', 'SET search_path = parquet, public',
				'-c', 'SET pg_loom.threads = 4', '-c', "/* to be ended */ $ended{$kind}"],
			\undef, \$out, \$err);
		$node->poll_query_until('postgres',
			q{SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '/* to be ended%'})
			or die 'the query does not start';
		sleep(rand(0.1));
		my $begin = time();
		$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE query LIKE '/* to be ended%'});
		my $took = time() - $begin;
		$slowest = $took if $took > $slowest;
		eval { IPC::Run::finish($session) };
		is($out, '', "a session that is terminated in $kind ends");
	}
}
cmp_ok($slowest, '<', 2, 'soon');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'and the server lives on');

$node->stop;
done_testing();
