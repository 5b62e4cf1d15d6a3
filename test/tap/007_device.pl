# Parts of queries in the device's process, with the processor in a GPU's place: the same answers, and
# whatever happens to the process, answers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('device');
$node->init;
$node->append_conf('postgresql.conf',
	"shared_preload_libraries = 'pg_loom'\npg_loom.gpud = 'host'\npg_loom.threads = 2");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');
my $dir = PostgreSQL::Test::Utils::tempdir_short();
for my $format ('parquet', 'arrow')
{
	system("$ENV{LOOM_DATAGEN} ssb --scale 0.02 --format $format --out $dir/$format >/dev/null 2>&1") == 0
	  or die 'no data';
	$node->safe_psql('postgres', qq{
		CREATE SCHEMA $format;
		IMPORT FOREIGN SCHEMA "$dir/$format" FROM SERVER arrow_fdw INTO $format;});
}

my %queries = map { my $text = slurp_file($_); $text =~ s/;\s*$//; (m{([^/]+)\.sql$} => $text) }
  glob("$ENV{LOOM_SSB}/*.sql");
is(scalar(keys %queries), 13, 'all queries are here');

sub wait_for_device
{
	for (1 .. 100)
	{
		return 1
		  if $node->safe_psql('postgres', 'SELECT count(*) FROM loom.gpu_devices WHERE problem IS NULL') == 1;
		sleep 0.1;
	}
	return 0;
}

# The process, found by its name and by whose folder it works in.
sub process
{
	my $data = $node->data_dir;
	for my $folder (glob '/proc/[0-9]*')
	{
		my $name = readlink("$folder/exe") // '';
		my $where = readlink("$folder/cwd") // '';
		return $1 if $name =~ m{/loom-gpud$} && $where eq $data && $folder =~ m{(\d+)$};
	}
	return 0;
}

sub answer
{
	my ($set, $query) = @_;
	return $node->safe_psql('postgres', "$set; $query");
}

ok(wait_for_device(), 'the process has started');
is($node->safe_psql('postgres', 'SELECT architecture FROM loom.gpu_devices'), 'host', 'it says what it has');

my ($all, $there) = (0, 0);
for my $format ('parquet', 'arrow')
{
	for my $name (sort keys %queries)
	{
		my $path = "SET search_path = $format";
		my $right = answer("$path; SET pg_loom.device = cpu", $queries{$name});
		is(answer("$path; SET pg_loom.device = gpu", $queries{$name}), $right, "$format $name: same rows");
		my $plan = answer("$path; SET pg_loom.device = gpu", "EXPLAIN (ANALYZE, COSTS OFF) $queries{$name}");
		$all++;
		$there++ if $plan =~ /Device: gpu/;
	}
}
is($there, $all, "$there of $all aggregates ran there");

# The columns that are there now, and how they come and go.
sub cached { return $node->safe_psql('postgres', "SELECT count(*), sum(bytes) > 0 FROM loom.gpu_cache WHERE path LIKE '%/parquet/$_[0].%'"); }
like(cached('lineorder'), qr/^(?:[5-9]|1\d)\|t$/, 'columns of queries are in the cache');
is(cached('lineorder_without'), '0|', 'and no others');
cmp_ok($node->safe_psql('postgres', 'SELECT loom.gpu_evict()'), '>', 0, 'all can go');
is($node->safe_psql('postgres', 'SELECT count(*) FROM loom.gpu_cache'), '0', 'and are gone');
cmp_ok($node->safe_psql('postgres', q{SELECT loom.gpu_load('parquet.date', '{d_year,d_datekey}')}), '>', 0, 'some can be loaded');
is($node->safe_psql('postgres', 'SELECT string_agg("column", \',\' ORDER BY "column") FROM loom.gpu_cache'),
	'd_datekey,d_year', 'those and no others');
cmp_ok($node->safe_psql('postgres', q{SELECT loom.gpu_load('parquet.supplier')}), '>', 0, 'a table can be loaded');
is($node->safe_psql('postgres', q{SELECT loom.gpu_evict('parquet.date') > 0, count(*) FROM loom.gpu_cache WHERE path LIKE '%/supplier.%'}),
	't|7', 'one table goes, another stays');
is(cached('date'), '0|', 'it is gone');
my (undef, undef, $refused) = $node->psql('postgres', q{SELECT loom.gpu_load('parquet.date', '{d_year,other}')});
like($refused, qr/column "other" of relation "parquet.date" does not exist/, 'no such column');
$node->safe_psql('postgres', 'CREATE ROLE nobody; GRANT USAGE ON SCHEMA loom TO nobody');
for my $call ('loom.gpu_evict()', q{loom.gpu_load('pg_class')}, 'loom.gpu_cache()')
{
	(undef, undef, $refused) = $node->psql('postgres', "SET ROLE nobody; SELECT $call");
	like($refused, qr/permission denied for function/, "not for everybody: $call");
}

# auto: the first time the processor answers while columns and kernels come.
system("$ENV{LOOM_DATAGEN} ssb --scale 0.2 --out $dir/large >/dev/null 2>&1") == 0 or die 'no data';
$node->safe_psql('postgres',
	qq{CREATE SCHEMA large; IMPORT FOREIGN SCHEMA "$dir/large" FROM SERVER arrow_fdw INTO large;});
my $auto = 'SET search_path = large; SET pg_loom.device = auto';
my $explain = "EXPLAIN (ANALYZE, COSTS OFF) $queries{'q1.1'}";
my $plain = "EXPLAIN $queries{'q1.1'}";
like(answer($auto, $plain), qr/Device: cpu: columns are not/, 'EXPLAIN says what auto would do');
like(answer('SET search_path = large; SET pg_loom.device = gpu', $plain),
	qr/Device: gpu: aggregate over lineorder, but columns are not on the device yet/, 'and what has to be waited for');
unlike(answer('SET search_path = large; SET pg_loom.device = cpu', $plain), qr/Device/, 'or nothing');
is($node->safe_psql('postgres', q{SELECT count(*) FROM loom.gpu_cache WHERE path LIKE '%/large/%'}), '0', 'and does nothing for it');
like(answer($auto, $explain), qr/Device: cpu: (columns|kernels) are not/, 'auto: not there yet');
my $plan = '';
for (1 .. 200)
{
	$plan = answer($auto, $explain);
	last if $plan =~ /Device: gpu/;
	sleep 0.1;
}
like($plan, qr/Device: gpu/, 'auto: there at last');
like(answer($auto, $plain), qr/Device: gpu: aggregate over lineorder$/m, 'EXPLAIN says so, too');
is(answer($auto, $queries{'q1.1'}),
	answer('SET search_path = large; SET pg_loom.device = cpu', $queries{'q1.1'}), 'auto: same rows');

# A process that dies again and again.
my $gpu = 'SET search_path = parquet; SET pg_loom.device = gpu';
my %right = map { $_ => answer('SET search_path = parquet; SET pg_loom.device = cpu', $queries{$_}) }
  ('q1.1', 'q2.1', 'q3.1', 'q4.1');
my ($wrong, $kills, $runs) = (0, 0, 0);
my $until = time + 10;
while (time < $until)
{
	my $pid = process();
	if ($pid && kill('KILL', $pid)) { $kills++; }
	for my $name (sort keys %right)
	{
		$runs++;
		$wrong++ if answer($gpu, $queries{$name}) ne $right{$name};
	}
}
cmp_ok($kills, '>', 2, "killed $kills times");
is($wrong, 0, "$runs answers meanwhile are right");

# One that stands still.
ok(wait_for_device(), 'it has started again');
my $pid = process();
kill('STOP', $pid);
my $begin = time;
is(answer($gpu, $queries{'q2.1'}), $right{'q2.1'}, 'one that stands still: right');
cmp_ok(time - $begin, '<', 15, 'after a while');
$begin = time;
my ($code, $out, $err) = $node->psql('postgres', "SET statement_timeout = '300ms'; $gpu; $queries{'q2.1'}");
like($err, qr/canceling statement due to statement timeout/, 'a statement that waits can be cancelled');
cmp_ok(time - $begin, '<', 2, 'at once');
kill('CONT', $pid);
is(answer($gpu, $queries{'q2.1'}), $right{'q2.1'}, 'it goes on');

# A file that is replaced: the new rows count.
system("cp -r $dir/parquet $dir/other && $ENV{LOOM_DATAGEN} ssb --scale 0.01 --out $dir/small >/dev/null 2>&1") == 0
  or die 'no data';
$node->safe_psql('postgres',
	qq{CREATE SCHEMA other; IMPORT FOREIGN SCHEMA "$dir/other" FROM SERVER arrow_fdw INTO other;});
my $count = 'SELECT count(*), sum(lo_quantity) FROM lineorder';
answer('SET search_path = other; SET pg_loom.device = gpu', $count);
rename("$dir/small/lineorder.parquet", "$dir/other/lineorder.parquet") or die $!;
is(answer('SET search_path = other; SET pg_loom.device = gpu', $count),
	answer('SET search_path = other; SET pg_loom.device = cpu', $count), 'a replaced file');

# Several devices: each takes some of a large table's files, and answers queries over small ones.
system("$ENV{LOOM_DATAGEN} ssb --scale 0.02 --row-group-size 20000 --files 4 --out $dir/parts >/dev/null 2>&1") == 0
  or die 'no data';
$node->safe_psql('postgres',
	qq{CREATE SCHEMA parts; IMPORT FOREIGN SCHEMA "$dir/parquet" LIMIT TO (lineorder) FROM SERVER arrow_fdw INTO parts;
	ALTER FOREIGN TABLE parts.lineorder OPTIONS (DROP file, ADD dir '$dir/parts/lineorder');
	ALTER SYSTEM SET pg_loom.gpu_copies = 2;});
$node->reload;
my $devices = 0;
for (1 .. 200)
{
	$devices = $node->safe_psql('postgres', 'SELECT count(*) FROM loom.gpu_devices WHERE problem IS NULL');
	last if $devices == 2;
	sleep 0.1;
}
is($devices, 2, 'a process with two devices');
for my $name ('q1.1', 'q2.1', 'q4.1')
{
	is(answer('SET search_path = parts, parquet; SET pg_loom.device = gpu', $queries{$name}),
		$right{$name}, "$name by two devices");
}
is( $node->safe_psql('postgres',
		q{SELECT count(DISTINCT device), count(DISTINCT path), count(DISTINCT (device, path)) FROM loom.gpu_cache WHERE path LIKE '%/parts/lineorder/%'}),
	'2|2|2', 'each file is on one of them');

# A host without a GPU: the view says so, and there is no warning.
SKIP:
{
	skip 'this host has a GPU', 2 if -e '/dev/nvidiactl';
	$node->safe_psql('postgres', "ALTER SYSTEM SET pg_loom.gpud = 'auto'");
	$node->reload;
	my $problem = '';
	for (1 .. 100)
	{
		$problem = $node->safe_psql('postgres', 'SELECT problem FROM loom.gpu_devices');
		last if $problem =~ /cuda/i;
		sleep 0.1;
	}
	like($problem, qr/cuda/i, 'the view says that there is no GPU');
	unlike(slurp_file($node->logfile), qr/WARNING/, 'no warning');
}

# Without it.
$node->safe_psql('postgres', "ALTER SYSTEM SET pg_loom.gpud = 'off'");
$node->reload;
for (1 .. 100) { last unless process(); sleep 0.1; }
is(process(), 0, 'it ends when the configuration says so');
isnt($node->safe_psql('postgres', 'SELECT problem FROM loom.gpu_devices'), '', 'the view says that there is none');
is(answer($gpu, $queries{'q2.1'}), $right{'q2.1'}, 'the processor answers');
$node->stop;
done_testing();
