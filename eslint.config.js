import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'node_modules/',
      '.assent/',
      'src/registry/storage/generated/',
      'src/base/contract/contract.gen.ts',
      'test/interop/generators/*/',
      '.config/prisma.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: ['./test/tsconfig.json', './src/console/tsconfig.json'] } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Loops end by their signal.' },
        // Leaks about 3 kB per call in Node 20, as long as the longest of the signals lives.
        { object: 'AbortSignal', property: 'any', message: 'Listen to each of them, and leave.' },
      ],
    },
  },
  {
    // A test checks values from responses and databases itself. Its helpers consist of closures, and none uses `this`.
    files: ['test/**/*.ts', 'docs/examples/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', 'src/tools/cli/**'],
    rules: { 'no-restricted-globals': ['error', { name: 'process', message: 'Configuration comes from config.ts.' }] },
  },
  { files: ['**/*.cjs'], languageOptions: { globals: globals.node } },
  {
    files: ['src/registry/pages/assets/*.js'],
    languageOptions: {
      globals: globals.browser,
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: globals.node,
    },
  },
);
