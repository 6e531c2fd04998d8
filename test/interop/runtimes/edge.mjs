// Runs the worker of docs/consumers/kit.md, which a bundler finds as `program`, as an edge function of Vercel.
import program from 'program';

globalThis.addEventListener('fetch', (event) => event.respondWith(program.fetch(event.request, {}, event)));
