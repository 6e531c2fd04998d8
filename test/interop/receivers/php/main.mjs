import { spawn } from 'node:child_process';

/** Starts the server of PHP, whose libraries are beside it, and prints the addresses as one line of JSON. */
const host = `127.0.0.1:${process.env.PORT}`;
const libraries = `${process.cwd()}/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
const server = spawn('usr/bin/php8.2', ['-n', '-S', host], {
  env: { ...process.env, LD_LIBRARY_PATH: libraries },
  stdio: ['ignore', 'ignore', 'pipe'],
});
server.stderr.setEncoding('utf8').on('data', (text) => {
  if (!text.includes('started')) return;
  const addresses = ['plain', 'advised'].map((name) => [name, { PHP: `http://${host}/${name}.php` }]);
  console.log(JSON.stringify(Object.fromEntries(addresses)));
});
server.on('exit', (code) => process.exit(code));
