process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../contract/http/session-origins.test.js');

export {};
