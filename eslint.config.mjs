// Rules that need no types. Those that do catch what review misses (a promise nobody awaits commits after the answer has left), and
// stand in .oxlintrc.json: ESLint needs minutes for them, oxlint seconds.
import tseslint from 'typescript-eslint';
import { local } from './scripts/lint/eslint-rules.mjs';

const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name; only configuration exports a default.',
};
const VAGUE_CLASS = {
  selector:
    'ClassDeclaration[id.name=/(Helper|Helpers|Util|Utils|Manager|Impl)$|^Base[A-Z]/], ' +
    'TSInterfaceDeclaration[id.name=/^I[A-Z][a-z]/]',
  message: 'Name it after what it does.',
};
const MOCK_ASSERTION = {
  selector: 'MemberExpression[property.name=/^(toHaveBeenCalled|toBeCalled|toHaveReturned)/]',
  message: 'Assert what the code did to the world, not that a mock was called.',
};
const OWN_CLIENT = {
  selector: 'NewExpression[callee.object.name="pg"][callee.property.name=/^(Client|Pool)$/]',
  message: 'Connect by newClient (src/platform/database/new-client.ts): it gives the settings that every connection has.',
};

const jestRestrictions = [
  ...['mock', 'doMock', 'unstable_mockModule'].map((property) => ({
    object: 'jest',
    property,
    message: 'Module mocks keep the real module under ESM without a word: pass a fake to the constructor.',
  })),
  ...['it', 'test', 'describe'].flatMap((object) =>
    ['skip', 'only', 'todo'].map((property) => ({ object, property, message: 'A test runs, or it goes.' })),
  ),
];

const plain = {
  'constructor-super': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'local/explained-disable': 'error',
  'max-len': ['error', { code: 140, ignoreUrls: true }],
  'no-cond-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-debugger': 'error',
  'no-dupe-else-if': 'error',
  'no-duplicate-case': 'error',
  'no-fallthrough': 'error',
  'no-restricted-properties': ['error', ...jestRestrictions],
  'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, VAGUE_CLASS, MOCK_ASSERTION],
  'no-self-compare': 'error',
  'no-sparse-arrays': 'error',
  'no-unreachable': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-useless-catch': 'error',
  'no-var': 'error',
  'prefer-const': ['error', { destructuring: 'all' }],
};

const ofTypeScript = {
  '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description', minimumDescriptionLength: 10 }],
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-require-imports': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
};

export default tseslint.config(
  { ignores: ['**/node_modules/**', '**/dist/**', '.countersign/**', 'coverage/**', 'console/**', 'sdk/src/wire.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    plugins: { local },
    rules: { ...plain, 'no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }] },
  },
  {
    files: ['src/**/*.ts', 'migrations/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'demo/**/*.ts', 'sdk/src/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      // As in tsconfig.json: a class that only a decorated constructor names is imported as a value.
      parserOptions: { experimentalDecorators: true, emitDecoratorMetadata: true },
    },
    plugins: { '@typescript-eslint': tseslint.plugin, local },
    rules: { ...plain, ...ofTypeScript },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: { 'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['**/*.test.ts', 'src/platform/database/**/new-client.ts'],
    rules: { 'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, VAGUE_CLASS, MOCK_ASSERTION, OWN_CLIENT] },
  },
  {
    files: ['*.mjs', '*.cjs', 'scripts/test/{counts-reporter,environment,longest-first,progress-reporter}.mjs'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
