# A file that is replaced, cut or deleted while it is read: one statement sees one version, the next one
# the new one; truncation is an error, never a crash.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use File::Copy;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('files');
$node->init;
$node->append_conf('postgresql.conf', "max_parallel_workers_per_gather = 2\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');

my $dir = $node->basedir . '/made';
system($ENV{LOOM_TEST_FILES}, $dir) == 0 or die 'no test files';

# Puts a copy of a made file at the table's path under a new name and renames it.
sub put
{
	my ($from, $to) = @_;
	copy("$dir/$from", "$to.new") or die $!;
	rename("$to.new", $to) or die $!;
}

for my $format ('parquet', 'arrow')
{
	my $path = $node->basedir . "/table.$format";
	put("sorted.$format", $path);
	$node->safe_psql('postgres', qq{
		DROP FOREIGN TABLE IF EXISTS t;
		CREATE FOREIGN TABLE t (k bigint, v int) SERVER arrow_fdw OPTIONS (file '$path');});
	is($node->safe_psql('postgres', 'SELECT count(*), sum(k) FROM t'), '50000|1249975000',
		"$format: first version");

	# A cursor keeps its version when another file is renamed over the path.
	my $out = $node->safe_psql('postgres', qq{
		BEGIN;
		DECLARE c CURSOR FOR SELECT k FROM t;
		FETCH 1 FROM c;
		\\! cp '$dir/six.$format' '$path.new' && mv '$path.new' '$path'
		MOVE 49998 FROM c;
		FETCH 5 FROM c;
		COMMIT;});
	is($out, "0\n49999", "$format: a cursor keeps its version");
	my ($code, $stdout, $stderr) = $node->psql('postgres', 'SELECT sum(k) FROM t');
	isnt($code, 0, "$format: the next statement sees the new version");
	like($stderr, qr/no field "k"/, "$format: which has other columns");

	# Cut in place, between two fetches.
	put("sorted.$format", $path);
	($code, $stdout, $stderr) = $node->psql('postgres', qq{
		BEGIN;
		DECLARE c CURSOR FOR SELECT k, v FROM t;
		FETCH 1 FROM c;
		\\! truncate -s 2000 '$path'
		MOVE ALL FROM c;});
	isnt($code, 0, "$format: truncation is an error");
	like($stderr, qr/truncated while it was read/, "$format: which says so");
	is($node->safe_psql('postgres', 'SELECT 1'), '1', "$format: the server lives");
	($code, $stdout, $stderr) = $node->psql('postgres', 'SELECT sum(k) FROM t');
	isnt($code, 0, "$format: the cut file is an error, too");

	# Deleted.
	unlink $path;
	($code, $stdout, $stderr) = $node->psql('postgres', 'SELECT sum(k) FROM t');
	like($stderr, qr/could not open file ".*table\.$format": No such file/, "$format: deletion");

	# Replaced again and again under a session with workers: old or new answer, nothing else.
	put("sorted.$format", $path);
	my $swapper = fork();
	if ($swapper == 0)
	{
		for my $i (1 .. 400)
		{
			put($i % 2 ? "eight.$format" : "sorted.$format", $path);
			select(undef, undef, undef, 0.01);
		}
		exec('true');
	}
	my ($ok, $bad) = (0, 0);
	for (1 .. 60)
	{
		my ($c, $o, $e) = $node->psql('postgres',
			'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
			  . 'SELECT count(*), sum(k) FROM t WHERE k >= 0');
		($c == 0 && ($o eq '50000|1249975000' || $o eq '8|28')) ? $ok++ : $bad++;
		diag("$c $o $e") if $bad && $bad < 3 && $c != 0;
	}
	waitpid($swapper, 0);
	is("$ok $bad", '60 0', "$format: each statement saw one version");
}

$node->stop;
done_testing();
