// Checks that another engine can skip by what our Parquet files say: statistics, Bloom filters.
// The file is described at write_prune_file() in driver.cpp.

const rowGroups = 10;
const rowsPerGroup = 1000;

async function rows(connection, sql) {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

async function bytesRead(connection, sql) {
  const [plan] = await rows(connection, `explain (analyze, format json) ${sql}`);
  return JSON.parse(plan.explain_value).total_bytes_read;
}

/// Runs all checks; report(name, problem) gets null for a check that passed.
export async function checkPruning(connection, file, report) {
  const equal = (name, actual, expected) =>
    report(name, actual === expected ? null : `${actual} instead of ${expected}`);

  const metadata = await rows(connection, `select * from parquet_metadata('${file}') order by row_group_id, column_id`);
  for (const chunk of metadata) {
    const group = Number(chunk.row_group_id);
    const name = `statistics of ${chunk.path_in_schema}, row group ${group}`;
    const first = group * rowsPerGroup;
    const last = first + rowsPerGroup - 1;
    if (chunk.path_in_schema === 'id')
      equal(name, `${chunk.stats_min_value} ${chunk.stats_max_value}`, `${first} ${last}`);
    if (chunk.path_in_schema === 'number') {
      const min = first % 3 === 0 ? first + 1 : first;
      const max = last % 3 === 0 ? last - 1 : last;
      equal(name, `${Number(chunk.stats_min_value)} ${Number(chunk.stats_max_value)}`, `${min} ${max}`);
    }
    if (chunk.path_in_schema === 'title') {
      const letter = 'abcdefghij'[group];
      const next = 'abcdefghijk'[group + 1];
      equal(name, `${chunk.stats_min_value} ${chunk.stats_max_value}`, `${letter.repeat(64)} ${letter.repeat(63)}${next}`);
      equal(`${name}: exact`, `${chunk.min_is_exact} ${chunk.max_is_exact}`, 'false false');
    }
    equal(`${name}: nulls`, Number(chunk.stats_null_count), 0);
  }

  for (const [column, value, group] of [['id', '5500', 5], ['name', "'name7919'", 0], ['id', '123456', -1], ['name', "'nobody'", -1]]) {
    const probes = await rows(connection, `from parquet_bloom_probe('${file}', '${column}', ${value})`);
    const kept = probes.filter((probe) => !probe.bloom_filter_excludes).map((probe) => Number(probe.row_group_id));
    // A Bloom filter may keep a row group for nothing, but seldom.
    const right = group < 0 || kept.includes(group);
    report(`Bloom filter of ${column} for ${value}`, right && kept.length <= 2 && probes.length === rowGroups ? null : `keeps ${kept}`);
  }

  const all = await bytesRead(connection, `select sum(id), max(title) from '${file}'`);
  const few = await bytesRead(connection, `select sum(id), max(title) from '${file}' where id between 2100 and 2200`);
  report('a range reads one row group', few < all / 5 ? null : `reads ${few} of ${all} bytes`);

  const conditions = [["number = 9998", 1], ["title < repeat('b', 70)", 1000], ["title >= 'j'", 1000],
    ["title > repeat('c', 70) || '2990' and title < 'd'", 9], ["id = 9999", 1], ["name = 'name7919'", 1]];
  for (const [condition, count] of conditions) {
    const [row] = await rows(connection, `select count(*) as n from '${file}' where ${condition}`);
    equal(`rows where ${condition}`, Number(row.n), count);
  }
}
