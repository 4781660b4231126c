// A client whose functions stand in groups, as the ids of the operations have them: `countersign.executions.execute(…)`.
export default {
  input: '../../openapi.json',
  output: 'dist/hey-api',
  plugins: [
    '@hey-api/client-fetch',
    { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'Countersign', nesting: 'operationId' } },
  ],
};
