// Runs the worker of docs/consumers/kit.md, which a bundler finds as `program`. Its key-value stores are in this isolate; `/tick`
// is the timer of the platform.
import program from 'program';

function createStore() {
  const texts = new Map();
  return {
    get: async (name) => texts.get(name) ?? null,
    put: async (name, text) => void texts.set(name, text),
    delete: async (name) => void texts.delete(name),
    list: async () => ({ keys: [...texts.keys()].map((name) => ({ name })) }),
  };
}
const stores = { PENDING: createStore(), RATES: createStore() };

export default {
  async fetch(request, bound, context) {
    const env = { ...bound, ...stores };
    if (new URL(request.url).pathname !== '/tick') return program.fetch(request, env, context);
    await program.scheduled({}, env, context);
    return new Response(JSON.stringify(await stores.PENDING.list()));
  },
};
