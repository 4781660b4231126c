// Nest 12 is ESM, so Jest runs in ESM mode (NODE_OPTIONS=--experimental-vm-modules, set by scripts/test.mjs).
// jest.mock keeps the real module there without a word: pass fakes to constructors instead.
import { SWC_OPTIONS } from './scripts/prepare/swc-options.mjs';

export default {
  testEnvironment: '<rootDir>/scripts/test/environment.mjs',
  // Against a test that hangs, and nothing else: how fast something is shows on a busy machine as little as on a quiet one.
  testTimeout: 600_000,
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Packages of its own stand there, and no tests of Jest's.
  modulePathIgnorePatterns: ['<rootDir>/test/peers/'],
  testSequencer: '<rootDir>/scripts/test/longest-first.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  // A package's `metadata.json.js` is not its `metadata.json`.
  moduleNameMapper: { '^(\\.{1,2}/.*)(?<!\\.json)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': ['@swc/jest', SWC_OPTIONS],
  },
};
