// Checks types, and lints. The rules that need types ask the programs whose types were checked, so that each type is found
// once: it takes two thirds of the time of `npm run types` and ESLint.
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import ts from 'typescript';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

function report(text) {
  console.error(text);
  process.exitCode = 1;
}

/** As `tsc -p` checks it. */
function check(path) {
  const onUnRecoverableConfigFileDiagnostic = ({ messageText }) => report(messageText);
  const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(
    path,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic },
  );
  // ESLint goes from a node to its parent.
  const host = ts.createCompilerHost(options, true);
  const program = ts.createProgram({ rootNames: fileNames, options, host, configFileParsingDiagnostics: errors });
  const diagnostics = ts.getPreEmitDiagnostics(program);
  if (diagnostics.length > 0) report(ts.formatDiagnostics(diagnostics, host));
  return program;
}

const programs = ['test/tsconfig.json', 'src/console/tsconfig.json'].map(check);
const parserOptions = { project: null, programs };
const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts', '**/*.tsx'], languageOptions: { parserOptions } } });
const problems = await (await eslint.loadFormatter()).format(await eslint.lintFiles('.'));
if (problems !== '') report(problems);
