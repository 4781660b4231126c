// Rules that need types catch what review misses: a promise nobody awaits commits after the answer has left.
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

const typed = {
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description', minimumDescriptionLength: 10 }],
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/no-array-delete': 'error',
  '@typescript-eslint/no-base-to-string': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-for-in-array': 'error',
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false, attributes: false } }],
  '@typescript-eslint/no-require-imports': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/return-await': ['error', 'in-try-catch'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
};

// In what ships, a value of unknown shape is unknown, never any; tests read foreign JSON more freely.
const productTyped = {
  '@typescript-eslint/no-unsafe-argument': 'error',
  '@typescript-eslint/no-unsafe-assignment': 'error',
  '@typescript-eslint/no-unsafe-call': 'error',
  '@typescript-eslint/no-unsafe-member-access': 'error',
  '@typescript-eslint/no-unsafe-return': 'error',
};

export default tseslint.config(
  { ignores: ['**/node_modules/**', '**/dist/**', '.countersign/**', 'coverage/**', 'console/**', 'sdk/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    plugins: { local },
    rules: { ...plain, 'no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }] },
  },
  {
    files: ['src/**/*.ts', 'migrations/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'demo/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin, local },
    rules: { ...plain, ...typed },
  },
  { files: ['src/**/*.ts', 'migrations/**/*.ts', 'demo/**/*.ts'], ignores: ['**/*.test.ts'], rules: productTyped },
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
