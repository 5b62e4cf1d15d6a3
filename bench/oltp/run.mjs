// pgbench's select-only and TPC-B-like scripts in sessions with pg_loom and without, in short turns on one server.
// usage: node run.mjs CONFIG.json    (scripts/bench oltp writes it)
import { execFileSync } from 'child_process';
import { readFileSync, writeFileSync } from 'fs';
import { median } from '../psql.mjs';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));

// CPU seconds of the server's ended backends, as the kernel counts them for the postmaster (proc(5), fields 16 and 17).
const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
function backendSeconds() {
  const stat = readFileSync(`/proc/${config.postmaster}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / ticks;
}

// Transactions a second, and CPU microseconds of the server for each.
function turn(script, library) {
  const before = backendSeconds();
  const text = execFileSync(config.pgbench[0], [...config.pgbench.slice(1), '-b', script, '-T', String(config.seconds)],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, PGOPTIONS: `-c session_preload_libraries=${library}` } });
  const transactions = Number(/actually processed: (\d+)/.exec(text)[1]);
  execFileSync('sleep', ['0.2']);  // for the backends to end
  return { tps: Number(/^tps = ([0-9.]+)/m.exec(text)[1]), cpu: ((backendSeconds() - before) * 1e6) / transactions };
}

const result = {};
for (const script of ['select-only', 'tpcb-like']) {
  const turns = [];
  for (let round = -1; round < config.repetitions; round += 1) {
    // Each of the two comes first in every other round.
    const order = round % 2 === 0 ? ['', 'pg_loom'] : ['pg_loom', ''];
    const pair = {};
    for (const library of order) pair[library === '' ? 'without' : 'with'] = turn(script, library);
    if (round >= 0) turns.push(pair);  // the first round warms up
  }
  const middle = (of) => median(turns.map(of));
  const figures = {
    tps: [middle((t) => t.without.tps), middle((t) => t.with.tps), middle((t) => t.with.tps / t.without.tps)],
    cpu: [middle((t) => t.without.cpu), middle((t) => t.with.cpu), middle((t) => t.with.cpu / t.without.cpu)],
  };
  result[script] = { figures, turns };
  const [tps, cpu] = [figures.tps, figures.cpu];
  console.log(`${script}: ${tps[0].toFixed(0)} tps without pg_loom, ${tps[1].toFixed(0)} with it, median ratio of ${turns.length} pairs ${tps[2].toFixed(3)}; ` +
    `server's CPU ${cpu[0].toFixed(1)} and ${cpu[1].toFixed(1)} us a transaction, ${cpu[2].toFixed(3)}`);
}
writeFileSync(`${config.out}/oltp.json`, JSON.stringify({ ...config, date: new Date().toISOString(), result }, null, 2));
