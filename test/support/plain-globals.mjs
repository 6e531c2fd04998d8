/**
 * `@jest/globals` for modules that stay loaded: each leads to that of the test file that runs now. plain-runtime.cjs
 * says which these are.
 */
const lead = (name) =>
  new Proxy(() => undefined, {
    apply: (_, self, given) => Reflect.apply(globalThis.assentTestGlobals[name], self, given),
    get: (_, member) => globalThis.assentTestGlobals[name][member],
  });

export const afterAll = lead('afterAll');
export const afterEach = lead('afterEach');
export const beforeAll = lead('beforeAll');
export const beforeEach = lead('beforeEach');
export const describe = lead('describe');
export const expect = lead('expect');
export const jest = lead('jest');
export const test = lead('test');
