# Cancelling at any moment: the statement ends at once with 57014, and the session goes on.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pg_loom');
my $dir = $node->basedir . '/made';
system($ENV{LOOM_TEST_FILES}, $dir) == 0 or die 'no test files';
$node->safe_psql('postgres', qq{
	IMPORT FOREIGN SCHEMA p FROM SERVER arrow_fdw INTO public OPTIONS (file '$dir/sorted.parquet');
	IMPORT FOREIGN SCHEMA a FROM SERVER arrow_fdw INTO public OPTIONS (file '$dir/sorted.arrow');});

for my $table ('p', 'a')
{
	my ($cancelled, $slow) = (0, 0);
	for my $ms (1, 2, 5, 10, 20, 50, 100, 200, 500)
	{
		my $start = time();
		my ($code, $out, $err) = $node->psql('postgres',
			"SET statement_timeout = '${ms}ms'; SELECT count(*) FROM $table x, $table y WHERE x.k + y.k < 0");
		$cancelled++ if $code != 0 && $err =~ /canceling statement due to statement timeout/;
		$slow++ if time() - $start > $ms / 1000 + 1.5;
	}
	is($cancelled, 9, "$table: every statement was cancelled");
	is($slow, 0, "$table: within about a second");

	# Inside a subtransaction, and the session goes on with a right answer.
	my $out = $node->safe_psql('postgres', qq{
		SET statement_timeout = '50ms';
		DO \$\$ BEGIN
			PERFORM count(*) FROM $table x, $table y WHERE x.k + y.k < 0;
		EXCEPTION WHEN query_canceled THEN
			RAISE NOTICE 'caught';
		END \$\$;
		SET statement_timeout = 0;
		SELECT sum(k) FROM $table;});
	is($out, '1249975000', "$table: the session goes on");
}

# Workers go with their leader, and terminated sessions leave nothing.
$node->safe_psql('postgres', q{ALTER FOREIGN TABLE p OPTIONS (ADD parallel_workers '2')});
my ($code, $out, $err) = $node->psql('postgres', q{
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET statement_timeout = '300ms';
	SELECT count(*) FROM p x WHERE (SELECT count(*) FROM a y WHERE y.k < x.k) >= 0});
like($err, qr/statement timeout/, 'a parallel scan is cancelled');
$node->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'})
  or die 'workers stay';
is($node->safe_psql('postgres', 'SELECT count(*) FROM p'), '50000', 'and the server lives');

$node->stop;
done_testing();
