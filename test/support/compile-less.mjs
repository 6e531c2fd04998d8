import { setFlagsFromString } from 'node:v8';

// Each file has modules of its own, and is done before what V8's optimizing compilers made of them pays: a fifth of
// all time was theirs. They wait for what is really hot, and leave the embedded Postgres to the first compiler.
setFlagsFromString('--interrupt-budget=500000');
setFlagsFromString('--liftoff-only');
