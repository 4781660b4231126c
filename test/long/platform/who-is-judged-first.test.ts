process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../api/platform/access.test.js');

export {};
