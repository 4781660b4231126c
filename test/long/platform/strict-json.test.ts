process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../../src/platform/http/request/strict-json.test.js');

export {};
