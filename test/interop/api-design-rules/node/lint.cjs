// Prints what Spectral finds in a contract, as JSON: the technical rules of the API Design Rules 2.2.0 of Logius that can be
// seen in one. They are written anew here; the severities and the names are those of its linter.
const { readFileSync } = require('node:fs');
const { Spectral } = require('@stoplight/spectral-core');
const { casing, or, pattern, schema, truthy } = require('@stoplight/spectral-functions');
const { oas } = require('@stoplight/spectral-rulesets');

const error = (message, given, ...then) => ({ severity: 'error', message, given, then });
const matches = (match, field) => ({ function: pattern, functionOptions: { match }, ...(field && { field }) });
const matchesNot = (notMatch, field) => ({ function: pattern, functionOptions: { notMatch }, ...(field && { field }) });
const follows = (own) => ({ function: schema, functionOptions: { schema: own } });

const succeeded = '$..[responses][?(@property && @property.match(/(2|3)\\d\\d/))]';
const failed = '$..[responses][?(@property && @property.match(/(4|5)\\d\\d/))].content';
const problem = '[?(@property=="application/problem+json" || @property=="application/problem+xml")]';
const dates = [
  '$..properties[date,datum]',
  '$..properties[?(@property && @property.match(/((\\w+D)|(_[dD]))((ate)|(atum))/))]',
];
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[\da-zA-Z-]+(\.[\da-zA-Z-]+)*)?(\+[\da-zA-Z-]+(\.[\da-zA-Z-]+)*)?$/;
const path = /^(\/|(\/_[a-z0-9]+|\/(([a-z0-9-]+|{[^}]+})(\/([a-z0-9-.]+|{[^}]+}))*)(\/_[a-z]+)?)\/?)$/;

const ruleset = {
  extends: [[oas, 'off']],
  rules: {
    'oas3-schema': 'error',
    'operation-operationId-unique': 'error',
    'path-params': 'error',
    'openapi-tags-uniqueness': 'error',
    'oas3-valid-media-example': 'error',
    'oas3-valid-schema-example': 'error',
    'oas3-server-variables': 'error',
    'oas3-api-servers': 'error',
    'path-keys-no-trailing-slash': 'error',
    'info-contact': error('There is no contact.', '$', { field: 'info.contact', function: truthy }),
    'nlgov:openapi3': error('The contract is not OpenAPI 3.', "$.['openapi']", matches('^3(.\\d+){1,2}$')),
    'nlgov:openapi-root-exists': error('There is no version of OpenAPI.', '$', { field: 'openapi', function: truthy }),
    'nlgov:missing-version-header': error('A response has no API-Version.', `${succeeded}[headers]`, {
      function: or,
      functionOptions: { properties: ['API-Version', 'Api-Version', 'Api-version', 'api-version', 'API-version'] },
    }),
    'nlgov:missing-header': error('A response has no headers.', succeeded, { field: 'headers', function: truthy }),
    'nlgov:include-major-version-in-uri': error(
      'A server has no version.',
      '$.servers[*]',
      matches('\\/v[\\d+]', 'url'),
    ),
    'nlgov:info-contact-fields-exist': error(
      'The contact needs a mail address, a name and a URL.',
      '$.info.contact',
      follows({ required: ['email', 'name', 'url'] }),
    ),
    'nlgov:http-methods': error(
      'A path has another method.',
      '$.paths[*]',
      matches('^(post|put|get|delete|patch|parameters|servers|summary|description|x-.+)$', '@key'),
    ),
    'nlgov:paths-kebab-case': error(
      'A path is not in kebab-case.',
      '$.paths[?(@property && !@property.match(/\\/openapi\\.(json)|(yaml)/))]~',
      matches(path.source),
    ),
    'nlgov:query-keys-camel-case': error(
      'A query key is not in camelCase.',
      ["$.paths.*.*.parameters[?(@.in=='query')]", "$.components.securitySchemes[?(@.in=='query')]"],
      matches('^\\$?[a-z][a-z\\d]*([A-Z][a-z\\d]*)*$', 'name'),
    ),
    'nlgov:use-problem-schema': error(
      'An error is no problem of RFC 9457.',
      failed,
      follows({ anyOf: [{ required: ['application/problem+json'] }, { required: ['application/problem+xml'] }] }),
    ),
    'nlgov:problem-schema-members': error(
      'A problem needs status, title and detail.',
      `${failed}${problem}..schema`,
      follows({
        type: 'object',
        properties: { properties: { type: 'object', required: ['status', 'title', 'detail'] } },
      }),
    ),
    'nlgov:problem-invalid-input': error(
      'An operation with input has no 400.',
      [
        '$.paths..[?( @property.match(/(get)|(delete)/) && @.parameters && @.parameters.length > 0 )]',
        '$.paths..[?( @property.match(/(put)|(post)|(patch)/))]',
      ],
      follows({ type: 'object', properties: { responses: { type: 'object', required: ['400'] } } }),
    ),
    'nlgov:date-time-ensure-timezone': error(
      'A time has no zone.',
      '$..properties[*].format',
      matchesNot('/^date-time-local$/'),
    ),
    'nlgov:time-without-timezone': error(
      'A time of day has a zone.',
      '$..properties[*].format',
      matchesNot('/^time$/'),
    ),
    'nlgov:specify-format-for-date-and-time': error(
      'A date has no format.',
      dates,
      follows({
        anyOf: [
          { required: ['format'] },
          { properties: { allOf: { type: 'array', items: { required: ['format'] } } }, required: ['allOf'] },
        ],
      }),
    ),
    'nlgov:use-date-instead-of-datetime': error(
      'A date has a time.',
      dates.map((each) => `${each}..format`),
      matchesNot('/^date-time$/'),
    ),
    'nlgov:semver': error('The version is not of Semantic Versioning.', '$.info.version', matches(semver.source)),
    'nlgov:schema-camel-case': {
      ...error('The name of a schema is not in UpperCamelCase.', '$.components.schemas[*]~', {
        function: casing,
        functionOptions: { type: 'pascal', separator: { char: '' } },
      }),
      severity: 'warn',
    },
    'nlgov:property-casing': {
      ...error(
        'A member is not in camelCase.',
        '$.*.schemas[*].properties.[?(@property && @property.match(/_links/i))]',
        {
          field: '@key',
          function: casing,
          functionOptions: { type: 'camel' },
        },
      ),
      severity: 'warn',
    },
    'nlgov:servers-use-https': {
      ...error('A server has no TLS.', ['$.servers[*]', '$.paths..servers[*]'], matchesNot('^http://.*', 'url')),
      severity: 'warn',
    },
  },
};

async function lint([file]) {
  const spectral = new Spectral();
  spectral.setRuleset(ruleset);
  const found = await spectral.run(readFileSync(file, 'utf8'));
  console.log(JSON.stringify(found.map(({ code, path: at }) => `${code} ${at.join('/')}`)));
}

void lint(process.argv.slice(2));
