// What pg_loom costs or gains by the size of a query: the same statements over a file table with the
// engine and without it, and over an ordinary table, in turn.
// usage: node run.mjs CONFIG.json    (scripts/bench cost writes it: psql, sizes, repetitions, out)
import { readFileSync, writeFileSync } from 'fs';
import { median, Psql } from '../psql.mjs';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const queries = {
  sum: 'SELECT sum(lo_revenue) FROM lineorder WHERE lo_discount BETWEEN 1 AND 3',
  groups: 'SELECT lo_orderpriority, count(*), sum(lo_revenue) FROM lineorder GROUP BY lo_orderpriority',
  join: 'SELECT d_year, sum(lo_revenue) FROM lineorder JOIN public.date ON lo_orderdate = d_datekey GROUP BY d_year',
  point: 'SELECT lo_linenumber, lo_revenue FROM lineorder WHERE lo_orderkey = 7',
  top: 'SELECT lo_orderkey, lo_revenue FROM lineorder ORDER BY lo_revenue DESC, lo_orderkey LIMIT 10',
};
const engines = { on: ['file', 'on'], off: ['file', 'off'], heap: ['heap', 'off'] };

const table = [];
for (const size of config.sizes) {
  const sessions = {};
  for (const [name, [schema, enabled]] of Object.entries(engines))
    sessions[name] = new Psql(config.psql, [`search_path = ${schema}_${size}`, `pg_loom.enabled = ${enabled}`]);
  // Large tables take seconds without the engine.
  const rounds = size >= 1e6 ? 5 : config.repetitions;
  for (const [query, sql] of Object.entries(queries)) {
    const times = Object.fromEntries(Object.keys(engines).map((name) => [name, []]));
    for (let round = 0; round <= rounds; round += 1) {
      let reference = null;
      for (const name of Object.keys(engines)) {
        const { ms, rows, failed } = await sessions[name].run(sql);
        if (failed) throw new Error(`${query} over ${size} rows failed: ${name}`);
        const text = JSON.stringify(rows.map(String).sort());
        reference ??= text;
        if (text !== reference) throw new Error(`${query} over ${size} rows: ${name} gives another answer`);
        if (round > 0) times[name].push(ms);
      }
    }
    const row = { rows: size, query };
    for (const name of Object.keys(engines)) row[name] = median(times[name]);
    table.push(row);
  }
  for (const session of Object.values(sessions)) session.close();
}

console.log('ms at the client, medians in turn; on and off: a Parquet table with the engine and without; heap: an ordinary table');
console.log(['rows', 'query', 'on', 'off', 'heap', 'on - off', 'on - heap'].map((head) => head.padStart(11)).join(''));
for (const row of table) {
  const numbers = [row.on, row.off, row.heap, row.on - row.off, row.on - row.heap];
  console.log(String(row.rows).padStart(11) + row.query.padStart(11) + numbers.map((ms) => ms.toFixed(2).padStart(11)).join(''));
}
for (const other of ['off', 'heap']) {
  const worst = table.reduce((a, b) => (b.on - b[other] > a.on - a[other] ? b : a));
  console.log(`most lost against ${other}: ${(worst.on - worst[other]).toFixed(2)} ms (${worst.query}, ${worst.rows} rows)`);
}
writeFileSync(`${config.out}/cost.json`, JSON.stringify({ ...config, date: new Date().toISOString(), table }, null, 2));
