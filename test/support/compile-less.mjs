import { setFlagsFromString } from 'node:v8';

// Each file has modules of its own, and is done before it pays that V8 optimizes them, which takes a fifth of the
// processors' time otherwise. So that waits for what is really hot, and the embedded Postgres is not optimized at all.
setFlagsFromString('--interrupt-budget=500000');
setFlagsFromString('--liftoff-only');
