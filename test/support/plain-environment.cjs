const { ModuleMocker } = require('jest-mock');

const real = { console: globalThis.console, exit: process.exit };

/** Test files share the globals of their worker, so that an Error is an Error in every module. */
module.exports = class PlainEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);

  constructor({ projectConfig }) {
    Object.assign(globalThis, projectConfig.globals);
  }

  getVmContext() {
    return null;
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    globalThis.console = real.console;
    process.exit = real.exit;
  }
};
