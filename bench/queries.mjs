// The queries of a benchmark (SSB, TPC-H): pg_loom on Parquet and on Arrow files beside DuckDB (the same
// Parquet files; its own in-memory tables) and PostgreSQL's executor on heap tables, in turn.
// usage: node queries.mjs CONFIG.json    (scripts/bench ssb and tpch write it)
import { createRequire } from 'module';
import { readFileSync, writeFileSync, readdirSync } from 'fs';
import { median, Psql } from './psql.mjs';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(config.nodePrefix + '/');

const geometricMean = (values) => Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);

// Engines print averages with different digits, as 0, 0.000 or 1.5e-7; whole numbers stay as they are.
const normalised = (text) => (/^-?\d+(\.\d+(e[+-]?\d+)?|e[+-]?\d+)$/.test(text) ? String(Number(Number(text).toPrecision(9))) : text);

class DuckDB {
  static async open(settings) {
    const { DuckDBInstance } = require('@duckdb/node-api');
    const session = new DuckDB();
    session.connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const sql of settings) await session.connection.run(sql);
    return session;
  }
  async run(sql) {
    // DuckDB's ~ matches whole strings.
    const own = sql.replace(/(\w+) ~ ('[^']*')/g, 'regexp_matches($1, $2)');
    const start = performance.now();
    const result = await this.connection.runAndReadAll(own);
    return { ms: performance.now() - start, rows: result.getRowsJson().map((row) => row.map((v) => (v === null ? '' : String(v)))) };
  }
  close() {}
}

const { tables } = config;
const loom = (schema, ...settings) => new Psql(config.psql, [...settings, `search_path = ${schema}`, 'pg_loom.enabled = on', `pg_loom.threads = ${config.threads}`,
  "work_mem = '256MB'", "pg_loom.memory = '4GB'", "statement_timeout = '60s'"]);
const sessions = {
  // Opened afresh in each query, as DuckDB opens it.
  'loom parquet': async () => loom('parquet', 'pg_loom.keep_files = 0'),
  'loom arrow': async () => loom('arrow'),
  'duckdb parquet': () => DuckDB.open([`set threads = ${config.threads}`,
    ...tables.map((table) => `create view ${table} as select * from '${config.data}/parquet/${table}.parquet'`)]),
  'duckdb memory': () => DuckDB.open([`set threads = ${config.threads}`,
    ...tables.map((table) => `create table ${table} as select * from '${config.data}/parquet/${table}.parquet'`)]),
  'postgres heap': async () => new Psql(config.psql, [`search_path = ${config.heap}`, 'pg_loom.enabled = off', 'max_parallel_workers_per_gather = 2',
    "work_mem = '256MB'"]),
};
const wanted = config.engines;
const open = {};
for (const engine of wanted) open[engine] = await sessions[engine]();

const queries = readdirSync(config.queries).filter((file) => file.endsWith('.sql')).sort();
const table = [];
for (const file of queries) {
  const sql = readFileSync(`${config.queries}/${file}`, 'utf8');
  const times = Object.fromEntries(wanted.map((engine) => [engine, []]));
  const gaveUp = {};
  let reference = null;
  // PostgreSQL takes seconds a query: fewer rounds are enough for its median. They come after the others', since its
  // tables push their files out of a memory that does not hold all.
  const heapRounds = wanted.includes('postgres heap') ? Math.min(3, config.repetitions) + 1 : 0;
  const others = wanted.filter((engine) => engine !== 'postgres heap');
  const otherRounds = others.length ? config.repetitions + 1 : 0;
  for (let turn = 0; turn < otherRounds + heapRounds; turn += 1) {
    const round = turn < otherRounds ? turn : turn - otherRounds;
    for (const engine of turn < otherRounds ? others : ['postgres heap']) {
      if (gaveUp[engine]) continue;
      const { ms, rows, failed } = await open[engine].run(sql);
      if (failed) {
        // A query that takes longer than the limit counts with the limit, and is not run again.
        gaveUp[engine] = true;
        times[engine].push(ms);
        console.log(`${file}: ${engine} gave up after ${(ms / 1000).toFixed(0)} s`);
        continue;
      }
      const text = JSON.stringify(rows.map((row) => row.map(normalised)));
      reference ??= text;
      if (text !== reference) throw new Error(`${file}: ${engine} gives another answer than ${wanted[0]}`);
      if (round > 0) times[engine].push(ms);  // the first round warms up
    }
  }
  table.push({ query: file.replace('.sql', ''), ...Object.fromEntries(wanted.map((engine) => [engine, median(times[engine])])) });
}
for (const engine of wanted) open[engine].close();

// The table.
const pairs = [['loom parquet', 'duckdb parquet'], ['loom arrow', 'duckdb memory'], ['postgres heap', 'loom parquet'], ['postgres heap', 'loom arrow']]
  .filter((pair) => pair.every((engine) => wanted.includes(engine)));
const heads = [...wanted, ...pairs.map(([a, b]) => `${a} / ${b}`)];
const nameWidth = Math.max(7, ...table.map((row) => row.query.length)) + 1;
const short = (head) => head.replaceAll('loom ', 'L.').replaceAll('duckdb ', 'D.').replaceAll('postgres ', 'P.');
console.log(`${config.title}, scale ${config.scale}, ${config.threads} threads, median of ${config.repetitions} rounds in turn, after one to warm up; ms, then ratios`);
console.log('query'.padEnd(nameWidth) + heads.map((head) => short(head).padStart(20)).join(''));
for (const row of table) {
  for (const [a, b] of pairs) row[`${a} / ${b}`] = row[a] / row[b];
  console.log(row.query.padEnd(nameWidth) + heads.map((head) => row[head].toFixed(head.includes('/') ? 3 : 1).padStart(20)).join(''));
}
const summary = {};
for (const [a, b] of pairs) {
  const ratios = table.map((row) => row[`${a} / ${b}`]);
  summary[`${a} / ${b}`] = { geometric_mean: geometricMean(ratios), median: median(ratios), worst: Math.max(...ratios) };
  const { geometric_mean: mean, median: middle, worst } = summary[`${a} / ${b}`];
  console.log(`${a} / ${b}: geometric mean ${mean.toFixed(3)}, median ${middle.toFixed(3)}, largest ${worst.toFixed(3)}`);
}
for (const engine of wanted) console.log(`sum ${engine}: ${table.reduce((sum, row) => sum + row[engine], 0).toFixed(0)} ms`);
writeFileSync(`${config.out}/${config.name}.json`, JSON.stringify({ ...config, date: new Date().toISOString(), table, summary }, null, 2));

// The chart: bars on a logarithmic scale, one group a query.
const colours = { 'loom parquet': '#1b6ca8', 'loom arrow': '#5fa8d3', 'duckdb parquet': '#e0a100', 'duckdb memory': '#f3d27a', 'postgres heap': '#8a8a8a' };
const barWidth = 10;
const groupWidth = wanted.length * barWidth + 14;
const height = 320;
const width = 70 + table.length * groupWidth;
const low = 1;
const high = Math.max(...table.flatMap((row) => wanted.map((engine) => row[engine]))) * 1.2;
const y = (ms) => height - 40 - (Math.log10(Math.max(ms, low)) / Math.log10(high)) * (height - 80);
let svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="10">\n<rect width="100%" height="100%" fill="white"/>\n`;
for (let ms = 1; ms <= high; ms *= 10) svg += `<line x1="50" x2="${width - 10}" y1="${y(ms)}" y2="${y(ms)}" stroke="#ddd"/><text x="46" y="${y(ms) + 3}" text-anchor="end">${ms} ms</text>\n`;
table.forEach((row, i) => {
  const x = 56 + i * groupWidth;
  wanted.forEach((engine, j) => {
    svg += `<rect x="${x + j * barWidth}" y="${y(row[engine])}" width="${barWidth - 1}" height="${height - 40 - y(row[engine])}" fill="${colours[engine]}"><title>${row.query} ${engine}: ${row[engine].toFixed(1)} ms</title></rect>\n`;
  });
  svg += `<text x="${x + (wanted.length * barWidth) / 2}" y="${height - 26}" text-anchor="middle">${row.query}</text>\n`;
});
wanted.forEach((engine, j) => {
  svg += `<rect x="${56 + j * 130}" y="8" width="10" height="10" fill="${colours[engine]}"/><text x="${70 + j * 130}" y="17">${engine}</text>\n`;
});
writeFileSync(`${config.out}/${config.name}.svg`, `${svg}</svg>\n`);
console.log(`${config.out}/${config.name}.json and .svg written`);
