process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../../src/domain/pii/answers/streams.test.js');

export {};
