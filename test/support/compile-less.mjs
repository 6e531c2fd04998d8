import { setFlagsFromString } from 'node:v8';

// Each file has modules of its own, and is done before it pays that V8 optimizes them, which takes a fifth of the
// processors' time otherwise. So that waits for what is really hot, seven times as long as V8 has it by itself, and the
// embedded Postgres is not optimized at all. Node 20 counts bytes of code that was run, later versions count calls.
const optimizeLater =
  Number.parseInt(process.versions.node) < 22
    ? ['--interrupt-budget=500000']
    : ['--invocation-count-for-maglev=2800', '--invocation-count-for-turbofan=21000'];

for (const flag of [...optimizeLater, '--liftoff-only']) setFlagsFromString(flag);
