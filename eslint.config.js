import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/**
 * The rooms of src/ from top to bottom. Each may import only rooms of later lines. In the middle are the stages, in the
 * order in which data passes them.
 */
const rooms = [
  ['main.ts', 'cli', 'console'],
  ['conformance'],
  ['notify'],
  ['sender', 'webhook', 'client'],
  ['service.ts'],
  ['service'],
  ['config.ts'],
  ['statistics'],
  ['gateways'],
  ['deliveries'],
  ['subscriptions'],
  ['handshake'],
  ['grants'],
  ['changes'],
  ['matching'],
  ['events'],
  ['blocks'],
  ['origins'],
  ['pages'],
  ['http'],
  ['storage'],
  ['outbound'],
  ['errors.ts', 'internal-names.ts', 'limits.ts'],
  ['texts'],
];

/** Everything that the kit for senders shares with the registry. */
const sharedWithSender = [
  'deliveries/outcome.ts',
  'grants/permission.ts',
  'matching',
  'events',
  'http/contract.gen.ts',
  'outbound',
  'storage/folder-lock.ts',
  'storage/make-folder.ts',
  'errors.ts',
  'internal-names.ts',
  'texts',
];

const homeless = readdirSync(new URL('src', import.meta.url)).filter((name) => !rooms.flat().includes(name));
if (homeless.length > 0) throw new Error(`Say in eslint.config.js where src/${homeless[0]} stands.`);

const inSrc = (names) => names.map((name) => `./src/${name}`);
const downwardOnly = rooms.flatMap((line, place) =>
  line.map((room) => ({
    target: `./src/${room}`,
    from: inSrc([...rooms.slice(0, place).flat(), ...line.filter((other) => other !== room)]),
    message: `${room} imports only from the rooms below it (CONTRIBUTING.md, "Rooms").`,
  })),
);
const senderAlone = {
  target: './src/sender',
  from: './src',
  except: ['./sender', ...sharedWithSender.map((path) => `./${path}`)],
  message: 'The kit for senders takes in nothing more of the registry (eslint.config.js).',
};
/** A sender of its own: it sees of the registry what any sender sees. */
const notifyAlone = {
  target: './src/notify',
  from: './src',
  except: ['./notify', './sender', ...sharedWithSender.map((path) => `./${path}`)],
  message: 'The notifier takes in nothing more of the registry than the kit for senders (eslint.config.js).',
};
/** The kit for receivers: applications that have nothing of the registry, and need nothing but Node. */
const webhookAlone = {
  target: './src/webhook',
  from: './src',
  except: [
    './webhook',
    './events',
    './origins/rate.ts',
    './origins/origin-name.ts',
    './http/json-text.ts',
    './errors.ts',
    './limits.ts',
    './texts',
  ],
  message: 'The kit for receivers takes in nothing more of the registry (eslint.config.js).',
};
/** A typed client: of the registry it knows the contract. */
const clientAlone = {
  target: './src/client',
  from: './src',
  except: ['./client', './http/contract.gen.ts'],
  message: 'The client imports nothing more of the registry (eslint.config.js).',
};
/** Only this decides the address of a request to a webhook. */
const outboundAlone = {
  target: './src/outbound',
  from: './src',
  except: ['./outbound', './errors.ts', './internal-names.ts', './limits.ts', './texts'],
  message: 'The outbound door imports nothing more of the registry (eslint.config.js).',
};

/** The console runs in browsers: of the registry it knows the contract and the languages. */
const consoleAlone = {
  target: './src/console',
  from: './src',
  except: ['./console', './client', './http/contract.gen.ts', './texts/text.ts'],
  message: 'The console imports nothing more of the registry (eslint.config.js).',
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'node_modules/',
      '.assent/',
      'src/storage/generated/',
      'src/http/contract.gen.ts',
      'test/generators/node/',
      '.config/prisma.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: ['./test/tsconfig.json', './src/console/tsconfig.json'] } },
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } })] },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      // Objects here consist of closures; none of their functions uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-restricted-paths': [
        'error',
        {
          basePath: import.meta.dirname,
          zones: [...downwardOnly, senderAlone, notifyAlone, webhookAlone, clientAlone, outboundAlone, consoleAlone],
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Loops end by their signal.' },
        // Leaks about 3 kB per call in Node 20, as long as the longest of the signals lives.
        { object: 'AbortSignal', property: 'any', message: 'Listen to each of them, and leave.' },
      ],
    },
  },
  {
    // A test checks values from responses and databases itself.
    files: ['test/**/*.ts', 'docs/examples/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', 'src/cli/**'],
    rules: { 'no-restricted-globals': ['error', { name: 'process', message: 'Configuration comes from config.ts.' }] },
  },
  {
    files: ['src/pages/assets/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'location', 'addEventListener', 'navigator', 'TextDecoder', 'atob', 'URLSearchParams'].map(
          (name) => [name, 'readonly'],
        ),
      ),
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'structuredClone',
          'performance',
          'Buffer',
          'fetch',
          'setTimeout',
          'AbortController',
          'AbortSignal',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
