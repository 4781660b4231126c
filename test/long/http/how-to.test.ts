process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../contract/docs/how-to.test.js');

export {};
