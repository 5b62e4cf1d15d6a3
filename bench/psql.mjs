// What benchmarks share that talk to a server.
import { spawn } from 'child_process';
import { createInterface } from 'readline';

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
// One psql session; run() gives rows and the time that a client sees.
export class Psql {
  constructor(command, settings) {
    this.child = spawn(command[0], [...command.slice(1), '-XqAt', '-F', '\t'],
      { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    this.child.stdin.write(settings.map((setting) => `set ${setting};\n`).join(''));
  }
  async run(sql) {
    const start = performance.now();
    this.child.stdin.write(`${sql.trim().replace(/;$/, '')};\n\\echo --done-- :ERROR\n`);
    const rows = [];
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done) throw new Error(`psql ended at: ${sql}`);
      if (value.startsWith('--done--'))
        return { ms: performance.now() - start, rows: rows.map((row) => row.split('\t')), failed: value.endsWith('true') };
      rows.push(value);
    }
  }
  close() { this.child.stdin.end('\\q\n'); }
}
