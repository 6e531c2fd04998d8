// Bundles openapi/openapi.yaml into openapi/openapi.json and writes the types of src/base/contract/contract.gen.ts from it.
// The types are not in the repository. With --check it writes nothing, and exits with 1 if openapi.json is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundle, createConfig, lint } from '@redocly/openapi-core';
import openapiTypes, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// The Dutch API Design Rules for a contract, as far as Redocly can check them.
const config = await createConfig({
  extends: ['spec'],
  rules: {
    'no-path-trailing-slash': 'error',
    'paths-kebab-case': 'error',
    'operation-operationId-unique': 'error',
    'operation-4xx-problem-details-rfc7807': 'error',
    'rule/query-keys-camel-case': {
      subject: { type: 'Parameter', property: 'name' },
      where: [{ subject: { type: 'Parameter', property: 'in' }, assertions: { const: 'query' } }],
      assertions: { casing: 'camelCase' },
      message: 'Write a query key in lower camelCase.',
    },
  },
});

// The key of a callback is an expression, not a path.
const isOfCallback = ({ ruleId, message }) => ruleId === 'paths-kebab-case' && message.startsWith('`{$');
const problems = (await lint({ ref: here('openapi.yaml'), config })).filter((problem) => !isOfCallback(problem));
for (const problem of problems) {
  console.error(`${problem.severity}: ${problem.message} (${problem.location[0]?.pointer})`);
}
if (problems.some((problem) => problem.severity === 'error')) process.exit(1);

const { bundle: bundled } = await bundle({ ref: here('openapi.yaml'), config });
const { paths, components, info, servers } = bundled.parsed;
if (servers[0].url !== `/v${info.version.split('.')[0]}`) {
  throw new Error(`info.version ${info.version} has another major version than ${servers[0].url}.`);
}
const referTo = (name) => [
  name,
  { $ref: `#/components/headers/${name.replace('Content-Language', 'ContentLanguage')}` },
];
const ofEveryResponse = ['API-Version', 'X-Request-Id'];
for (const { responses = {} } of [components, ...Object.values(paths).flatMap(Object.values)]) {
  for (const response of Object.values(responses)) {
    if (response.$ref) continue;
    const ofProblems = response.content?.['application/problem+json'] ? ['Content-Language'] : [];
    response.headers = {
      ...response.headers,
      ...Object.fromEntries([...ofProblems, ...ofEveryResponse].map(referTo)),
    };
  }
}
for (const operation of Object.values(paths).flatMap(Object.values)) {
  if (operation.deprecated !== true) continue;
  const { operationId, 'x-deprecated-since': since, 'x-sunset': sunset = since } = operation;
  const isDate = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  // RFC 9745 section 4.
  if (!isDate(since) || !isDate(sunset) || sunset < since) {
    throw new Error(`${operationId} is deprecated: it needs x-deprecated-since, and x-sunset must not be earlier.`);
  }
}
/** An optional member may also be `undefined`, which JSON leaves out. A request body stays: it is there or not. */
const isOptionalMember = (node) =>
  ts.isPropertySignature(node) &&
  node.questionToken !== undefined &&
  node.type.kind !== ts.SyntaxKind.NeverKeyword &&
  node.name.text !== 'requestBody';
const withUndefined = (context) =>
  function visit(node) {
    const visited = ts.visitEachChild(node, visit, context);
    if (!isOptionalMember(visited)) return visited;
    const { modifiers, name, questionToken, type } = visited;
    const either = ts.factory.createUnionTypeNode([
      type,
      ts.factory.createKeywordTypeNode(ts.SyntaxKind.UndefinedKeyword),
    ]);
    return ts.factory.updatePropertySignature(visited, modifiers, name, questionToken, either);
  };
/** A value of a response may be one that a later version adds. */
const openEnum = ({ 'x-extensible-enum': values }) => {
  if (values === undefined) return undefined;
  const literals = values.map((value) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(value)));
  return ts.factory.createTypeReferenceNode('Open', [ts.factory.createUnionTypeNode(literals)]);
};
const nodes = await openapiTypes(structuredClone(bundled.parsed), { alphabetize: false, transform: openEnum });
const types = astToString(ts.transform(nodes, [withUndefined]).transformed);
// The registry writes these values only. The packages of the kits read those of later registries, too: see pack.mjs.
const open = 'export type Open<Known extends string> = Known;';
const published = here('openapi.json');
const outputs = new Map([
  [published, JSON.stringify(bundled.parsed, null, 2) + '\n'],
  [
    here('../src/base/contract/contract.gen.ts'),
    `// Written by openapi/generate.mjs from openapi/openapi.yaml.\n\nexport const apiVersion = '${info.version}';\n\n${open}\n\n${types}`,
  ],
]);

for (const [path, content] of outputs) {
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present === content) continue;
  if (process.argv.includes('--check')) {
    if (path !== published) continue;
    console.error(`${path} is out of date: run npm run build`);
    process.exitCode = 1;
  } else {
    await writeFile(path, content);
  }
}
