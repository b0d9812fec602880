import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', 'coverage/', 'demo/lesson/', '.lectern/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './player/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-param-reassign': 'error',
    },
  },
  {
    // The environment is read in one place, so that every setting is validated, documented and listed.
    files: ['api/**/*.ts', 'cli/**/*.ts', 'shared/**/*.ts', 'simulator/**/*.ts', 'worker/**/*.ts'],
    ignores: ['shared/platform/config.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Read settings through shared/platform/config.ts.' },
        { object: 'URL', property: 'canParse', message: 'Use parseUrl of shared/platform/parse-url.ts.' },
      ],
    },
  },
  {
    // Within AbortSignal.any it is held weakly, and lost; nothing shows whether a signal comes to be in one.
    files: ['api/**/*.ts', 'cli/**/*.ts', 'shared/**/*.ts', 'simulator/**/*.ts', 'worker/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='AbortSignal'][property.name='timeout']",
          message:
            'A deadline may be collected as garbage: use withTimeLimit of shared/platform/time-limits.ts.',
        },
      ],
    },
  },
  {
    // Promises that a test runner or a benchmark collects itself need no handling of ours.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  { files: ['bench/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    // For integrators to fill in: its functions name what they get.
    files: ['player/archive-page/callbacks.js'],
    languageOptions: { globals: { window: 'readonly' } },
    rules: { 'no-unused-vars': 'off' },
  },
  { files: ['*.cjs'], languageOptions: { globals: { module: 'writable' } } },
);
