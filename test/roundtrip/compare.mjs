// Reads the files that loom-roundtrip wrote, Parquet with DuckDB and Arrow with apache-arrow, and
// compares each row with what it should hold.
// usage: node compare.mjs DIRECTORY NODE_MODULES_PREFIX
import { createRequire } from 'module';
import { readFileSync } from 'fs';
import { makeReader } from './arrow.mjs';
import { checkPruning } from './prune.mjs';

const [directory, prefix] = process.argv.slice(2);
const require = createRequire(prefix + '/');
const { DuckDBInstance } = require('@duckdb/node-api');
const readArrow = makeReader(require('apache-arrow'));

let passed = 0;
let failed = 0;
function check(name, problem) {
  if (problem === null) { passed += 1; return; }
  failed += 1;
  console.log(`FAILED ${name}: ${problem}`);
}

// How a column is read so that its value has the form of the expected JSON.
function expression(column) {
  const name = `"${column.name}"`;
  if (column.type.startsWith('timestamp[ns')) return `epoch_ns(${name})`;
  if (column.type.startsWith('timestamp[us')) return `epoch_us(${name})`;
  if (column.type.startsWith('timestamp[')) return `epoch_ms(${name})`;
  if (column.type.startsWith('date')) return `${name} - DATE '1970-01-01'`;
  if (column.type.startsWith('time[')) return `CAST(${name} AS VARCHAR)`;
  if (column.name === 'uuid') return name;
  if (column.type.startsWith('fixed_list')) return name;
  if (/^(binary|bson|fixed)/.test(column.type)) return `lower(hex(${name}))`;
  return name;
}

// Says where two values differ, or returns null. Numbers are expected for floats only.
function difference(expected, actual) {
  if (expected === null || actual === null || actual === undefined)
    return expected === actual ? null : `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  if (typeof expected === 'number')
    return Object.is(Number(actual), expected) ? null : `${actual} instead of ${expected}`;
  if (typeof expected === 'string')
    return String(actual) === expected ? null : `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  const keys = Object.keys(expected);
  if (Object.keys(actual).length !== keys.length) return `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  for (const key of keys) {
    const inner = difference(expected[key], actual[key]);
    if (inner !== null) return `${key}: ${inner}`;
  }
  return null;
}

async function readParquet(connection, test) {
  const columns = test.columns.map(expression).join(', ');
  const result = await connection.runAndReadAll(`select ${columns} from read_parquet('${directory}/${test.name}.parquet')`);
  return result.getRowsJson();
}

async function compareCase(connection, test) {
  const actual = test.format === 'parquet' ? await readParquet(connection, test) : readArrow(`${directory}/${test.name}.arrow`);
  const expected = readFileSync(`${directory}/${test.name}.jsonl`, 'utf8').split('\n').filter((line) => line !== '');
  if (actual.length !== expected.length) return `${actual.length} rows instead of ${expected.length}`;
  for (let row = 0; row < expected.length; row += 1) {
    const wanted = JSON.parse(expected[row]);
    for (let i = 0; i < wanted.length; i += 1) {
      const problem = difference(wanted[i], actual[row][i]);
      if (problem !== null) return `row ${row}, column ${test.columns[i].name}: ${problem}`;
    }
  }
  return null;
}

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run(`set timezone = 'UTC'`);
for (const test of JSON.parse(readFileSync(`${directory}/cases.json`, 'utf8'))) {
  let problem;
  try {
    problem = await compareCase(connection, test);
  } catch (error) {
    problem = error.message;
  }
  check(test.name, problem);
}
await checkPruning(connection, `${directory}/prune.parquet`, check);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
