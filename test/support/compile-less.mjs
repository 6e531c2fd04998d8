import { setFlagsFromString } from 'node:v8';

// A program that ends after a few seconds ends before its optimization by V8 pays off. So V8 optimizes only really hot
// code, after seven times its default threshold, and the embedded Postgres not at all. Node 20 counts bytes of executed
// code, later versions count calls.
const optimizeLater =
  Number.parseInt(process.versions.node) < 22
    ? ['--interrupt-budget=500000']
    : ['--invocation-count-for-maglev=2800', '--invocation-count-for-turbofan=21000'];

for (const flag of [...optimizeLater, '--liftoff-only']) setFlagsFromString(flag);

/** Option of Node for the programs that tests start: they need half the CPU time. */
export const compileLess = `--import=${import.meta.url}`;
