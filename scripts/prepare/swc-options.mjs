// How TypeScript becomes JavaScript here, for what is served and for what Jest runs alike. tsconfig.json says the same to the type checker:
// decorators of the old form with their metadata, which Nest, TypeORM and class-validator read, and members as assignments.
export const SWC_OPTIONS = {
  module: { type: 'es6' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
};
