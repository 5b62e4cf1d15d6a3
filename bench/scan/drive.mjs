// Full decode of every lineorder column, pg_loom's reader and DuckDB in turn on the same file and with
// the same threads; then the speed of each encoding.
// usage: node drive.mjs BIN_DIRECTORY DATA_DIRECTORY NODE_PREFIX SCALE THREADS REPETITIONS
import { createRequire } from 'module';
import { spawn, execFileSync } from 'child_process';
import { createInterface } from 'readline';
import { existsSync, mkdirSync } from 'fs';

const [bin, data, prefix, scale, threadText, repetitionText] = process.argv.slice(2);
const threads = Number(threadText);
const repetitions = Number(repetitionText);
const require = createRequire(prefix + '/');
const { DuckDBInstance } = require('@duckdb/node-api');

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function generate(directory, args) {
  if (existsSync(directory)) return;
  mkdirSync(directory, { recursive: true });
  execFileSync(`${bin}/loom-datagen`, [...args, '--out', directory], { stdio: ['ignore', 'ignore', 'inherit'] });
}

// pg_loom's side: a process that answers scans.
const scanner = spawn(`${bin}/loom-scan-bench`, [], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: scanner.stdout })[Symbol.asyncIterator]();
async function scan(file, column, count, measure) {
  scanner.stdin.write(`${file}\t${column}\t${count}\t${measure}\n`);
  const answer = await answers.next();
  if (answer.done) throw new Error('loom-scan-bench ended');
  return JSON.parse(answer.value);
}

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run(`set threads = ${threads}`);
async function timed(sql) {
  const start = performance.now();
  const result = await connection.runAndReadAll(sql);
  return { ms: performance.now() - start, rows: result.getRowsJson() };
}

async function compareColumn(file, column, isText) {
  const sql = isText ? `select ${column}, count(*) from '${file}' group by ${column}` : `select sum(${column}) from '${file}'`;
  const measure = isText ? 'groups' : 'sum';
  const ours = [];
  const theirs = [];
  for (let i = 0; i <= repetitions; i += 1) {
    const mine = await scan(file, column, threads, measure);
    const other = await timed(sql);
    const equal = isText
      ? other.rows.length === Object.keys(mine.groups).length && other.rows.every(([word, count]) => mine.groups[word] === Number(count))
      : other.rows[0][0] === mine.sum;
    if (!equal) throw new Error(`${column}: the results differ`);
    if (i > 0) { ours.push(mine.ms); theirs.push(other.ms); }  // the first round warms up
  }
  return [median(ours), median(theirs)];
}

async function compareAll() {
  const directory = `${data}/ssb-${scale}`;
  generate(directory, ['ssb', '--scale', scale]);
  const file = `${directory}/lineorder.parquet`;
  const columns = (await timed(`describe select * from '${file}'`)).rows.map(([name, type]) => [name, type === 'VARCHAR']);
  console.log(`full scan of lineorder, scale ${scale}, snappy, ${threads} threads, median of ${repetitions} (ms)`);
  console.log(`${'column'.padEnd(22)}${'pg_loom'.padStart(9)}${'DuckDB'.padStart(9)}${'ratio'.padStart(8)}`);
  let total = 0;
  let duckTotal = 0;
  for (const [column, isText] of columns) {
    const [ours, theirs] = await compareColumn(file, column, isText);
    total += ours;
    duckTotal += theirs;
    console.log(`${column.padEnd(22)}${ours.toFixed(2).padStart(9)}${theirs.toFixed(2).padStart(9)}${(ours / theirs).toFixed(2).padStart(8)}`);
  }
  console.log(`${'total'.padEnd(22)}${total.toFixed(2).padStart(9)}${duckTotal.toFixed(2).padStart(9)}${(total / duckTotal).toFixed(2).padStart(8)}`);
}

async function measureEncodings() {
  const numbers = ['lo_orderkey', 'lo_custkey', 'lo_extendedprice', 'lo_quantity', 'lo_orderdate'];
  const plans = [
    ['default', 'ssb', 'lineorder', [], numbers, 'sum'],
    ['plain', 'ssb', 'lineorder', ['--encoding', 'plain'], numbers, 'sum'],
    ['delta_binary_packed', 'ssb', 'lineorder', ['--encoding', 'delta_binary_packed'], numbers, 'sum'],
    ['byte_stream_split', 'ssb', 'lineorder', ['--encoding', 'byte_stream_split'], numbers, 'sum'],
    ['byte_stream_split', 'accesslog', 'accesslog', ['--encoding', 'byte_stream_split'], ['duration_ms'], 'sum'],
    ['default', 'accesslog', 'accesslog', [], ['url', 'user_agent'], 'length'],
    ['plain', 'accesslog', 'accesslog', ['--encoding', 'plain'], ['url', 'user_agent'], 'length'],
    ['delta_length_byte_array', 'accesslog', 'accesslog', ['--encoding', 'delta_length_byte_array'], ['url', 'user_agent'], 'length'],
    ['delta_byte_array', 'accesslog', 'accesslog', ['--encoding', 'delta_byte_array'], ['url', 'user_agent'], 'length'],
  ];
  // Texts of a dictionary are views into it: their bytes are counted, not copied.
  console.log(`\ndecoding to plain values, 1 thread, best of ${repetitions} (GB/s of decoded values)`);
  console.log(`${'encoding'.padEnd(26)}${'column'.padEnd(22)}${'uncompressed'.padStart(13)}${'snappy'.padStart(9)}`);
  for (const [encoding, kind, table, args, columns, measure] of plans) {
    const speeds = {};
    for (const codec of ['none', 'snappy']) {
      const directory = `${data}/${kind}-${encoding}-${codec}`;
      generate(directory, [kind, '--rows', '1000000', '--table', table, '--codec', codec, ...args]);
      for (const column of columns) {
        let best = 0;
        for (let i = 0; i <= repetitions; i += 1) {
          const result = await scan(`${directory}/${table}.parquet`, column, 1, measure);
          best = Math.max(best, result.bytes / result.ms / 1e6);
        }
        (speeds[column] ||= {})[codec] = best;
      }
    }
    for (const column of columns)
      console.log(`${encoding.padEnd(26)}${column.padEnd(22)}${speeds[column].none.toFixed(2).padStart(13)}${speeds[column].snappy.toFixed(2).padStart(9)}`);
  }
}

await compareAll();
await measureEncodings();
scanner.stdin.end();
